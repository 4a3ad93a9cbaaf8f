package io.plumbline.topology.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.config.MonitorConfig;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StreamsProtocolTest {

    @ParameterizedTest
    @CsvSource({
        "num.standby.replicas, 1, streams.num.standby.replicas=1",
        "monitor.num.standby.replicas, 1, streams.num.standby.replicas=1",
        "session.timeout.ms, 9000, streams.session.timeout.ms=9000",
        "main.consumer.session.timeout.ms, 9000, streams.session.timeout.ms=9000",
        "consumer.heartbeat.interval.ms, 3000, streams.heartbeat.interval.ms=3000"
    })
    void aSettingThatIsTheGroupsIsRefusedWithTheCommandThatSetsIt(String key, String value, String command) {
        List<String> problems = problems("group.protocol: streams, %s: %s".formatted(key, value));
        String expected =
                "it is ignored, since the group has it; remove it, and set it with kafka-configs.sh --bootstrap-server"
                        + " kafka:9092 --alter --entity-type groups --entity-name plumbline-monitor --add-config "
                        + command;
        assertTrue(problems.stream().anyMatch(problem -> problem.endsWith(expected)), problems::toString);
        assertEquals(List.of(), problems("%s: %s".formatted(key, value)), "under classic it does what it says");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "max.warmup.replicas: 3",
                "probing.rebalance.interval.ms: 60000",
                "acceptable.recovery.lag: 100",
                "rack.aware.assignment.tags: zone",
                "client.tag.zone: a, rack.aware.assignment.tags: zone"
            })
    void aSettingOfAnAssignorThatIsNotAskedIsRefused(String properties) {
        List<String> problems = problems("group.protocol: streams, " + properties);
        assertEquals(2, problems.size(), "monitor and adapter: " + problems);
        for (String problem : problems) {
            assertTrue(
                    problem.endsWith("it is ignored, since the broker assigns the tasks; remove it, or write"
                            + " group.protocol: classic"),
                    problem);
        }
    }

    @Test
    void aNameInTheGroupIsRefused() {
        String named = "monitor.group.protocol: streams, monitor.group.instance.id: one";
        List<String> problems = problems(named);
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(
                problems.get(0)
                        .startsWith(
                                "kafka: group.instance.id = one of the monitor under group.protocol = streams: a member"
                                        + " keeps its name from Kafka 4.4 on, and with state.store: rocksdb only"),
                problems::toString);
        assertEquals(List.of(), problems("adapter.group.protocol: streams, monitor.group.instance.id: one"));
    }

    @Test
    void theProtocolAloneIsFine() {
        assertEquals(List.of(), problems("group.protocol: streams"));
        assertEquals(List.of(), problems("group.protocol: STREAMS, num.stream.threads: 4"));
        assertEquals(0, Standbys.configured(config("group.protocol: streams")));
        assertEquals(2, Standbys.configured(config("num.standby.replicas: 2")));
    }

    private static List<String> problems(String properties) {
        return StreamsSettings.problems(config(properties));
    }

    private static MonitorConfig config(String properties) {
        return MonitorConfig.parse("""
                kafka: {bootstrap.servers: "kafka:9092", %s}
                sites:
                  blocks.7: {explainer: sae, baseline: baseline.safetensors, rank: 2, threshold: 1.0}
                """.formatted(properties), "test", Path.of("."));
    }
}
