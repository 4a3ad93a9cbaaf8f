package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a command finds its cluster in the configuration file or by address, and never guesses. */
class ClusterTest {

    private static final String FILE = """
            application_id: small
            kafka:
              bootstrap.servers: "broker:9092"
              security.protocol: SSL
              group.instance.id: monitor-0
              consumer.fetch.max.bytes: 1000
              producer.linger.ms: 7
              admin.retries: 3
              monitor.num.stream.threads: 4
              monitor.main.consumer.max.poll.records: 5
            topics: {dead_letters: refused, decoders: published}
            window: {size: 60s}
            sites:
              blocks.7: {explainer: sae, baseline: b, rank: 32, threshold: {quantile: 0.9}}
            """;

    @TempDir
    private Path folder;

    @Test
    void theFileGivesEachKindOfClientItsPropertiesAndNoneOfTheApplications() {
        Cluster cluster = Cluster.of(MonitorConfig.parse(FILE, "x.yaml", folder), Map.of());
        Map<String, String> common = Map.of("bootstrap.servers", "broker:9092", "security.protocol", "SSL");
        assertEquals(with(common, "retries", "3"), cluster.admin());
        assertEquals(with(common, "fetch.max.bytes", "1000"), cluster.consumer());
        assertEquals(with(common, "linger.ms", "7"), cluster.producer());
        assertEquals("broker:9092", cluster.bootstrapServers());
    }

    @Test
    void theFileNamesTheTopics() {
        Cluster cluster = Cluster.of(MonitorConfig.parse(FILE, "x.yaml", folder), Map.of());
        assertEquals("refused", cluster.topics().deadLetters());
        assertEquals("published", cluster.topics().decoders());
        assertEquals("activations", cluster.topics().activations());
        assertEquals("dead-letters", Cluster.at(Map.of()).topics().deadLetters());
    }

    @Test
    void aPropertyOfTheCommandLineWinsOverTheFile() {
        Map<String, String> more = Map.of("security.protocol", "SASL_SSL", "linger.ms", "9");
        Cluster cluster = Cluster.of(MonitorConfig.parse(FILE, "x.yaml", folder), more);
        assertEquals("SASL_SSL", cluster.consumer().get("security.protocol"));
        assertEquals("9", cluster.producer().get("linger.ms"));
    }

    @Test
    void whoDecidesAboutASiteThatOnlyObservesHearsWhatToSetWithoutABroker() throws IOException {
        Path file = folder.resolve("observes.yaml");
        Files.writeString(
                file,
                FILE.replace("broker:9092", "127.0.0.1:1")
                        .replace("rank: 32,", "rank: 32, adaptation: {mode: observe},"));
        for (String verb : List.of("approve --candidate 1", "pin", "unpin", "rollback")) {
            Shell shell = Shell.run((Object[]) ("decoders " + verb + " --site blocks.7 --config " + file).split(" "));
            assertEquals(2, shell.exitCode(), shell.err());
            assertTrue(shell.err().contains("site blocks.7 only observes: no decoder is fitted"), shell.err());
            assertTrue(shell.err().contains("set adaptation: {mode: propose}"), shell.err());
        }
    }

    static Stream<String> commands() {
        return Stream.of(
                "replay --dead-letters --dry-run",
                "decoders list",
                "decoders fetch --site a --explainer sae --out made",
                "decoders follow --site a --explainer sae --out made",
                "decoders approve --site a --candidate 1",
                "decoders pin --site a",
                "decoders unpin --site a",
                "decoders rollback --site a");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void fileOrAddressIsNeededAndNotBoth(String command) {
        Shell neither = Shell.run((Object[]) command.split(" "));
        assertEquals(2, neither.exitCode(), neither.err());
        assertTrue(neither.err().contains("(--config=FILE | --bootstrap-servers=HOST:PORT)"), neither.err());
        Shell both = Shell.run((Object[]) (command + " --config x.yaml --bootstrap-servers broker:9092").split(" "));
        assertEquals(2, both.exitCode(), both.err());
        assertTrue(both.err().contains("mutually exclusive"), both.err());
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        Shell shell = Shell.run("decoders", "list", "--config", folder.resolve("absent.yaml"));
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("no such file or folder: "), shell.err());
        assertTrue(shell.err().contains("absent.yaml"), shell.err());
    }

    private static Map<String, String> with(Map<String, String> common, String key, String value) {
        return Stream.of(common, Map.of(key, value))
                .flatMap(some -> some.entrySet().stream())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }
}
