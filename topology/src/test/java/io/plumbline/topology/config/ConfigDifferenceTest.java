package io.plumbline.topology.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigDifferenceTest {

    private static final String FILE = """
            kafka: {bootstrap.servers: "b:9092"}
            sites:
              layer.2: {explainer: e, baseline: b.safetensors, rank: 4, threshold: 0.5, watch: {features: [1]}}
            """;

    private static ConfigDifference changed(String before, String after) {
        return ConfigDifference.of(read(FILE), read(FILE.replace(before, after)));
    }

    private static ReadConfig read(String yaml) {
        return ConfigReader.read(yaml, "test", Path.of("/conf"));
    }

    @Test
    void whatASiteIsJudgedByIsTakenOver() {
        ConfigDifference threshold = changed("threshold: 0.5", "threshold: {share: 0.6}");
        assertEquals(
                List.of("sites.\"layer.2\".threshold: 0.5 -> none", "sites.\"layer.2\".threshold.share: none -> 0.6"),
                threshold.live());
        assertEquals(List.of(), threshold.fixed());
        assertEquals(
                List.of("sites.\"layer.2\".watch.features: [1] -> [1,2]"),
                changed("[1]", "[1, 2]").live());
        assertEquals(
                List.of("sites.\"layer.2\".watch.probes.file: none -> p.npz"),
                changed("watch: {", "watch: {probes: {file: p.npz}, ").live());
    }

    @Test
    void whatAnOpenWindowIsMadeOfTakesARestart() {
        assertEquals(
                List.of("sites.\"layer.2\".rank: 4 -> 5"),
                changed("rank: 4", "rank: 5").fixed());
        assertEquals(
                List.of("window.advance: 1m -> 30s", "window.size: 1m -> 30s"),
                changed("sites:", "window: {size: 30s}\nsites:").fixed());
        assertTrue(changed("sites:", "sites:\n  other: {explainer: e, baseline: b, rank: 4}")
                .fixed()
                .contains("sites.other.explainer: none -> e"));
    }

    @Test
    void anotherSecretOfTheFileTakesARestartAndIsNotShown(@TempDir Path folder) throws Exception {
        String yaml = """
                kafka:
                  bootstrap.servers: "b:9092"
                  ssl.key.password: %1$s
                  ssl.truststore.password: "${file:store}"
                  ssl.keystore.password: "%1$s${file:store}"
                metrics: {otlp: {endpoint: "http://c:4318/v1/metrics", headers: {Authorization: %2$s}}}
                sites: {layer.2: {explainer: e, baseline: b, rank: 4}}
                """;
        Files.writeString(folder.resolve("store"), "store-one");
        ReadConfig before = ConfigReader.read(yaml.formatted("key-one", "header-one"), "test", folder);
        assertEquals(
                new ConfigDifference(List.of(), List.of()),
                ConfigDifference.of(
                        before, ConfigReader.read(yaml.formatted("key-one", "header-one"), "test", folder)));
        Files.writeString(folder.resolve("store"), "store-two");
        ConfigDifference changed =
                ConfigDifference.of(before, ConfigReader.read(yaml.formatted("key-two", "header-two"), "test", folder));
        assertEquals(
                List.of(
                        "kafka.\"ssl.key.password\": [hidden] -> another value",
                        "kafka.\"ssl.keystore.password\": [hidden, from ${file:store}] -> another value",
                        "metrics.otlp.headers.Authorization: [hidden] -> another value"),
                changed.fixed());
        assertEquals(List.of(), changed.live());
    }

    @Test
    void theSameFileInOtherWordsIsNoDifference() {
        ConfigDifference same = changed("sites:", "log: {format: text}\nwindow: {size: 60s}\nsites:");
        assertEquals(new ConfigDifference(List.of(), List.of()), same);
    }
}
