package io.plumbline.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that an API server of Kubernetes takes what the chart renders, and an upgrade of it. */
class ApiServerTest {

    @TempDir
    private static Path folder;

    private static ApiServer server;

    @BeforeAll
    static void start() throws Exception {
        server = ApiServer.start(Files.createDirectory(folder.resolve("server")));
        server.define(render(ChartTest.EVERYTHING));
    }

    @AfterAll
    static void close() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void everyVariantIsTakenWithoutAWarningAndASecondTimeWithoutAChange() throws Exception {
        int number = 0;
        for (String values : ChartTest.VARIANTS) {
            String namespace = "variant-" + number++;
            server.makeNamespace(namespace);
            List<JsonNode> manifests = render(values);
            List<String> versions = applied(manifests, namespace);
            for (JsonNode manifest : manifests) {
                JsonNode kept = server.read(manifest, namespace).body();
                assertTrue(ApiServer.holds(kept, manifest), () -> "of %s is kept %s".formatted(manifest, kept));
            }
            assertEquals(versions, applied(manifests, namespace), "applied twice");
        }
    }

    @Test
    void anUpgradeChangesWhatItNamesAndADeletedReleaseIsGone() throws Exception {
        server.makeNamespace("upgraded");
        List<JsonNode> before = render(ChartTest.LEAST);
        List<String> versions = applied(before, "upgraded");
        List<JsonNode> after = render(ChartTest.LEAST + "monitor: {replicas: 3, javaOptions: -Xlog:gc}\n");
        applied(after, "upgraded");
        List<String> changed = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            if (!versions.get(i).equals(version(server.read(before.get(i), "upgraded")))) {
                changed.add(before.get(i).path("kind").asText());
            }
        }
        assertEquals(List.of("StatefulSet"), changed);
        JsonNode set = server.read(Chart.one(after, "StatefulSet", "watch-monitor"), "upgraded")
                .body();
        assertEquals(3, set.at("/spec/replicas").asInt());
        assertEquals(2, set.at("/metadata/generation").asInt());
        for (JsonNode manifest : after) {
            assertTrue(server.delete(manifest, "upgraded").isSuccess(), manifest::toString);
            assertEquals(404, server.read(manifest, "upgraded").status(), manifest::toString);
        }
    }

    @Test
    void aMisspeltFieldIsRefusedAndAPodWithMoreRightsIsWarnedOf() throws Exception {
        server.makeNamespace("mistaken");
        ObjectNode misspelt = (ObjectNode) Chart.one(render(ChartTest.LEAST), "StatefulSet", "watch-monitor");
        misspelt.withObject("/spec/template/spec").put("terminationGracePeriod", 60);
        ApiServer.Answer refused = server.apply(misspelt, "mistaken");
        assertFalse(refused.isSuccess());
        assertTrue(refused.body().path("message").asText().contains("terminationGracePeriod"), refused::toString);
        ObjectNode mightier = (ObjectNode) Chart.one(render(ChartTest.LEAST), "StatefulSet", "watch-monitor");
        mightier.withObject("/spec/template/spec").remove("securityContext");
        ApiServer.Answer warned = server.apply(mightier, "mistaken");
        assertTrue(warned.isSuccess(), warned::toString);
        assertTrue(warned.warnings().toString().contains("runAsNonRoot"), warned::toString);
    }

    /** Returns the version of each object. */
    private static List<String> applied(List<JsonNode> manifests, String namespace) throws Exception {
        List<String> versions = new ArrayList<>();
        for (JsonNode manifest : manifests) {
            ApiServer.Answer answer = server.apply(manifest, namespace);
            assertTrue(answer.isSuccess(), () -> "%s: %s".formatted(manifest, answer));
            assertEquals(List.of(), answer.warnings(), manifest::toString);
            versions.add(version(answer));
        }
        return versions;
    }

    private static String version(ApiServer.Answer answer) {
        return answer.body().at("/metadata/resourceVersion").asText();
    }

    private static List<JsonNode> render(String values) throws Exception {
        return new Chart(Chart.OURS).render(folder, values);
    }
}
