package io.plumbline.topology.faults;

import io.plumbline.fixtures.EmbeddedBroker;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** A broker that notices a dead client within seconds. */
public final class FaultBroker {

    private FaultBroker() {}

    public static EmbeddedBroker start(Path directory) {
        return EmbeddedBroker.start(directory, EmbeddedBroker.freePort(), settings());
    }

    /**
     * Returns settings for a short session: under the {@code streams} protocol the session is the broker's setting, and
     * 45 s by default: a monitor that starts again after SIGKILL gets its tasks back only when that of its dead self is
     * over.
     */
    public static Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("group.streams.min.session.timeout.ms", "6000");
        settings.put("group.streams.session.timeout.ms", "6000");
        settings.put("group.streams.min.heartbeat.interval.ms", "1000");
        settings.put("group.streams.heartbeat.interval.ms", "1000");
        settings.put("group.streams.initial.rebalance.delay.ms", "0");
        return settings;
    }
}
