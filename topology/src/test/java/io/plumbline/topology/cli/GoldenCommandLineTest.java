package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.golden.GoldenCase;
import io.plumbline.linalg.Matrix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs the golden cases through the command line: folders and dumps in, JSON and folders out, within the cases'
 * tolerances.
 */
class GoldenCommandLineTest extends GoldenFiles {

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
                "--all",
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
        assertEquals(ExitCodes.UNDECIDED, shell.exitCode(), shell.err());
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
}
