package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Says how many copies of its state the monitor keeps in other instances: a property of the monitor under the group
 * protocol {@code classic}, a setting of its group at the broker under {@code streams}.
 */
public final class Standbys {

    static final String GROUP_SETTING = "streams.num.standby.replicas";
    private static final int WAIT_MS = 10_000;

    private Standbys() {}

    /** Returns whether the broker has to be asked. */
    public static boolean areOfTheGroup(MonitorConfig config) {
        return StreamsProtocol.isUsed(StreamsSettings.monitor(config));
    }

    /** Returns those that the configuration says; 0 where they are of the group. */
    public static int configured(MonitorConfig config) {
        Properties properties = StreamsSettings.monitor(config);
        return StreamsProtocol.isUsed(properties)
                ? 0
                : new StreamsConfig(properties).getInt(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG);
    }

    /** Returns those of the group; empty where the broker does not answer or this principal may not ask. */
    public static OptionalInt ofTheGroup(MonitorConfig config) {
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, config.monitorApplicationId());
        try (Admin admin = Admin.create(Map.<String, Object>copyOf(config.adminProperties()))) {
            Config settings = admin.describeConfigs(List.of(group), new DescribeConfigsOptions().timeoutMs(WAIT_MS))
                    .all()
                    .get(WAIT_MS, TimeUnit.MILLISECONDS)
                    .get(group);
            ConfigEntry entry = settings == null ? null : settings.get(GROUP_SETTING);
            return entry == null || entry.value() == null
                    ? OptionalInt.empty()
                    : OptionalInt.of(Integer.parseInt(entry.value()));
        } catch (ExecutionException | TimeoutException | KafkaException unknown) {
            return OptionalInt.empty();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while asking the broker", interrupted);
        }
    }
}
