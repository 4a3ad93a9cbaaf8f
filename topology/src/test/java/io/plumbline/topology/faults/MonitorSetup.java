package io.plumbline.topology.faults;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Says how the monitors of a case run.
 *
 * @param store {@code memory} or {@code rocksdb}
 * @param wipe whether a killed monitor's state folder is emptied before it starts again
 * @param protocol {@code classic} or {@code streams}
 * @param kafka further properties
 */
public record MonitorSetup(String store, boolean wipe, int threads, String protocol, Map<String, String> kafka) {

    public static MonitorSetup of(String store, String state, int threads, String protocol) {
        return new MonitorSetup(store, state.equals("wiped"), threads, protocol, Map.of());
    }

    public MonitorSetup with(String property, String value) {
        Map<String, String> more = new LinkedHashMap<>(kafka);
        more.put(property, value);
        return new MonitorSetup(store, wipe, threads, protocol, more);
    }

    /** Returns properties that let a dead monitor be noticed within seconds. */
    Map<String, String> properties() {
        Map<String, String> properties = new LinkedHashMap<>(Map.of(
                "num.stream.threads", Integer.toString(threads),
                "group.protocol", protocol,
                "commit.interval.ms", "1000",
                "producer.transaction.timeout.ms", "5000",
                "main.consumer.max.poll.records", "20",
                "restore.consumer.max.poll.records", "5"));
        if (protocol.equals("classic")) {
            properties.put("main.consumer.session.timeout.ms", "6000");
            properties.put("main.consumer.heartbeat.interval.ms", "1000");
        }
        properties.putAll(kafka);
        return properties;
    }

    @Override
    public String toString() {
        return "%s, %s, %d thread%s, %s"
                .formatted(store, wipe ? "wiped" : "kept", threads, threads == 1 ? "" : "s", protocol);
    }
}
