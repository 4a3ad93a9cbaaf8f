package io.plumbline.topology.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class TenantsTest {

    private static final String TWO = """
            topics: {activations: "rows.{tenant}.in"}
            sites:
              a1: {explainer: sae, baseline: b, rank: 2, threshold: 1.0, tenant: acme}
              g1: {explainer: sae, baseline: b, rank: 2, threshold: 1.0, tenant: globex}
              a2: {explainer: sae, baseline: b, rank: 2, threshold: 1.0, tenant: acme}
            """;

    @Test
    void eachTenantHasATopicWithItsSites() {
        MonitorConfig config = parse(TWO);
        List<ActivationTopic> topics = config.activationTopics();
        assertEquals(
                List.of("rows.acme.in", "rows.globex.in"),
                topics.stream().map(ActivationTopic::topic).toList());
        assertEquals(List.of("a1", "a2"), List.copyOf(topics.get(0).sites()));
        assertEquals("acme-panes", topics.get(0).named("panes"));
        assertEquals(
                "rows.globex.in",
                config.activationTopicOf(config.sites().get("g1").id()));
        assertTrue(config.isActivationTopic("rows.acme.in"));
        assertTrue(!config.isActivationTopic("rows.{tenant}.in"));
    }

    @Test
    void withoutAPlaceholderAllSitesShareOneTopicWhoseNamesStayAsTheyWere() {
        MonitorConfig config = parse(TWO.replace("rows.{tenant}.in", "rows")
                .replace(", tenant: acme", "")
                .replace(", tenant: globex", ""));
        assertEquals(1, config.activationTopics().size());
        assertEquals("panes", config.activationTopics().get(0).named("panes"));
        assertEquals("rows", config.activationTopics().get(0).topic());
    }

    @Test
    void theTargetsOfASiteAreOfItsTenant() {
        MonitorConfig config = parse(TWO.replace(
                "baseline: b, rank: 2, threshold: 1.0, tenant: globex",
                "baseline: b, rank: 2, threshold: 1.0, targets: [0, 1], tenant: globex"));
        ActivationTopic globex = config.activationTopics().get(1);
        assertEquals(2, globex.sites().size());
        for (String target : globex.sites()) {
            assertEquals("g1", config.sites().get(target).id().group());
            assertEquals(
                    "rows.globex.in",
                    config.activationTopicOf(config.sites().get(target).id()));
        }
    }

    @Test
    void aTenantAndItsTopicComeTogether() {
        refused(TWO.replace(", tenant: globex", ""), "sites.g1.tenant is missing: topics.activations has a topic");
        refused(
                TWO.replace("rows.{tenant}.in", "rows"),
                "sites.a1.tenant = acme: expected topics.activations such as activations-{tenant}");
        // Names that differ by such a sign alone would share a state store.
        refused(TWO.replace("globex", "g-"), "sites.g1.tenant = g-: expected 1 to 63 small letters");
        refused(TWO.replace("globex", "g_l"), "sites.g1.tenant = g_l: expected 1 to 63 small letters");
        refused(
                TWO.replace("rows.{tenant}.in", "{tenant}").replace("globex", "decoders"),
                "sites.g1.tenant = decoders: makes topic decoders of it, which is topics.decoders");
        refused(
                TWO.replace("rows.{tenant}.in", "r".repeat(240) + "{tenant}").replace("globex", "g".repeat(20)),
                "makes a topic of 260 characters of it, expected at most 249");
        refused(TWO.replace("rows.{tenant}.in", "{tenant}-{tenant}"), "topics.activations = {tenant}-{tenant}");
        refused(TWO.replace("{activations", "{moments: \"m-{tenant}\", activations"), "topics.moments = m-{tenant}");
    }

    @Test
    void aModelIsOfOneTenant() {
        String models = """
                models:
                  m: {sites: [%s], threshold: {false_alarms: 1 per 30d}}
                """;
        String two = TWO.replace(", threshold: 1.0", "");
        parse(two + models.formatted("a1, a2"));
        refused(two + models.formatted("a1, g1"), "models m has sites of acme and globex: expected those of one");
    }

    private static MonitorConfig parse(String yaml) {
        return MonitorConfig.parse("kafka: {bootstrap.servers: x:1}\n" + yaml, "test", Path.of("/"));
    }

    private static void refused(String yaml, String sentence) {
        String message = assertThrows(ConfigException.class, () -> parse(yaml)).getMessage();
        assertTrue(message.contains(sentence), message);
    }
}
