package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.HeadLimits;
import io.plumbline.causal.heads.LiveModel;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.causal.heads.LiveRecordings;
import io.plumbline.causal.heads.Logits;
import io.plumbline.causal.heads.OnnxHead;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.cli.Shell;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code plumbline compare --head} on recorded rows of a live model and the same with noise. */
class CompareByHeadTest {

    private static final LivePart PART = LivePart.autoencoder();
    private static final int REQUESTS = 8;

    @TempDir
    static Path folder;

    private static Path before;

    @BeforeAll
    static void record() throws Exception {
        Explainer explainer = PART.wholeExplainer();
        before = folder.resolve("before.safetensors");
        try (LiveModel model = LivePart.model()) {
            LiveRecordings.write(model.requests("id_eval", REQUESTS, explainer), explainer, before);
        }
    }

    /** Writes the rows rounded to a step, which is a share of their largest value. */
    private static Path rounded(String name, double share) throws IOException {
        Path file = folder.resolve(name);
        try (ActivationFile rows = ActivationFile.open(before)) {
            List<Matrix> changed = new ArrayList<>();
            for (int i = 0; i < rows.requests(); i++) {
                changed.add(rounded(rows.request(i).activations(), share));
            }
            long[] offsets = new long[changed.size() + 1];
            for (int i = 0; i < changed.size(); i++) {
                offsets[i + 1] = offsets[i] + changed.get(i).rows();
            }
            Matrix all =
                    Matrix.zeros((int) offsets[changed.size()], changed.get(0).columns());
            for (int i = 0; i < changed.size(); i++) {
                double[] values = changed.get(i).values();
                System.arraycopy(values, 0, all.values(), (int) offsets[i] * all.columns(), values.length);
            }
            SafetensorsWriter.create()
                    .add("activations", DType.F32, all)
                    .addLongs("request_offsets", offsets)
                    .writeTo(file);
        }
        return file;
    }

    private static Matrix rounded(Matrix rows, double share) {
        Matrix rounded = rows.copy();
        double largest = 0.0;
        for (double value : rows.values()) {
            largest = Math.max(largest, Math.abs(value));
        }
        for (int i = 0; i < rounded.values().length; i++) {
            rounded.values()[i] = (float) (share * largest * Math.rint(rows.values()[i] / (share * largest)));
        }
        return rounded;
    }

    private static Shell compare(Path after, Object... more) {
        List<Object> arguments = new ArrayList<>(
                List.of("compare", "--explainer", PART.wholeFolder(), "--before", before, "--after", after));
        arguments.addAll(List.of(more));
        return Shell.run(arguments.toArray());
    }

