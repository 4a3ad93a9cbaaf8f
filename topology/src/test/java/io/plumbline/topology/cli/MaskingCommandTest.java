package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests recorded English as the demonstration has it, and with a long first and last row put into every request, as
 * special tokens are: the commands see the same rows.
 */
class MaskingCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int REQUESTS = 5;

    @TempDir
    private static Path folder;

    private static JsonNode clean;
    private static JsonNode masked;

    @BeforeAll
    static void makeBaselines() throws IOException {
        for (String name : List.of("cfg.json", "sae_weights.safetensors", "english.safetensors")) {
            try (InputStream resource =
                    MaskingCommandTest.class.getResourceAsStream("/io/plumbline/fixtures/" + name)) {
                Files.copy(resource, folder.resolve(name));
            }
        }
        try (ActivationFile english = ActivationFile.open(folder.resolve("english.safetensors"))) {
            write("normal", english, 0, false);
            write("normal-special", english, 0, true);
            write("later", english, REQUESTS, false);
            write("later-special", english, REQUESTS, true);
        }
        clean = baseline("normal", "clean");
        masked = baseline("normal-special", "masked", "--mask-token-id", "101", "--mask-norm-cap", "6");
    }

    @Test
    void maskedRowsLeaveEveryNumberOfBaselineAndWindowAsIfTheyHadNeverBeen() throws IOException {
        assertEquals(REQUESTS, masked.get("masked_rows_token_id").asInt());
        assertEquals(REQUESTS, masked.get("masked_rows_norm").asInt());
        assertEquals(without(clean), without(masked));
        assertEquals(assess("clean", "later"), without(assess("masked", "later-special")));
    }

    @Test
    void aWindowThatAFewLongRowsDominateSaysSoUnlessTheyAreMasked() throws IOException {
        JsonNode unmasked = assess("clean", "later-special");
        assertTrue(unmasked.get("top_eigenvalue_share").asDouble() > 0.5, unmasked.toString());
        assertTrue(unmasked.get("energy_warning").asText().startsWith("one eigenvalue holds "), unmasked.toString());
        assertFalse(assess("clean", "later").has("energy_warning"));
    }

    @Test
    void longRowsThatRuleARecordingAreMaskedUnlessToldOtherwise() throws IOException {
        Shell shell = Shell.run(
                "baseline",
                "--explainer",
                folder,
                "--activations",
                folder.resolve("normal-special"),
                "--rank",
                32,
                "--window-rows",
                256,
                "--out",
                folder.resolve("by-default"),
                "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(
                shell.err().contains("because of rows longer than 10 times the median row: they are left out"),
                shell.err());
        JsonNode byDefault = JSON.readTree(shell.out());
        assertEquals(2 * REQUESTS, byDefault.get("masked_rows_norm").asInt());
        assertEquals(withoutWindows(clean), withoutWindows(byDefault));
        JsonNode kept = baseline("normal-special", "kept", "--mask-norm-cap", "none");
        assertEquals(clean.get("rows").asInt() + 2 * REQUESTS, kept.get("rows").asInt());
        assertFalse(clean.has("masked_rows_norm"), "nothing to mask");
        JsonNode blind = assess("kept", "later-special");
        assertTrue(blind.get("top_eigenvalue_share").asDouble() > 0.5);
        assertEquals(assess("clean", "later"), without(assess("by-default", "later-special")));
    }

    @Test
    void aDumpThatDoesNotNameItsTokensIsRefusedWhereTheyAreMasked() throws IOException {
        String sentence = "has no tensor \"token_ids\"";
        assertRefused(
                sentence,
                "assess",
                "--baseline",
                folder.resolve("masked"),
                "--rank",
                32,
                "--activations",
                folder.resolve("later"));
        assertRefused(
                sentence,
                "baseline",
                "--mask-token-id",
                101,
                "--out",
                folder.resolve("no"),
                "--activations",
                folder.resolve("later"));
        assertRefused(
                sentence,
                "adapt",
                "--baseline",
                folder.resolve("masked"),
                "--rank",
                32,
                "--lambda-pres",
                1,
                "--lambda-geom",
                0,
                "--out",
                folder.resolve("no"),
                "--activations",
                folder.resolve("later"));
        assertRefused(
                "--mask-norm-cap = 0.5: expected a number above 1",
                "baseline",
                "--mask-norm-cap",
                0.5,
                "--out",
                folder.resolve("no"),
                "--activations",
                folder.resolve("later"));
    }

    @Test
    void aRefitIsOfTheRowsThatRemain() throws IOException {
        assertEquals(without(adapt("clean", "later")), without(adapt("masked", "later-special")));
    }

    private static JsonNode baseline(String activations, String out, Object... more) throws IOException {
        return run(
                List.of(more),
                "baseline",
                "--activations",
                folder.resolve(activations),
                "--rank",
                32,
                "--window-rows",
                256,
                "--out",
                folder.resolve(out));
    }

    private static JsonNode assess(String baseline, String activations) throws IOException {
        return run(
                List.of(),
                "assess",
                "--baseline",
                folder.resolve(baseline),
                "--activations",
                folder.resolve(activations),
                "--rank",
                32,
                "--threshold-share",
                0.7);
    }

    private static JsonNode adapt(String baseline, String activations) throws IOException {
        return run(
                List.of(),
                "adapt",
                "--baseline",
                folder.resolve(baseline),
                "--activations",
                folder.resolve(activations),
                "--rank",
                32,
                "--lambda-pres",
                1,
                "--lambda-geom",
                0,
                "--relative-lambdas",
                "--out",
                folder.resolve("adapted-" + baseline));
    }

    private static JsonNode run(List<Object> more, Object... arguments) throws IOException {
        List<Object> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--explainer", folder, "--json"));
        all.addAll(more);
        Shell shell = Shell.run(all.toArray());
        assertEquals(0, shell.exitCode(), shell.err());
        return JSON.readTree(shell.out());
    }

    private static void assertRefused(String sentence, Object... arguments) {
        List<Object> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--explainer", folder));
        Shell shell = Shell.run(all.toArray());
        assertEquals(2, shell.exitCode(), shell.out() + shell.err());
        assertTrue(shell.err().contains(sentence), shell.err());
    }

    private static JsonNode without(JsonNode answer) {
        return ((ObjectNode) answer.deepCopy()).without(List.of("out", "masked_rows_token_id", "masked_rows_norm"));
    }

    /** Leaves out what is said of clean windows: rows that are too long fill them, too. */
    private static JsonNode withoutWindows(JsonNode answer) {
        ObjectNode left = (ObjectNode) without(answer);
        for (ObjectNode part : List.of(left, (ObjectNode) left.get("undefined"))) {
            List<String> ofWindows = new ArrayList<>();
            part.fieldNames().forEachRemaining(name -> {
                if (name.endsWith("_rows_256")) {
                    ofWindows.add(name);
                }
            });
            part.remove(ofWindows);
        }
        return left;
    }

    /** Writes five requests from the given one on; with special rows 40 to 80 times as long as a common one. */
    private static void write(String name, ActivationFile english, int first, boolean special) throws IOException {
        List<double[]> rows = new ArrayList<>();
        List<Long> ids = new ArrayList<>();
        List<Long> offsets = new ArrayList<>(List.of(0L));
        for (int request = first; request < first + REQUESTS; request++) {
            Matrix plain = english.request(request).activations();
            if (special) {
                rows.add(special(plain.columns(), 3, 600.0 + request));
                ids.add(101L);
            }
            for (int i = 0; i < plain.rows(); i++) {
                rows.add(plain.rowRange(i, i + 1).values());
                ids.add(2_000L + i);
            }
            if (special) {
                rows.add(special(plain.columns(), 7, -300.0));
                ids.add(102L);
            }
            offsets.add((long) rows.size());
        }
        Matrix all = Matrix.zeros(rows.size(), rows.get(0).length);
        for (int i = 0; i < rows.size(); i++) {
            System.arraycopy(rows.get(i), 0, all.values(), i * all.columns(), all.columns());
        }
        SafetensorsWriter file = SafetensorsWriter.create()
                .add("activations", DType.F32, all)
                .addLongs(
                        "request_offsets",
                        offsets.stream().mapToLong(Long::longValue).toArray());
        if (special) {
            file.addLongs("token_ids", ids.stream().mapToLong(Long::longValue).toArray());
        }
        file.writeTo(folder.resolve(name));
    }

    private static double[] special(int width, int at, double value) {
        double[] row = new double[width];
        row[at] = value;
        return row;
    }
}
