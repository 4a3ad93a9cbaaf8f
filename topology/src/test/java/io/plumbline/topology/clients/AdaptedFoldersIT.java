package io.plumbline.topology.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.topology.Repository;
import io.plumbline.topology.cli.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Adapts every published explainer that can be refitted, and lets SAELens or sparsify read each folder of its format.
 * No code has moved, and the library reconstructs what this project says. Ten folders are in a format of Gemma Scope 2
 * or circuit-tracer, which neither reads. Left out where the Python has no torch and sae_lens, and no sparsify.
 */
class AdaptedFoldersIT {

    private static final Path CASES = Repository.path("operators", "src", "test", "resources", "explainers");

    /** Explainers whose encoder is their decoder. */
    private static final Set<String> TIED = Set.of("saelens_matching_pursuit");

    /** Compares in float64, with codes of the trained explainer as its own library computed them. */
    private static final String READ = """
            import sys, torch
            from pathlib import Path
            from safetensors.torch import load_file
            library, cases, adapted = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
            if library == "sae_lens":
                from sae_lens import SAE
            else:
                from sparsify import SparseCoder

            def open_(folder):
                if library == "sae_lens":
                    return SAE.load_from_disk(folder, device="cpu").to(torch.float64)
                return SparseCoder.load_from_disk(folder, device="cpu").to(torch.float64)

            def run(explainer, rows):
                with torch.no_grad():
                    if library == "sae_lens":
                        heads = explainer.cfg.reshape_activations == "hook_z"
                        rows = rows.unflatten(-1, (4, -1)) if heads else rows
                        codes, back = explainer.encode(rows), explainer(rows)
                        return codes, back.flatten(-2) if heads else back
                    found = explainer.encode(rows)
                    codes = torch.zeros(len(rows), explainer.num_latents, dtype=rows.dtype)
                    codes.scatter_(1, found.top_indices.long(), found.top_acts)
                    back = codes @ explainer.W_dec + explainer.b_dec
                    return codes, back if explainer.W_skip is None else back + rows @ explainer.W_skip.mT

            def near(name, expected, found, tolerance):
                off = ((expected - found).abs().max() / expected.abs().max()).item()
                assert off <= tolerance, f"{name}: off by {off:.1e} of the largest"
                return off

            weights = "sae_weights.safetensors" if library == "sae_lens" else "sae.safetensors"
            codes_off, rows_off, same, count = 0.0, 0.0, 0, 0
            for out in sorted(adapted.iterdir()):
                if not (out / weights).is_file():
                    continue
                case = next(each for each in cases.iterdir() if each.name == out.name)
                io = load_file(case / "io.safetensors")
                ours = load_file(adapted / f"{out.name}.encoded")
                codes, back = run(open_(out), io["activations"].double())
                trained = io["codes"].double().clone()
                if out.name.startswith(("openmoss", "llama_scope")):  # up to one positive factor a feature
                    used = (trained != 0).any(0)
                    factor = codes.sum(0)[used] / trained.sum(0)[used]
                    assert (factor > 0).all(), out.name
                    trained[:, used] *= factor
                assert torch.equal(trained.abs() > 1e-6 * trained.abs().max(), codes.abs() > 1e-6 * trained.abs().max()), (
                    f"{out.name}: other features are active"
                )
                codes_off = max(codes_off, near(out.name + " codes", trained, codes, 3e-6))
                rows_off = max(rows_off, near(out.name + " rows", ours["reconstructions"].double(), back, 1e-6))
                assert (back - io["reconstructions"].double()).abs().max() > 1e-3, f"{out.name}: nothing was adapted"
                original = next(case.rglob(weights), None)
                if original is not None and out.name.startswith(("saelens", "sparsify")):
                    same += torch.equal(run(open_(original.parent), io["activations"].double())[0], codes)
                count += 1
            print(f"{count} folders, {same} with the same bits, off by {codes_off:.1e} and {rows_off:.1e}")
            """;

    @TempDir
    private static Path folder;

    private static List<Path> cases() throws IOException {
        try (Stream<Path> found = Files.list(CASES)) {
            return found.filter(Files::isDirectory).sorted().toList();
        }
    }

    private static List<Object> words(String command, Path explainer, Path dump) {
        return new ArrayList<>(List.of(command, "--explainer", explainer, "--activations", dump));
    }

    /** Adapts every published explainer that can be, and writes what this project computes with it. */
    private static int adapt(Path out) throws IOException {
        int adapted = 0;
        for (Path published : cases()) {
            String name = published.getFileName().toString();
            JsonNode facts =
                    new JsonMapper().readTree(published.resolve("case.json").toFile());
            Path dump = published.resolve("io.safetensors");
            List<Object> words =
                    words("adapt", published.resolve(facts.path("explainer").asText()), dump);
            words.addAll(List.of("--rank", 8, "--lambda-geom", 0.1, "--lambda-pres", 0.1, "--out", out.resolve(name)));
            for (String option : options(name, facts)) {
                words.addAll(List.of("--explainer-option", option));
            }
            Shell done = Shell.run(words.toArray());
            if (facts.path("expect").asText().equals("refuse") || TIED.contains(name)) {
                assertEquals(3, done.exitCode(), name + ": " + done.err());
                continue;
            }
            assertEquals(0, done.exitCode(), name + ": " + done.err());
            List<Object> encode = words("encode", out.resolve(name), dump);
            encode.addAll(List.of("--out", out.resolve(name + ".encoded")));
            Shell encoded = Shell.run(encode.toArray());
            assertEquals(0, encoded.exitCode(), name + ": " + encoded.err());
            adapted++;
        }
        return adapted;
    }

    /** Returns the facts that are in none of an explainer's files. */
    private static List<String> options(String name, JsonNode facts) {
        if (name.startsWith("circuit_tracer") && facts.has("layer")) {
            return List.of("layer=" + facts.path("layer").asText());
        }
        return switch (name) {
            case "gemma_scope_1_residual" -> List.of("kind=sae");
            case "qwen_scope" -> List.of("k=8");
            case "llama_scope_r1_distill" ->
                List.of("norm=" + facts.path("norm_scaling_factor").asText());
            default -> List.of();
        };
    }

    @Test
    void theLibraryOfEachFormatReadsAnAdaptedFolderAndNoCodeHasMoved() throws Exception {
        Python python = Python.ofMachine(folder);
        boolean saeLens = python.run("-c", "import torch, sae_lens").exitCode() == 0;
        boolean sparsify = python.run("-c", "import torch, sparsify").exitCode() == 0;
        assumeTrue(saeLens || sparsify, "needs torch and sae-lens, or eai-sparsify: pip install sae-lens eai-sparsify");
        Path out = Files.createDirectory(folder.resolve("adapted"));
        assertEquals(70, adapt(out));
        if (saeLens) {
            assertRead(55, python.run("-c", READ, "sae_lens", CASES, out));
        }
        if (sparsify) {
            assertRead(5, python.run("-c", READ, "sparsify", CASES, out));
        }
    }

    private static void assertRead(int folders, Python.Run read) {
        assertEquals(0, read.exitCode(), read.err());
        assertTrue(read.out().startsWith(folders + " folders, "), read.out());
    }
}