    private static JsonNode json(Path after) throws IOException {
        Shell shell = compare(after, "--head", LivePart.head(), "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        return new JsonMapper().readTree(shell.out());
    }

    @Test
    void theKlIsThatOfTheModelsOutputBeforeToAfter() throws IOException {
        Path after = rounded("after", 0.02);
        JsonNode answer = json(after);
        double sum = 0.0;
        int rows = 0;
        try (OnnxHead head = OnnxHead.open(new HeadLocation.InFile(LivePart.head()), HeadLimits.DEFAULTS);
                ActivationFile one = ActivationFile.open(before);
                ActivationFile other = ActivationFile.open(after)) {
            for (int i = 0; i < one.requests(); i++) {
                Logits p = head.logits(one.request(i).activations(), null);
                Logits q = head.logits(other.request(i).activations(), null);
                for (int row = 1; row < p.rows(); row++) {
                    for (int token = 0; token < p.vocabulary(); token++) {
                        double probability = p.probability(row, token);
                        sum += probability * Math.log(probability / q.probability(row, token));
                    }
                    rows++;
                }
            }
        }
        JsonNode kl = answer.at("/figures/kl");
        assertEquals(sum / rows, kl.get("value").asDouble(), 1e-6 * sum / rows);
        assertTrue(kl.get("low").asDouble() < sum / rows && kl.get("high").asDouble() > sum / rows, kl.toString());
        assertEquals(REQUESTS, answer.at("/output/requests").asInt());
        assertTrue(json(rounded("coarser", 0.05)).at("/figures/kl/value").asDouble()
                > kl.get("value").asDouble());
    }

    @Test
    void equalRowsHaveNoKl() throws IOException {
        assertEquals(0.0, json(before).at("/figures/kl/high").asDouble());
    }

    @Test
    void aPolicyBoundsIt() throws IOException {
        Path after = rounded("bounded", 0.02);
        Path policy = folder.resolve("policy.yaml");
        Files.writeString(policy, "kl_max: 1e-6");
        Shell failed = compare(after, "--head", LivePart.head(), "--policy", policy);
        assertEquals(1, failed.exitCode(), failed.err());
        assertTrue(failed.out().contains("fails          kl_max: the high end of the interval of kl "), failed.out());
        Files.writeString(policy, "kl_max: 10");
        assertEquals(
                0, compare(after, "--head", LivePart.head(), "--policy", policy).exitCode());
    }

    /** Writes the rows with one that is infinite in each request from one on, of so many. */
    private static Path infinite(String name, int from, int requests) throws IOException {
        Path after = folder.resolve(name);
        try (ActivationFile rows = ActivationFile.open(rounded("finite-" + name, 0.02))) {
            Matrix all = Matrix.zeros(rows.rows(), rows.inputWidth());
            long[] offsets = new long[rows.requests() + 1];
            for (int i = 0; i < rows.requests(); i++) {
                Matrix request = rows.request(i).activations();
                System.arraycopy(
                        request.values(), 0, all.values(), (int) offsets[i] * all.columns(), request.values().length);
                offsets[i + 1] = offsets[i] + request.rows();
            }
            for (int i = from; i < from + requests; i++) {
                all.set((int) offsets[i] + 2, 5, Double.POSITIVE_INFINITY);
            }
            SafetensorsWriter.create()
                    .add("activations", DType.F32, all)
                    .addLongs("request_offsets", offsets)
                    .writeTo(after);
        }
        return after;
    }

    @Test
    void aKlOfWhichNoRequestCouldBeRunSaysSo() throws IOException {
        Path policy = folder.resolve("policy-of-none.yaml");
        Files.writeString(policy, "kl_max: 10");
        Shell failed = compare(infinite("infinite-all", 0, REQUESTS), "--head", LivePart.head(), "--policy", policy);
        assertEquals(1, failed.exitCode(), failed.err());
        assertTrue(
                failed.out()
                        .contains("kl_max: kl was not measured: every request has one row, or one that is not finite"),
                failed.out());
    }

    @Test
    void requestsThatCannotBeRunAreLeftOutAndCounted() throws IOException {
        Path after = infinite("infinite", 1, 1);
        JsonNode answer = json(after);
        assertEquals(1, answer.at("/output/left_out").asInt(), answer.toString());
        assertTrue(answer.at("/figures/kl/value").asDouble() > 0.0);
        assertTrue(compare(after, "--head", LivePart.head())
                .out()
                .contains("kl             of 7 requests; 1 left out, of one row or with one that is not finite"));
    }

    @Test
    void aHeadThatDoesNotFitIsAMistakeInWhatWasTypedAndUnpairedRowsHaveNoKl() throws IOException {
        Shell absent = compare(before, "--head", folder.resolve("absent.onnx"));
        assertEquals(2, absent.exitCode(), absent.out());
        Path fewer = folder.resolve("fewer.safetensors");
        try (ActivationFile rows = ActivationFile.open(before)) {
            SafetensorsWriter.create()
                    .add("activations", DType.F32, rows.request(0).activations())
                    .addLongs("request_offsets", 0, 8, rows.request(0).rows())
                    .writeTo(fewer);
        }
        Shell unpaired = compare(fewer, "--head", LivePart.head(), "--json");
        assertEquals(0, unpaired.exitCode(), unpaired.err());
        assertFalse(new JsonMapper().readTree(unpaired.out()).get("figures").has("kl"));
    }
}
