package io.plumbline.topology.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.plumbline.topology.Repository;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.Described;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.panes.RowAccount;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holds docs/reference/openapi.json to the routes and records of the console, and to what a server answers. With
 * {@code -Dplumbline.write.documents=true} it writes the file anew.
 */
class OpenApiTest {

    private static final Path FOLDER = Repository.path("docs", "reference");
    private static final Path FILE = FOLDER.resolve("openapi.json");
    private static final String BASE = "https://plumbline.example/";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    private Path folder;

    @Test
    void theFileIsThatOfTheRoutesAndRecords() throws IOException {
        if (Boolean.getBoolean("plumbline.write.documents")) {
            Files.writeString(FILE, OpenApi.text());
        } else {
            assertEquals(
                    OpenApi.text(),
                    Files.readString(FILE),
                    "run this test with -Dplumbline.write.documents=true and commit the file");
        }
    }

    @Test
    void everyPathAnswersInTheTypeAndTheSchemaThatStandThere() throws Exception {
        JsonNode paths = MAPPER.readTree(FILE.toFile()).get("paths");
        try (ServedConsole served = ServedConsole.start(ConsoleReports.model(folder))) {
            tell(served, "layer.0");
            int compared = 0;
            for (Map.Entry<String, JsonNode> path : paths.properties()) {
                String asked = path.getKey().replace("{site}", "layer.0");
                JsonNode expected = path.getValue().at("/get/responses/200/content");
                String type = expected.fieldNames().next();
                HttpResponse<InputStream> answer =
                        served.client().send(served.request(asked).build(), HttpResponse.BodyHandlers.ofInputStream());
                // Events do not end by themselves.
                try (InputStream body = answer.body()) {
                    assertEquals(200, answer.statusCode(), asked);
                    assertEquals(
                            type,
                            answer.headers()
                                    .firstValue("Content-Type")
                                    .orElse("")
                                    .split(";", -1)[0],
                            asked);
                    String reference = expected.path(type).at("/schema/$ref").asText();
                    if (!reference.isEmpty()) {
                        assertFits(MAPPER.readTree(body), reference, asked);
                        compared++;
                    }
                }
            }
            assertEquals(7, compared);
            for (String wrong : List.of("/api/sites/nobody", "/api/sites/layer.0/windows?from_ms=noon")) {
                assertFits(MAPPER.readTree(served.get(wrong).body()), "#/components/schemas/Problem", wrong);
            }
        }
    }

    @Test
    void whatAnAnswerHasTooMuchOrOfAnotherKindIsSeen() throws Exception {
        try (ServedConsole served = ServedConsole.start(ConsoleReports.model(folder))) {
            tell(served, "layer.0");
            ObjectNode windows = (ObjectNode)
                    MAPPER.readTree(served.get("/api/sites/layer.0/windows").body());
            ((ObjectNode) windows.at("/windows/0")).put("verdict", "perhaps");
            assertEquals(1, errors("#/components/schemas/Windows", windows).size());
        }
    }

    /** Has a site show what it can, so that few keys are null. */
    private static void tell(ServedConsole served, String site) {
        Console console = served.console();
        console.onReport(ConsoleReports.window(site, 0, 3), 0);
        console.onReport(ConsoleReports.window(site, 1, 4.75), 0);
        console.onModelReport(ConsoleReports.ofModel(1, 0, 2));
        console.onAdaptation(ConsoleReports.kept(site, "nothing better"));
        console.onAccount(site, new RowAccount(9, 5, 2, Map.of("behind_watermark", 1L), Map.of("token", 1L), 0));
        console.onBaselines(BaselineHistory.of(site)
                .with(Described.first(site, "a"))
                .with(Described.replacing(site, "b", 2, "a"))
                .with(Described.proposed(site, "c", "b")));
        console.onDeadLetter(DeadLetter.Reason.NON_FINITE);
        console.onRefused(site, 3, "signed by nobody");
        SwapState.Waiting waiting = new SwapState.Waiting(7, ConsoleReports.T0, 900, ConsoleReports.T0, "ab");
        console.onSwapState(
                site,
                new SwapState(
                        2, true, false, false, 7, waiting, List.of(1L), new SwapState.Fitted(5, 900), 0, null, null));
    }

    /** Asserts that an answer is what its schema says, and has no key that the schema misses. */
    private static void assertFits(JsonNode answer, String reference, String asked) throws IOException {
        assertEquals(List.of(), errors(reference, answer), asked);
        JsonNode schema = MAPPER.readTree(FILE.toFile()).at(reference.substring(1));
        assertTrue(schema.path("properties").size() > 0, reference);
        assertEquals(names(schema.path("properties")), names(answer), asked);
    }

    private static List<String> errors(String reference, JsonNode answer) {
        return SchemaRegistry.withDefaultDialect(
                        SpecificationVersion.DRAFT_2020_12, registry -> registry.schemas(OpenApiTest::file))
                .getSchema(SchemaLocation.of(BASE + "openapi.json" + reference))
                .validate(answer)
                .stream()
                .map(Object::toString)
                .toList();
    }

    private static String file(String address) {
        try {
            return Files.readString(FOLDER.resolve(address.substring(BASE.length())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Set<String> names(JsonNode object) {
        Set<String> names = new TreeSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
