package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what an instance leaves behind in its group when it is stopped in an orderly way. */
class StaticMemberIT {

    @TempDir
    private Path folder;

    @Test
    void anInstanceWithANameKeepsItsTasksWhileItIsAway() throws Exception {
        assertEquals(
                List.of("plumbline-0-1", "plumbline-0-2"),
                membersAfterStop("kafka: {monitor.group.instance.id: plumbline-0, "));
    }

    @Test
    void anInstanceWithoutANameLeavesItsTasksToOthersAtOnce() throws Exception {
        assertEquals(List.of(), membersAfterStop("kafka: {"));
    }

    private List<String> membersAfterStop(String kafka) throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            new BrokerClient(broker.bootstrapServers()).createTopic("activations", 2, Map.of());
            Path site = folder.resolve("site");
            WatchedFolder.create(site, broker.bootstrapServers());
            Path file = site.resolve(WatchedFolder.FILE);
            Files.writeString(file, Files.readString(file).replace("kafka: {", kafka));
            MonitorConfig config = MonitorConfig.load(file);
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
                try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                    assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
                    BrokerClient.awaitThat(() -> members(admin, config).size() == 2, () -> "two threads in the group");
                }
                return members(admin, config).stream()
                        .map(member -> member.groupInstanceId().orElse("unnamed"))
                        .collect(Collectors.toCollection(TreeSet::new))
                        .stream()
                        .toList();
            }
        }
    }

    private static List<MemberDescription> members(Admin admin, MonitorConfig config) {
        String group = config.monitorApplicationId();
        try {
            return List.copyOf(admin.describeConsumerGroups(List.of(group))
                    .all()
                    .get()
                    .get(group)
                    .members());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException notThere) {
            return List.of();
        }
    }
}
