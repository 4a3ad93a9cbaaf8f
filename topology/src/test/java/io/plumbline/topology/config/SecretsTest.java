package io.plumbline.topology.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.broker.StartException;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.TopicReview;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecretsTest {

    private static final String MARKER = "swordfish-4711";

    private static final String OTLP = """
            metrics:
              otlp:
                endpoint: http://127.0.0.1:4318/v1/metrics
            """;

    @TempDir
    private Path folder;

    private final List<String> problems = new ArrayList<>();

    @Test
    void variablesAndWholeFilesArePutIn() throws IOException {
        Files.writeString(folder.resolve("key"), MARKER + "\n");
        Files.writeString(folder.resolve("two-lines"), "first\nsecond\r\n");
        Map<String, String> properties = resolved(Map.of(
                "ssl.key.password", "${file:key}",
                "ssl.keystore.password", "${file:" + folder.resolve("two-lines") + "}",
                "monitor.client.rack", "${env:RACK}-${env:ROW}",
                "client.id", "costs $5 and {more}"));
        assertEquals(List.of(), problems);
        assertEquals(MARKER, properties.get("ssl.key.password"));
        assertEquals("first\nsecond", properties.get("ssl.keystore.password"));
        assertEquals("of RACK-of ROW", properties.get("monitor.client.rack"));
        assertEquals("costs $5 and {more}", properties.get("client.id"));
    }

    @Test
    void whateverAPasswordIsMadeOfTheLoginGetsIt() throws IOException {
        for (String password :
                List.of("plain", "with \"quotes\" and ';'", "back\\slash\\", "$1 ${env:X} \\\"; x=\"y")) {
            Files.writeString(folder.resolve("password"), password);
            String jaas = resolved(Map.of(
                            "sasl.jaas.config",
                            "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"me\" "
                                    + "password=\"${file:password}\";"))
                    .get("sasl.jaas.config");
            JaasContext context =
                    JaasContext.loadClientContext(Map.of(SaslConfigs.SASL_JAAS_CONFIG, new Password(jaas)));
            assertEquals(
                    password, context.configurationEntries().get(0).getOptions().get("password"), jaas);
            assertEquals(
                    "me", context.configurationEntries().get(0).getOptions().get("username"));
            assertEquals(1, context.configurationEntries().size());
        }
    }

    @Test
    void whatIsNotThereIsOneSentenceEach() throws IOException {
        Files.writeString(folder.resolve("empty"), "\n");
        resolved(Map.of("a", "${env:UNSET}"));
        resolved(Map.of("a", "${env:EMPTY}"));
        resolved(Map.of("a", "${file:missing}"));
        resolved(Map.of("a", "${file:empty}"));
        resolved(Map.of("a", "${vault:x/y}"));
        resolved(Map.of("a", "${NAME}"));
        assertEquals(6, problems.size(), problems.toString());
        assertEquals("kafka.\"a\" refers to ${env:UNSET}: the environment variable UNSET is not set", problems.get(0));
        assertEquals("kafka.\"a\" refers to ${env:EMPTY}: the environment variable EMPTY is empty", problems.get(1));
        assertTrue(problems.get(2).contains("cannot be read (NoSuchFileException)"), problems.get(2));
        assertTrue(problems.get(3).endsWith("the file is empty"), problems.get(3));
        assertTrue(problems.get(4).contains("\"vault\" stands in kafka.\"config.providers\""), problems.get(4));
        assertTrue(problems.get(5).contains("expected ${env:NAME} or ${file:PATH}"), problems.get(5));
        ConfigException refused = assertThrows(
                ConfigException.class,
                () -> MonitorConfig.parse(yaml("ssl.key.password: '${env:PLUMBLINE_NO_SUCH_VARIABLE}'"), "x", folder));
        assertTrue(refused.getMessage().contains("PLUMBLINE_NO_SUCH_VARIABLE is not set"), refused.getMessage());
    }

    @Test
    void referencesOfKafkasOwnProvidersArePassedOn() {
        Map<String, String> properties = resolved(Map.of(
                "config.providers", "vault, other", "ssl.key.password", "${vault:x/y}", "client.id", "${env:ROW}"));
        assertEquals(List.of(), problems);
        assertEquals("${vault:x/y}", properties.get("ssl.key.password"));
        assertEquals("of ROW", properties.get("client.id"));
    }

    @Test
    void whatKafkaHidesIsHiddenWithAnyPrefixToo() {
        for (String secret : List.of(
                "sasl.jaas.config",
                "producer.sasl.jaas.config",
                "monitor.main.consumer.sasl.jaas.config",
                "ssl.key.password",
                "admin.ssl.keystore.key",
                "adapter.producer.ssl.keystore.password",
                "ssl.truststore.certificates",
                "sasl.oauthbearer.client.credentials.client.secret",
                "my.plugin.api-key")) {
            assertTrue(Secrets.isSecret(secret), secret);
        }
        for (String open : List.of(
                "bootstrap.servers",
                "security.protocol",
                "ssl.keystore.location",
                "sasl.mechanism",
                "sasl.oauthbearer.token.endpoint.url",
                "key.deserializer")) {
            assertFalse(Secrets.isSecret(open), open);
        }
    }

    @Test
    void thePrintedConfigurationHoldsEveryDefaultAndNoSecret() throws IOException {
        Files.writeString(folder.resolve("rack"), "rack-" + MARKER);
        String yaml = yaml("""
                sasl.jaas.config: 'X required username="u" password="%s";'
                  producer.ssl.key.password: %s
                  client.id: plumbline-%s
                  client.rack: ${file:rack}""".formatted(MARKER, MARKER, MARKER));
        String printed = ConfigReader.read(yaml, "test", folder).yaml();
        assertFalse(printed.contains(MARKER), printed);
        assertTrue(printed.contains("client.rack: \"[hidden, from ${file:rack}]\""), printed);
        assertTrue(printed.contains("producer.ssl.key.password: \"[hidden]\""), printed);
        for (String line : List.of(
                "bootstrap.servers: \"h:1\"",
                "application_id: \"plumbline\"",
                "grace: \"10s\"",
                "port: 9464",
                "store: \"memory\"",
                "cooldown: \"10m\"",
                "window_reports: \"window-reports\"",
                "dtype: \"f32\"")) {
            assertTrue(printed.contains(line), line + " in\n" + printed);
        }
        MonitorConfig config = MonitorConfig.parse(yaml, "test", folder);
        assertFalse(config.toString().contains(MARKER), config.toString());
        assertFalse(config.secrets().toString().contains(MARKER));
    }

    @Test
    void thePrintedConfigurationReadsAsTheSameConfiguration() {
        for (String yaml : List.of(MonitorConfig.defaultFile(), yaml("client.id: x"), yaml("client.id: x") + OTLP)) {
            MonitorConfig config = MonitorConfig.parse(yaml, "test", folder);
            String printed = ConfigReader.read(yaml, "test", folder).yaml();
            assertEquals(config, MonitorConfig.parse(printed, "printed", folder), printed);
            assertEquals(printed, ConfigReader.read(printed, "printed", folder).yaml());
        }
    }

    @Test
    void noMessageAboutAMistakeHoldsASecret() throws IOException {
        Files.writeString(folder.resolve("protocol"), MARKER);
        List<String> messages = new ArrayList<>();
        for (String broken : List.of(
                "acks: ${file:protocol}",
                "ssl: {key.password: " + MARKER + "}",
                "ssl.key.password: [" + MARKER + "]",
                "ssl.key.password: \"" + MARKER,
                "ssl.key.password: @" + MARKER,
                "ssl.key.password: a\n  ssl.key.password: " + MARKER,
                "ssl.key.password: {" + MARKER)) {
            messages.add(
                    assertThrows(ConfigException.class, () -> MonitorConfig.parse(yaml(broken), "test", folder), broken)
                            .getMessage());
        }
        MonitorConfig config = MonitorConfig.parse(yaml("security.protocol: ${file:protocol}"), "test", folder);
        messages.addAll(StreamsSettings.problems(config));
        StartException noClient = assertThrows(StartException.class, () -> TopicReview.of(config, null, null));
        messages.add(noClient.getMessage());
        MonitorConfig noJaas = MonitorConfig.parse(
                yaml("sasl.mechanism: PLAIN\n  security.protocol: SASL_PLAINTEXT\n  sasl.jaas.config: 'no " + MARKER
                        + "'"),
                "test",
                folder);
        messages.add(assertThrows(StartException.class, () -> TopicReview.of(noJaas, null, null))
                .getMessage());
        for (String message : messages) {
            assertFalse(message.contains(MARKER), message);
        }
        assertTrue(messages.get(0).contains("[hidden, from ${file:protocol}]"), messages.get(0));
    }

    @Test
    void headersOfPushesAreReadAndNotShown() throws IOException {
        Files.writeString(folder.resolve("token"), MARKER + "\n");
        String headers = "    headers: {A: 'Bearer ${file:token}', B: %s}%n".formatted(MARKER);
        String yaml = yaml("client.id: x") + OTLP + headers;
        MonitorConfig config = MonitorConfig.parse(yaml, "test", folder);
        assertEquals(
                Map.of("A", "Bearer " + MARKER, "B", MARKER),
                Objects.requireNonNull(config.otlp()).headers());
        assertTrue(config.secrets().hasLiteral());
        assertFalse(config.otlp().toString().contains(MARKER));
        String printed = ConfigReader.read(yaml, "test", folder).yaml();
        assertFalse(printed.contains(MARKER), printed);
        assertTrue(printed.contains("A: \"[hidden, from ${file:token}]\""), printed);
        for (String broken : List.of(
                "headers: %s%n", "headers: {A: [%s]}%n", "headers: {A: \"%s\\r\"}%n", "endpoint: http://a:%s@b%n")) {
            String message = assertThrows(
                            ConfigException.class,
                            () -> MonitorConfig.parse(
                                    yaml("client.id: x") + OTLP + "    " + broken.formatted(MARKER), "test", folder),
                            broken)
                    .getMessage();
            assertFalse(message.contains(MARKER), message);
        }
    }

    private Map<String, String> resolved(Map<String, String> written) {
        Map<String, String> properties = new LinkedHashMap<>(written);
        Secrets.resolve(
                properties,
                folder,
                name -> name.equals("UNSET") ? null : name.equals("EMPTY") ? "" : "of " + name,
                problems);
        return properties;
    }

    private static String yaml(String property) {
        return """
                kafka:
                  bootstrap.servers: h:1
                  %s
                sites:
                  x: {explainer: sae, baseline: b, rank: 2, threshold: 1.0}
                """.formatted(property);
    }
}
