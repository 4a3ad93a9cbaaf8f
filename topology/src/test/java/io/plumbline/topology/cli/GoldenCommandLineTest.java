package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.explainer.Explainer;
import io.plumbline.golden.GoldenCase;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs the golden cases through the command line: folders and dumps in, JSON and folders out, within the cases'
 * tolerances.
 */
class GoldenCommandLineTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** The keys asked of {@code assess}, in order, with the reference's name for those it computes. */
    private static final String[][] ASSESS_KEYS = {
        {"site"},
        {"rows", "N_ood"},
        {"dimension", "d"},
        {"rank", "r"},
        {"second_moment_shift", "shift_fro"},
        {"second_moment_shift_ratio", "shift_fro_rel"},
        {"eigengap_baseline", "gamma_id"},
        {"eigengap_window", "gamma_ood"},
        {"faithfulness_gap", "gap_dec"},
        {"baseline_gap", "gap_id"},
        {"explainer_baseline_gap", "gap_dec_id"},
        {"largest_gap", "gap_cap"},
        {"gap_share"},
        {"chance_normalised_gap"},
        {"subspace_overlap", "overlap_dec_ood"},
        {"explainer_dependent_loss", "dec_loss_dependent"},
        {"projection_loss", "dec_loss_total"},
        {"irreducible_loss", "dec_loss_irreducible"},
        {"eta", "dec_eta"},
        {"davis_kahan_as_printed", "bound_printed"},
        {"davis_kahan_certified"},
        {"davis_kahan_valid", "bound_valid2"},
        {"davis_kahan_both_spectra", "bound_both_spectra"},
        {"davis_kahan_water_filling", "bound_water_filling"},
        {"gap_lower_bound", "gap_lower_bound"},
        {"gap_upper_bound", "gap_upper_bound"},
        {"reconstruction_fvu", "fvu_fixed_ood"},
        {"top_eigenvalue_share"},
        {"principal_angles"},
        {"verdict"},
        {"reason"}
    };

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void assessAgreesWithTheReference(String name) throws IOException {
        GoldenCase golden = GoldenCase.load(name);
        Path explainer = explainer(golden);
        Path baseline = baseline(golden, explainer);
        Shell shell = Shell.run(
                "assess",
                "--explainer",
                explainer,
                "--baseline",
                baseline,
                "--activations",
                dump(golden, "ood"),
                "--rank",
                golden.rank(),
                "--threshold",
                "0.001",
                "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode answer = JSON.readTree(shell.out());

        List<String> present = new ArrayList<>();
        answer.fieldNames().forEachRemaining(present::add);
        List<String> wanted = new ArrayList<>();
        for (String[] key : ASSESS_KEYS) {
            wanted.add(key[0]);
            if (key.length == 2) {
                golden.assertScalar(key[1], number(answer, key[0]));
            }
        }
        List<String> inOrder = new ArrayList<>(present);
        inOrder.retainAll(wanted);
        assertEquals(wanted, inOrder, "keys and their order");
        double[] angles = JSON.convertValue(answer.get("principal_angles"), double[].class);
        golden.assertVector("angles_dec_ood", angles);
        assertEquals(
                isTopKTranscoder(golden) ? "null" : "golden.hook",
                answer.get("site").asText());
        assertEquals("drifted", answer.get("verdict").asText());
        double share = answer.get("faithfulness_gap").asDouble()
                / answer.get("largest_gap").asDouble();
        assertEquals(share, answer.get("gap_share").asDouble(), 1e-12);
        answer.properties()
                .forEach(entry -> assertEquals(
                        entry.getValue().isNull(), answer.get("undefined").has(entry.getKey()), entry.getKey()));
    }

    @Test
    void adaptOffersTheProfilesAndSaysWhatTheGateFound() throws IOException {
        GoldenCase golden = GoldenCase.load("sae_relu");
        List<Object> common = List.of(
                "adapt",
                "--explainer",
                explainer(golden),
                "--activations",
                dump(golden, "ood"),
                "--rank",
                golden.rank());
        List<Object> code = new ArrayList<>(common);
        Path out = folder.resolve("as-the-authors");
        code.addAll(List.of("--profile", "authors-code", "--lambda-pres", 0.2, "--lambda-geom", 0.1, "--out", out));
        Shell written = Shell.run(code.toArray());
        assertEquals(0, written.exitCode(), written.err());
        try (Safetensors after = Safetensors.open(out.resolve("sae_weights.safetensors"))) {
            assertTrue(String.valueOf(after.metadata().get("profile")).startsWith("as the authors' code: rank"));
        }
        List<Object> auto = new ArrayList<>(common);
        auto.addAll(List.of("--out", folder.resolve("auto")));
        Shell judged = Shell.run(auto.toArray());
        assertEquals(2, judged.exitCode(), judged.err());
        assertTrue(
                judged.err().contains("2 distinct requests, expected at least 16, 8 of them to judge on"),
                judged.err());
        // One other request proves nothing, however well it is reconstructed.
        auto.addAll(List.of("--validate", dump(golden, "id")));
        judged = Shell.run(auto.toArray());
        assertEquals(3, judged.exitCode(), judged.err());
        assertTrue(judged.err().contains("nothing was written, the gate refuses:"), judged.err());
        assertTrue(judged.err().contains("  improvement: failed: held-out FVU"), judged.err());
        assertTrue(judged.err().contains("  gap: "), judged.err());
        assertFalse(Files.exists(folder.resolve("auto")));
        auto.addAll(List.of("--alpha", 0.5));
        Shell refused = Shell.run(auto.toArray());
        assertEquals(2, refused.exitCode());
        assertTrue(refused.err().contains("--profile auto chooses lambdas"), refused.err());
        code.set(code.indexOf("--lambda-geom"), "--alpha");
        code.set(code.indexOf(out), folder.resolve("x"));
        Shell missing = Shell.run(code.toArray());
        assertEquals(2, missing.exitCode());
        assertTrue(missing.err().contains("--profile authors-code needs --lambda-pres"), missing.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void adaptAgreesWithTheReference(String name) throws IOException {
        GoldenCase golden = GoldenCase.load(name);
        JsonNode settings = golden.settings();
        Path explainer = explainer(golden);
        Path out = folder.resolve("adapted");
        Shell shell = Shell.run(
                "adapt",
                "--explainer",
                explainer,
                "--activations",
                dump(golden, "ood"),
                "--rank",
                golden.rank(),
                "--lambda-pres",
                settings.get("lambda_pres").asText(),
                "--lambda-geom",
                settings.get("lambda_geom").asText(),
                "--alpha",
                settings.get("alpha").asText(),
                "--validate",
                dump(golden, "id"),
                "--dtype",
                "f64",
                "--out",
                out,
                "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode answer = JSON.readTree(shell.out());
        golden.assertScalar("gap_dec", number(answer, "faithfulness_gap_before"));
        golden.assertScalar("gap_w_final", number(answer, "faithfulness_gap_after"));
        golden.assertScalar("fvu_fixed_ood", number(answer, "fvu_before"));
        golden.assertScalar("fvu_final_ood", number(answer, "fvu_after"));
        golden.assertScalar("mse_fixed_ood", number(answer, "mse_before"));
        golden.assertScalar("mse_final_ood", number(answer, "mse_after"));
        golden.assertScalar("N_ood", number(answer, "rows"));
        golden.assertScalar("r", number(answer, "rank"));
        golden.assertScalar("gap_dec_id", number(answer, "validation_faithfulness_gap_before"));
        golden.assertScalar("fvu_fixed_id", number(answer, "validation_fvu_before"));
        golden.assertScalar("mse_fixed_id", number(answer, "validation_mse_before"));
        golden.assertScalar("N_id", number(answer, "validation_rows"));
        assertTrue(answer.get("validation_faithfulness_gap_after").isNumber());
        assertTrue(answer.get("validation_fvu_after").isNumber());
        assertTrue(answer.get("validation_mse_after").isNumber());
        for (String test : List.of("improvement", "gap", "features", "id_cost")) {
            String verdict = answer.get("gate_" + test).asText();
            assertTrue(verdict.startsWith("passed: ") || verdict.startsWith("failed: "), test + " " + verdict);
        }

        Explainer adapted = Explainer.read(out);
        golden.assertMatrix("W_final", adapted.decoder().weights().toMatrix().transpose());
        golden.assertVector("b_final", adapted.decoder().bias());
        String weights = weightsFile(golden);
        try (Safetensors before = Safetensors.open(explainer.resolve(weights));
                Safetensors after = Safetensors.open(out.resolve(weights))) {
            assertEquals(before.tensor("W_enc").bytes(), after.tensor("W_enc").bytes(), "encoder untouched");
            assertEquals(before.tensor("b_enc").bytes(), after.tensor("b_enc").bytes(), "encoder untouched");
            assertEquals(
                    Explainer.read(explainer).decoder().sha256(),
                    after.metadata().get("parent_sha256"));
            assertEquals(settings.get("alpha").asText(), after.metadata().get("alpha"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu"})
    void severalDumpsAreOneStreamAndTheTableSaysTheSame(String name) throws IOException {
        GoldenCase golden = GoldenCase.load(name);
        Path explainer = explainer(golden);
        Path baseline = baseline(golden, explainer);
        Matrix rows = golden.input("activations_ood");
        Path first = dump("first", rows.rowRange(0, 77), null);
        Path second = dump("second", rows.rowRange(77, rows.rows()), null);
        Shell shell = Shell.run(
                "assess",
                "--explainer",
                explainer,
                "--baseline",
                baseline,
                "--activations",
                first,
                second,
                "--rank",
                golden.rank(),
                "--threshold",
                "0.001",
                "--json");
        golden.assertScalar("gap_dec", number(JSON.readTree(shell.out()), "faithfulness_gap"));

        Shell table = Shell.run(
                "assess",
                "--explainer",
                explainer,
                "--baseline",
                baseline,
                "--activations",
                first,
                second,
                "--rank",
                golden.rank(),
                "--site",
                "here",
                "--threshold",
                "0.001",
                "--fail-on-drift");
        assertEquals(1, table.exitCode(), table.err());
        assertTrue(table.out().contains("faithfulness_gap  "), table.out());
        assertTrue(table.out().startsWith("site "), table.out());
        assertTrue(table.out().contains("14.6511 (vacuous)"), table.out());
        assertFalse(table.out().contains("{"), table.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu"})
    void withoutCleanWindowsAQuantileIsUndecidedAndSaysWhatToCollect(String name) throws IOException {
        GoldenCase golden = GoldenCase.load(name);
        Path explainer = explainer(golden);
        Shell shell = Shell.run(
                "assess",
                "--explainer",
                explainer,
                "--baseline",
                baseline(golden, explainer),
                "--activations",
                dump(golden, "ood"),
                "--rank",
                golden.rank(),
                "--threshold-quantile",
                0.95,
                "--fail-on-drift",
                "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode answer = JSON.readTree(shell.out());
        assertEquals("undecided", answer.get("verdict").asText());
        assertTrue(
                answer.get("reason").asText().contains("19 clean windows"),
                answer.get("reason").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu"})
    void mistakesAreSentencesAndNothingIsWritten(String name) throws IOException {
        GoldenCase golden = GoldenCase.load(name);
        Path explainer = explainer(golden);
        Path rows = dump(golden, "ood");
        Path out = folder.resolve("never");
        Map<String, Object[]> mistakes = Map.of(
                "--rank = 99: expected 1 to 15",
                        new Object[] {
                            "baseline", "--explainer", explainer, "--activations", rows, "--out", out, "--rank", 99
                        },
                "no such file or folder",
                        new Object[] {"baseline", "--explainer", explainer, "--activations", "gone", "--out", out},
                "no such folder", new Object[] {"baseline", "--explainer", "gone", "--activations", rows, "--out", out},
                "does not exist",
                        new Object[] {
                            "baseline", "--explainer", explainer, "--activations", rows, "--out", out.resolve("x")
                        },
                "`plumbline baseline` writes one",
                        new Object[] {
                            "assess", "--explainer", explainer, "--baseline", "gone", "--activations", rows, "--rank", 4
                        },
                "exists already",
                        new Object[] {
                            "adapt",
                            "--explainer",
                            explainer,
                            "--activations",
                            rows,
                            "--rank",
                            4,
                            "--lambda-pres",
                            1,
                            "--lambda-geom",
                            1,
                            "--out",
                            explainer
                        },
                "alpha = 2.0",
                        new Object[] {
                            "adapt",
                            "--explainer",
                            explainer,
                            "--activations",
                            rows,
                            "--rank",
                            4,
                            "--lambda-pres",
                            1,
                            "--lambda-geom",
                            1,
                            "--alpha",
                            2,
                            "--out",
                            out
                        },
                "activations have 3 columns, the explainer reads 16",
                        new Object[] {
                            "baseline",
                            "--explainer",
                            explainer,
                            "--activations",
                            dump("narrow", Matrix.zeros(2, 3), null),
                            "--out",
                            out
                        });
        mistakes.forEach((sentence, arguments) -> {
            Shell shell = Shell.run(arguments);
            assertEquals(2, shell.exitCode(), shell.err());
            assertTrue(shell.err().contains(sentence), sentence + " in: " + shell.err());
            assertEquals("", shell.out());
            assertFalse(Files.exists(out), sentence);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu"})
    void notANumberIsAFailureThatNamesFileRequestRowAndColumn(String name) throws IOException {
        Path explainer = explainer(GoldenCase.load(name));
        Matrix rows = Matrix.zeros(3, 16);
        rows.set(1, 2, Double.NaN);
        Path out = folder.resolve("never");
        Shell shell =
                Shell.run("baseline", "--explainer", explainer, "--activations", dump("bad", rows, null), "--out", out);
        assertEquals(3, shell.exitCode());
        assertTrue(shell.err().contains("bad.safetensors, request 0: row 1, column 2 is NaN"), shell.err());
        assertFalse(Files.exists(out));
    }

    private Path baseline(GoldenCase golden, Path explainer) throws IOException {
        Path file = folder.resolve("baseline.safetensors");
        Shell shell = Shell.run(
                "baseline",
                "--explainer",
                explainer,
                "--activations",
                dump(golden, "id"),
                "--rank",
                golden.rank(),
                "--out",
                file,
                "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode answer = JSON.readTree(shell.out());
        golden.assertScalar("N_id", number(answer, "rows"));
        golden.assertScalar("fvu_fixed_id", number(answer, "reconstruction_fvu"));
        return file;
    }

    private Path dump(GoldenCase golden, String when) throws IOException {
        String targets = "targets_" + when;
        return dump(when, golden.input("activations_" + when), golden.hasInput(targets) ? golden.input(targets) : null);
    }

    private Path dump(String name, Matrix activations, @Nullable Matrix targets) throws IOException {
        SafetensorsWriter writer = SafetensorsWriter.create().add("activations", DType.F64, activations);
        if (targets != null) {
            writer.add("targets", DType.F64, targets);
        }
        Path file = folder.resolve(name + ".safetensors");
        writer.writeTo(file);
        return file;
    }

    /** Returns whether a case is a TopK transcoder, which SAELens does not have. */
    private static boolean isTopKTranscoder(GoldenCase golden) {
        return golden.settings().get("kind").asText().equals("transcoder");
    }

    private static String weightsFile(GoldenCase golden) {
        return isTopKTranscoder(golden) ? "layer_0.safetensors" : "sae_weights.safetensors";
    }

    /** The case's explainer as a SAELens folder, or circuit-tracer's: both weights transposed into its orientation. */
    private Path explainer(GoldenCase golden) throws IOException {
        JsonNode settings = golden.settings();
        String activation = settings.get("activation").asText();
        if (isTopKTranscoder(golden)) {
            Path directory = Files.createDirectories(folder.resolve("explainer"));
            SafetensorsWriter.create()
                    .add("W_enc", DType.F64, golden.input("W_enc"))
                    .addVector("b_enc", DType.F64, golden.input("b_enc").values())
                    .add("W_dec", DType.F64, golden.decoderWeights())
                    .addVector("b_dec", DType.F64, golden.input("b_dec").values())
                    .writeTo(directory.resolve(weightsFile(golden)));
            Files.writeString(
                    directory.resolve("config.yaml"),
                    "model_kind: transcoder_set%nactivation: topk%nk: %s%n".formatted(settings.get("topk")));
            return directory;
        }
        String architecture = activation.equals("relu") ? "standard" : activation;
        Path directory = Files.createDirectories(folder.resolve("explainer"));
        SafetensorsWriter writer = SafetensorsWriter.create()
                .add("W_enc", DType.F64, golden.input("W_enc").transpose())
                .addVector("b_enc", DType.F64, golden.input("b_enc").values())
                .add("W_dec", DType.F64, golden.decoderWeights())
                .addVector("b_dec", DType.F64, golden.input("b_dec").values());
        if (golden.hasInput("threshold")) {
            writer.addVector("threshold", DType.F64, golden.input("threshold").values());
        }
        writer.writeTo(directory.resolve("sae_weights.safetensors"));
        Files.writeString(directory.resolve("cfg.json"), """
                {"architecture": "%s", "d_in": %d, "d_out": %d, "d_sae": %d, "k": %s, "activation_fn": "%s",
                 "apply_b_dec_to_input": false, "normalize_activations": "none", "dtype": "float64",
                 "metadata": {"hook_name": "golden.hook"}}
                """.formatted(
                        architecture,
                        settings.get("d_in").asInt(),
                        settings.get("d_out").asInt(),
                        settings.get("k").asInt(),
                        settings.get("topk"),
                        activation));
        return directory;
    }

    private static @Nullable Double number(JsonNode answer, String key) {
        JsonNode value = answer.get(key);
        return value == null || value.isNull() ? null : Double.valueOf(value.asDouble());
    }
}
