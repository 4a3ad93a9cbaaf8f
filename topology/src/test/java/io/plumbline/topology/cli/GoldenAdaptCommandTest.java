package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.golden.GoldenCase;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares {@code plumbline adapt} with the reference on the golden cases. */
class GoldenAdaptCommandTest extends GoldenFiles {

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

        Explainer adapted = Formats.read(out);
        golden.assertMatrix("W_final", adapted.decoder().weights().toMatrix().transpose());
        golden.assertVector("b_final", adapted.decoder().bias());
        String weights = weightsFile(golden);
        try (Safetensors before = Safetensors.open(explainer.resolve(weights));
                Safetensors after = Safetensors.open(out.resolve(weights))) {
            assertEquals(before.tensor("W_enc").bytes(), after.tensor("W_enc").bytes(), "encoder untouched");
            assertEquals(before.tensor("b_enc").bytes(), after.tensor("b_enc").bytes(), "encoder untouched");
            assertEquals(
                    Formats.read(explainer).decoder().sha256(), after.metadata().get("parent_sha256"));
            assertEquals(settings.get("alpha").asText(), after.metadata().get("alpha"));
        }
    }
}
