package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

/** Tests the comparison on recorded English of the demonstration, {@value #REQUESTS} requests of it, and its SAE. */
class CompareCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int REQUESTS = 24;

    @TempDir
    private static Path folder;

    private static List<Matrix> english;
    private static Path before;

    @BeforeAll
    static void copyFixtures() throws IOException {
        for (String name :
                List.of("cfg.json", "sae_weights.safetensors", "english.safetensors", "german.safetensors")) {
            try (InputStream resource =
                    CompareCommandTest.class.getResourceAsStream("/io/plumbline/fixtures/" + name)) {
                Files.copy(resource, folder.resolve(name));
            }
        }
        english = new ArrayList<>();
        try (ActivationFile file = ActivationFile.open(folder.resolve("english.safetensors"))) {
            for (int i = 0; i < REQUESTS; i++) {
                // Stored as float16; an odd factor fills the digits of float32.
                english.add(each(file.request(i).activations(), value -> (float) (value * 1.0001)));
            }
        }
        before = write("before", rows -> rows);
    }

    private static Matrix each(Matrix rows, DoubleUnaryOperator change) {
        Matrix changed = rows.copy();
        for (int i = 0; i < changed.values().length; i++) {
            changed.values()[i] = change.applyAsDouble(changed.values()[i]);
        }
        return changed;
    }

    private static Path write(String name, UnaryOperator<Matrix> change) throws IOException {
        return write(name, change, DType.F32, 0);
    }

    /** @param template how many tokens and rows stand before each request, the same in all */
    private static Path write(String name, UnaryOperator<Matrix> change, DType type, int template) throws IOException {
        int width = english.get(0).columns();
        int total = english.stream().mapToInt(Matrix::rows).sum() + template * english.size();
        Matrix all = Matrix.zeros(total, width);
        long[] ids = new long[total];
        long[] offsets = new long[english.size() + 1];
        int at = 0;
        for (int q = 0; q < english.size(); q++) {
            Matrix changed = change.apply(english.get(q));
            for (int i = 0; i < template; i++) {
                ids[at] = 7L + i;
                System.arraycopy(english.get(0).values(), i * width, all.values(), at++ * width, width);
            }
            for (int i = 0; i < changed.rows(); i++) {
                ids[at] = 1_000L + 31L * q + i;
                System.arraycopy(changed.values(), i * width, all.values(), at++ * width, width);
            }
            offsets[q + 1] = at;
        }
        Path file = folder.resolve(name + ".safetensors");
        SafetensorsWriter.create()
                .add("activations", type, all)
                .addLongs("token_ids", ids)
                .addLongs("request_offsets", offsets)
                .writeTo(file);
        return file;
    }

    private static Shell compare(Path after, Object... more) {
        List<Object> words =
                new ArrayList<>(List.of("compare", "--explainer", folder, "--before", before, "--after", after));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }

    private static JsonNode json(Path after, Object... more) throws IOException {
        List<Object> words = new ArrayList<>(List.of(more));
        words.add("--json");
        Shell shell = compare(after, words.toArray());
        assertEquals(0, shell.exitCode(), shell.err());
        return JSON.readTree(shell.out());
    }

    /** Returns the sentence of the only cause that is named. */
    private static String cause(JsonNode answer, String kind) {
        assertEquals(1, answer.get("causes").size(), answer.get("causes").toString());
        assertEquals(kind, answer.at("/causes/0/kind").asText());
        return answer.at("/causes/0/sentence").asText();
    }

    /** Rounds each row to so many bits, to the nearest of equal steps up to its largest value. */
    private static Matrix rounded(Matrix rows, int bits) {
        Matrix rounded = rows.copy();
        int width = rows.columns();
        for (int i = 0; i < rows.rows(); i++) {
            double largest = 0.0;
            for (int j = 0; j < width; j++) {
                largest = Math.max(largest, Math.abs(rows.get(i, j)));
            }
            double step = largest / ((1 << (bits - 1)) - 1);
            for (int j = 0; j < width; j++) {
                rounded.set(i, j, step * Math.rint(rows.get(i, j) / step));
            }
        }
        return rounded;
    }

    @Test
    void dumpsThatAreTheSameToTheBitDifferInNothing() throws IOException {
        JsonNode answer = json(before);
        assertTrue(answer.get("identical").asBoolean());
        for (String zero : List.of("fvu_rise", "gap_to_before", "shift", "row_error")) {
            assertEquals(
                    "{\"value\":0.0,\"low\":0.0,\"high\":0.0}",
                    answer.get("figures").get(zero).toString(),
                    zero);
        }
        for (String one : List.of("survival", "row_cosine")) {
            assertEquals(
                    "{\"value\":1.0,\"low\":1.0,\"high\":1.0}",
                    answer.get("figures").get(one).toString(),
                    one);
        }
        assertEquals(answer.at("/figures/gap_before"), answer.at("/figures/gap"));
        assertEquals(0, answer.get("causes").size());
        assertTrue(
                compare(before).out().contains("identical to the bit: nothing is different"),
                compare(before).out());
    }

    @Test
    void survivalFallsAndErrorsRiseWithEveryBitThatRowsLose() throws IOException {
        double survival = 1.0;
        double error = 0.0;
        double shift = 0.0;
        for (int bits = 8; bits >= 4; bits--) {
            int kept = bits;
            JsonNode answer = json(write("int" + bits, rows -> rounded(rows, kept)));
            assertTrue(answer.at("/figures/survival/value").asDouble() < survival, answer.toString());
            assertTrue(answer.at("/figures/row_error/value").asDouble() > error, answer.toString());
            assertTrue(answer.at("/figures/shift/value").asDouble() > shift, answer.toString());
            assertTrue(answer.at("/figures/survival/low").asDouble()
                    <= answer.at("/figures/survival/value").asDouble());
            survival = answer.at("/figures/survival/value").asDouble();
            error = answer.at("/figures/row_error/value").asDouble();
            shift = answer.at("/figures/shift/value").asDouble();
        }
        assertTrue(survival < 0.9, "survival: " + survival);
    }

    @Test
    void theFiguresAreTheirDefinitionsWrittenOut() throws IOException {
        JsonNode answer = json(write("rounded", rows -> rounded(rows, 6)));
        double error = 0.0;
        double cosine = 0.0;
        int count = 0;
        for (Matrix rows : english) {
            Matrix after = each(rounded(rows, 6), value -> (float) value);
            for (int i = 0; i < rows.rows(); i++) {
                double bb = 0.0;
                double aa = 0.0;
                double ab = 0.0;
                for (int j = 0; j < rows.columns(); j++) {
                    bb += rows.get(i, j) * rows.get(i, j);
                    aa += after.get(i, j) * after.get(i, j);
                    ab += rows.get(i, j) * after.get(i, j);
                }
                error += Math.sqrt(aa + bb - 2.0 * ab) / Math.sqrt(bb);
                cosine += ab / Math.sqrt(aa * bb);
                count++;
            }
        }
        assertEquals(error / count, answer.at("/figures/row_error/value").asDouble(), 1e-9);
        assertEquals(cosine / count, answer.at("/figures/row_cosine/value").asDouble(), 1e-12);
        // Without a rank the usual one of the width is taken, and the whole of before is its own window.
        Shell encoded = Shell.run(
                "encode", "--explainer", folder, "--activations", before, "--out", folder.resolve("codes"), "--json");
        assertEquals(
                JSON.readTree(encoded.out()).get("reconstruction_fvu").asDouble(),
                answer.at("/figures/fvu_before/value").asDouble(),
                1e-9);
    }

    /** Writes a probe of one column, above whose median value half of the requests are. */
    private static Path probe(String name) throws IOException {
        double[] means = english.stream()
                .mapToDouble(rows -> {
                    double sum = 0.0;
                    for (int i = 0; i < rows.rows(); i++) {
                        sum += rows.get(i, 3);
                    }
                    return sum / rows.rows();
                })
                .sorted()
                .toArray();
        double[] weight = new double[english.get(0).columns()];
        weight[3] = 1.0;
        Path file = folder.resolve(name);
        SafetensorsWriter.create()
                .addVector("weight", DType.F32, weight)
                .addVector("threshold", DType.F32, new double[] {(means[REQUESTS / 2 - 1] + means[REQUESTS / 2]) / 2.0})
                .writeTo(file);
        return file;
    }

    @Test
    void requestsThatAProbeReadsOtherwiseAreCountedAndBounded() throws IOException {
        Path probe = probe("column.safetensors");
        JsonNode same = json(before, "--probes", probe);
        assertEquals(0.5, same.at("/probes/0/rate_before").asDouble());
        assertEquals(0.0, same.at("/figures/probe_flips/high").asDouble(), same.toString());
        Path turned = write("turned", rows -> {
            Matrix changed = rows.copy();
            for (int i = 0; i < rows.rows() && english.indexOf(rows) < 6; i++) {
                changed.set(i, 3, -100.0 * rows.get(i, 3));
            }
            return changed;
        });
        JsonNode answer = json(turned, "--probes", probe);
        JsonNode flips = answer.at("/probes/0/flips");
        double share = flips.get("value").asDouble();
        assertEquals("column", answer.at("/probes/0/name").asText());
        assertTrue(share > 0.0 && share <= 0.25, answer.toString());
        assertTrue(flips.get("low").asDouble() < share && flips.get("high").asDouble() > share, answer.toString());
        assertEquals(flips, answer.at("/figures/probe_flips"));
        assertFalse(json(turned).get("figures").has("probe_flips"));
        Path policy = folder.resolve("probes.yaml");
        Files.writeString(policy, "probe_flips_max: " + share);
        Path junit = folder.resolve("probes.xml");
        Shell failed = compare(turned, "--probes", probe, "--policy", policy, "--junit", junit);
        assertEquals(1, failed.exitCode(), failed.err());
        assertTrue(failed.out().contains("fails          probe_flips_max: the high end of the interval of "));
        assertTrue(failed.out().contains("probe          column: "), failed.out());
        assertTrue(Files.readString(junit).contains("name=\"probe_flips_max\"><failure"));
        Shell without = compare(turned, "--policy", policy);
        assertEquals(2, without.exitCode());
        assertTrue(without.err().contains("bounds probe_flips; expected --probes"), without.err());
        Shell unpaired = compare(folder.resolve("german.safetensors"), "--probes", probe, "--policy", policy);
        assertTrue(unpaired.out().contains("probe_flips was not measured: rows are not paired"), unpaired.out());
    }

    @Test
    void aProbeOfAnotherWidthAndARuleOfAHeadThatIsNotNamedAreMistakesInWhatWasTyped() throws IOException {
        Path wide = folder.resolve("wide.json");
        Files.writeString(wide, "{\"coef_\": [1, 2, 3]}");
        Shell refused = compare(before, "--probes", wide);
        assertEquals(2, refused.exitCode());
        assertTrue(refused.err().contains("--probes: "), refused.err());
        Path policy = folder.resolve("kl.yaml");
        Files.writeString(policy, "kl_max: 0.1");
        Shell headless = compare(before, "--policy", policy);
        assertEquals(2, headless.exitCode());
        assertTrue(headless.err().contains("bounds kl; expected --head or --worker"), headless.err());
        assertEquals(2, compare(before, "--device", "cuda").exitCode());
    }

    @Test
    void rowsThatTheBaselineWasMadeWithoutAreLeftOutOfBothAndItsRankIsTaken() throws IOException {
        Path baseline = folder.resolve("masked-baseline.safetensors");
        Shell made = Shell.run(
                "baseline",
                "--explainer",
                folder,
                "--activations",
                before,
                "--rank",
                8,
                "--window-rows",
                256,
                "--mask-token-id",
                1_000,
                "--out",
                baseline);
        assertEquals(0, made.exitCode(), made.err());
        Path after = write("int7-masked", rows -> rounded(rows, 7));
        JsonNode all = json(after);
        JsonNode answer = json(after, "--baseline", baseline);
        assertEquals(all.at("/rows/0").asLong() - 1, answer.at("/rows/0").asLong());
        assertEquals(answer.at("/rows/0"), answer.at("/rows/1"));
        assertTrue(answer.at("/figures/gap/high").asDouble() <= Math.sqrt(2.0 * 8.0), answer.toString());
        assertTrue(all.at("/figures/gap/low").asDouble() > Math.sqrt(2.0 * 8.0), all.toString());
    }

    @Test
    void aNarrowerDtypeIsNamed() throws IOException {
        assertTrue(cause(json(write("bf16", rows -> rows, DType.BF16, 0)), "wrong_dtype")
                .startsWith("every value of after is exactly a bfloat16, before's are not"));
        assertTrue(cause(json(write("f16", rows -> rows, DType.F16, 0)), "wrong_dtype")
                .startsWith("every value of after is exactly a float16, before's are not"));
    }

    @Test
    void rowsThatOverflowAreCountedNamedAndLeftOut() throws IOException {
        JsonNode answer = json(write("overflow", rows -> {
            Matrix changed = rows.copy();
            changed.set(2, 5, Double.POSITIVE_INFINITY);
            return changed;
        }));
        assertTrue(cause(answer, "overflow").startsWith("24 rows of after have Inf or NaN, 0 of before; float16 ends"));
        assertEquals(0.0, answer.at("/figures/row_error/value").asDouble());
        assertFalse(answer.get("identical").asBoolean());
    }

    /** Writes requests; only so many, the first, have a finite row. */
    private static Path overflown(int finite) throws IOException {
        return write(
                "finite" + finite,
                rows -> english.indexOf(rows) < finite ? rows : each(rows, value -> Double.POSITIVE_INFINITY));
    }

    @Test
    void groupsAreOfRequestsThatHaveRowsLeft() throws IOException {
        JsonNode answer = json(overflown(2));
        assertEquals(
                english.get(0).rows() + english.get(1).rows(),
                answer.at("/rows/0").asInt());
        assertTrue(answer.get("figures").has("gap"), answer.toString());
        cause(answer, "overflow");
    }

    @Test
    void whereNoIntervalCanBeMeasuredTheMistakeIsNamedAndThePolicyFails() throws IOException {
        Path policy = folder.resolve("overflow.yaml");
        Files.writeString(policy, "fvu_max: 1\nallowed_causes: [scaled_rows]");
        for (int finite = 0; finite < 2; finite++) {
            Path junit = folder.resolve("overflow.xml");
            Shell shell = compare(overflown(finite), "--policy", policy, "--junit", junit);
            assertEquals(1, shell.exitCode(), shell.err());
            String expected = "fails          fvu_max: fvu was not measured: requests with finite rows left are"
                    + " %1$d before and %1$d after, expected 2 or more for intervals".formatted(finite);
            assertTrue(shell.out().contains(expected), shell.out());
            assertTrue(shell.out().contains("overflow       "), shell.out());
            assertFalse(shell.out().contains("wrong_dtype"), shell.out());
            assertFalse(shell.out().contains("the largest value before is 0"), shell.out());
            String xml = Files.readString(junit);
            assertTrue(xml.contains("tests=\"2\" failures=\"2\""), xml);
            assertTrue(xml.contains("name=\"overflow\"><failure "), xml);
            assertTrue(json(overflown(finite)).get("features").isNull());
        }
        Shell same = Shell.run(
                "compare",
                "--explainer",
                folder,
                "--before",
                overflown(0),
                "--after",
                overflown(0),
                "--policy",
                policy);
        assertEquals(1, same.exitCode(), same.err());
        assertTrue(same.out().contains("compared       24 requests, 0 rows, paired"), same.out());
    }

    @Test
    void scaledRowsAreNamedWithTheirFactor() throws IOException {
        assertTrue(cause(json(write("scaled", rows -> each(rows, value -> 2.0 * value))), "scaled_rows")
                .startsWith("after's rows are before's times 2.0000: the factor varies by "));
    }

    @Test
    void anotherLayerIsNamedWhereItsRowsAreGivenAndRowsAreOnlyFarWhereTheyAreNot() throws IOException {
        Path other = write("other", CompareCommandTest::mirrored);
        assertTrue(
                cause(json(other), "far_rows")
                        .startsWith("100 % of the cosines to the row before are below 0.975, as on another layer, on"
                                + " another hook or with weights of 2 bits: "),
                json(other).toString());
        Path shifted = write("shifted", rows -> each(mirrored(rows), value -> value + 1.0));
        assertTrue(cause(json(shifted), "far_rows").startsWith("the explainer leaves "));
        assertEquals(
                "after's rows are those of %s: the difference is 0.00 of a row, that to before's ".formatted(other),
                cause(json(other, "--before-layers", before, other), "another_layer")
                        .replaceFirst("[0-9.]+$", ""));
    }

    @Test
    void anotherLayerIsNamedThoughARequestIsZeroAndSomeRowsAreNotFinite() throws IOException {
        int[] request = {0};
        UnaryOperator<Matrix> change = rows -> {
            Matrix changed = request[0] == 1 ? Matrix.zeros(rows.rows(), rows.columns()) : mirrored(rows);
            changed.set(0, 3, request[0]++ == 2 ? Double.POSITIVE_INFINITY : changed.get(0, 3));
            return changed;
        };
        Path other = write("zero-and-infinite", change);
        JsonNode answer = json(other, "--before-layers", write("another", CompareCommandTest::mirrored));
        assertEquals(
                "another_layer",
                answer.at("/causes/1/kind").asText(),
                answer.get("causes").toString());
        assertEquals("overflow", answer.at("/causes/0/kind").asText());
    }

    @Test
    void rowsThatAreFarButNearestToTheSameRowBeforeAreNotCalledAnotherLayer() throws IOException {
        Random random = new Random(3);
        // The cosine of 0.945 that weights of 3 bits leave, and the same lengths.
        Path coarse = write("coarse", rows -> {
            Matrix noisy = rows.copy();
            for (int i = 0; i < rows.rows(); i++) {
                double length = rows.rowRange(i, i + 1).frobeniusNorm();
                for (int j = 0; j < rows.columns(); j++) {
                    double noise = 0.327 * length * random.nextGaussian() / Math.sqrt(rows.columns());
                    noisy.set(i, j, 0.945 * rows.get(i, j) + noise);
                }
            }
            return noisy;
        });
        JsonNode answer = json(coarse);
        assertEquals(0.945, answer.at("/figures/row_cosine/value").asDouble(), 0.005, answer.toString());
        assertTrue(
                cause(answer, "far_rows")
                        .matches("100 % of the cosines to the row before are below 0.975, as on another layer or"
                                + " with weights of 3 bits: (100|9[5-9].*) % of the rows are nearest to the same row"
                                + " before, with (1.00|0.99).* times its length"),
                answer.toString());
        assertEquals(1, answer.get("causes").size(), answer.toString());
    }

    /** Exchanges the columns from end to end, as another hook has other coordinates. */
    private static Matrix mirrored(Matrix rows) {
        Matrix mirrored = rows.copy();
        for (int i = 0; i < rows.rows(); i++) {
            for (int j = 0; j < rows.columns(); j++) {
                mirrored.set(i, j, rows.get(i, rows.columns() - 1 - j));
            }
        }
        return mirrored;
    }

    @Test
    void aMissingTemplateIsNamedAndRowsAreNotPaired() throws IOException {
        JsonNode answer = json(write("templated", rows -> rows, DType.F32, 6));
        assertTrue(cause(answer, "missing_template")
                .startsWith("the chat template is missing in before: tokens that all requests share are "));
        assertFalse(answer.get("unpaired").isNull());
        assertFalse(answer.get("figures").has("survival"));
        assertTrue(answer.get("unpaired").asText().startsWith("request 0 has "));
    }

    @Test
    void otherPromptsAreNotPairedAndComparedByWhatNeedsNoPairs() throws IOException {
        JsonNode answer = json(folder.resolve("german.safetensors"));
        assertFalse(answer.get("unpaired").isNull());
        assertTrue(
                answer.at("/figures/fvu/low").asDouble()
                        > answer.at("/figures/fvu_before/high").asDouble(),
                answer.toString());
        assertTrue(answer.at("/activity/less_active").asInt() > 100, answer.toString());
        assertTrue(answer.get("features").isNull());
        assertTrue(compare(folder.resolve("german.safetensors")).out().contains("not paired: before has 24 requests"));
    }

    @Test
    void thePolicyDecidesTheExitCodeByTheWorseEndOfTheIntervalAndWritesFilesForCi() throws Exception {
        Path after = write("int5-policy", rows -> rounded(rows, 5));
        JsonNode survival = json(after).at("/figures/survival");
        Path policy = folder.resolve("policy.yaml");
        Files.writeString(
                policy,
                "survival_min: %s%nfvu_rise_max: 0.5%n"
                        .formatted(survival.get("low").asDouble() - 1e-6));
        assertEquals(0, compare(after, "--policy", policy).exitCode());
        // The value keeps this limit, the low end of its interval does not.
        Files.writeString(
                policy,
                "survival_min: %s%nfvu_rise_max: 0.5%n"
                        .formatted(survival.get("value").asDouble()));
        Path junit = folder.resolve("junit.xml");
        Path markdown = folder.resolve("summary.md");
        Shell failed = compare(after, "--policy", policy, "--junit", junit, "--markdown", markdown);
        assertEquals(1, failed.exitCode(), failed.err());
        assertTrue(failed.out().contains("fails          survival_min: the low end of the interval of survival is "));
        assertTrue(failed.out().contains("passes         fvu_rise_max: "), failed.out());
        Element suite = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(Files.readString(junit))))
                .getDocumentElement();
        assertEquals("2", suite.getAttribute("tests"));
        assertEquals("1", suite.getAttribute("failures"));
        Element testcase = (Element) suite.getElementsByTagName("testcase").item(0);
        assertEquals("survival_min", testcase.getAttribute("name"));
        assertEquals(1, testcase.getElementsByTagName("failure").getLength());
        compare(after, "--policy", policy, "--markdown", markdown);
        String summary = Files.readString(markdown);
        assertEquals(
                2,
                summary.lines().filter("### Plumbline compare: fails"::equals).count());
        assertTrue(
                summary.contains("* **fails** `survival_min`: the low end of the interval of survival is "), summary);
    }

    @Test
    void aCauseFailsThePolicyUnlessItIsAllowedAndARuleOfWhatWasNotMeasuredFails() throws IOException {
        Path after = write("bf16-policy", rows -> rows, DType.BF16, 0);
        Path policy = folder.resolve("causes.yaml");
        Files.writeString(policy, "gap_to_before_max: 1");
        assertEquals(1, compare(after, "--policy", policy).exitCode());
        Files.writeString(policy, "gap_to_before_max: 1\nallowed_causes: [wrong_dtype]");
        assertEquals(0, compare(after, "--policy", policy).exitCode());
        Files.writeString(policy, "survival_min: 0.1");
        Shell unpaired = compare(folder.resolve("german.safetensors"), "--policy", policy);
        assertEquals(1, unpaired.exitCode());
        assertTrue(unpaired.out().contains("survival was not measured: rows are not paired"), unpaired.out());
    }

    @Test
    void mistakesInWhatWasTypedAreUsageErrorsWithASentence() throws IOException {
        Path policy = folder.resolve("wrong.yaml");
        Files.writeString(policy, "survival_mim: 0.95\ngap_max: -1\nallowed_causes: [dtype]");
        Shell shell = compare(before, "--policy", policy);
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("survival_mim is not a known key: did you mean survival_min?"), shell.err());
        assertTrue(shell.err().contains("gap_max = -1: expected a number of at least 0"), shell.err());
        assertTrue(shell.err().contains("allowed_causes = [dtype]: expected some of missing_template, "), shell.err());
        Files.writeString(policy, "");
        assertTrue(compare(before, "--policy", policy).err().contains("no rule: expected one or more"));
        assertEquals(2, compare(before, "--junit", folder.resolve("x.xml")).exitCode());
        Path nowhere = folder.resolve("nowhere").resolve("summary");
        for (String option : List.of("--junit", "--markdown")) {
            // Before the work: that the dump is not there is not found out.
            Shell refused = compare(folder.resolve("no dump"), "--policy", policy, option, nowhere);
            assertEquals(2, refused.exitCode(), refused.err());
            assertTrue(refused.err().contains(option + " = " + nowhere + ": the folder "), refused.err());
        }
        Path one = folder.resolve("one.safetensors");
        SafetensorsWriter.create().add("activations", DType.F32, english.get(0)).writeTo(one);
        assertTrue(compare(one).err().contains("one request; expected 2 or more"));
        assertEquals(2, compare(folder.resolve("absent.safetensors")).exitCode());
        Shell none = Shell.run("compare", "--explainer", "none", "--before", before, "--after", before);
        assertEquals(2, none.exitCode());
        assertTrue(
                none.err().contains("--explainer = none: compare encodes rows itself; expected the folder"),
                none.err());
    }
}
