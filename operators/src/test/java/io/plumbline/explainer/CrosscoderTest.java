package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.explainer.formats.CrossLayerTest;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import io.plumbline.records.TargetBlock;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Crosscoders, and OpenMOSS' cross-layer transcoders: against what OpenMOSS' own classes compute in float64, and for
 * Gemma Scope 2, for whose crosscoders no library was found, against the definition in numpy. See the scripts beside
 * the cases.
 */
class CrosscoderTest {

    private static final List<Integer> NUMBERS = List.of(5, 9, 12);

    @TempDir
    Path scratch;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gemma_scope_2_crosscoder",
                "openmoss_crosscoder_jumprelu",
                "openmoss_crosscoder_relu",
                "openmoss_crosscoder_topk",
                "openmoss_clt_jumprelu",
                "openmoss_clt_topk"
            })
    void codesReconstructionsAndFvuOfEachBlockAreThoseOfTheLibrary(String name) throws IOException {
        Path folder = CrossLayerTest.folder(name);
        JsonNode json = new JsonMapper().readTree(folder.resolve("blocks.json").toFile());
        List<Explainer> blocks = Formats.readBlocks(folder.resolve("explainer"), ExplainerOptions.NONE);
        assertEquals(NUMBERS, Formats.targets(folder.resolve("explainer"), ExplainerOptions.NONE));
        assertEquals(NUMBERS.size(), blocks.size());
        try (Safetensors recorded = Safetensors.open(folder.resolve("blocks.safetensors"))) {
            for (int layer = 0; layer < NUMBERS.size(); layer++) {
                int number = NUMBERS.get(layer);
                Explainer block = blocks.get(layer);
                ActivationBatch batch = CrossLayerTest.batch(folder, block);
                SparseCodes codes = block.encoder().encode(batch.activations());
                Matrix expected = recorded.tensor("codes." + number).toMatrix();
                // The codes of the block's own layer: all of a crosscoder of OpenMOSS, the last of the others.
                int before = codes.features() - expected.columns();
                Matrix dense = codes.toDense();
                for (int i = 0; i < dense.rows(); i++) {
                    for (int j = 0; j < expected.columns(); j++) {
                        double code = dense.get(i, before + j);
                        if (name.endsWith("topk")) {
                            // These have the length of the decoder's row folded in.
                            assertEquals(expected.get(i, j) != 0.0, code != 0.0, "row %d, feature %d".formatted(i, j));
                        } else {
                            assertEquals(expected.get(i, j), code, 1e-9);
                        }
                    }
                }
                Matrix made = block.decoder().reconstruct(codes);
                Matrix theirs = recorded.tensor("reconstructions." + number).toMatrix();
                assertArrayEquals(theirs.values(), made.values(), 1e-9);
                double fvu = json.path("fvu").path(Integer.toString(number)).asDouble();
                assertEquals(fvu, CrossLayerTest.fvu(made, batch.targetRows()), 1e-9);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gemma_scope_2_crosscoder",
                "openmoss_crosscoder_jumprelu",
                "openmoss_crosscoder_topk",
                "openmoss_clt_jumprelu",
                "openmoss_clt_topk"
            })
    void aBlockAloneIsTheBlockOfAllAndItsSizesAreKnownBefore(String name) throws IOException {
        Path path = CrossLayerTest.folder(name).resolve("explainer");
        for (Explainer block : Formats.readBlocks(path, ExplainerOptions.NONE)) {
            ExplainerOptions options = block.origin().options();
            Explainer alone = Formats.read(path, options);
            assertEquals(block.decoder(), alone.decoder());
            assertEquals(block.block(), alone.block());
            Matrix rows = Matrix.identity(block.inputWidth());
            assertEquals(block.encoder().encode(rows), alone.encoder().encode(rows));
            ExplainerShape shape = Formats.shape(path, options);
            assertEquals(block.inputWidth(), shape.inputWidth());
            assertEquals(block.features(), shape.features());
            assertEquals(block.targetWidth(), shape.targetWidth());
            assertTrue(shape.transcoder() && block.isTranscoder());
            int most = name.equals("openmoss_crosscoder_topk") ? 6 : 4 * (NUMBERS.indexOf(target(block)) + 1);
            assertEquals(name.endsWith("topk") ? most : block.features(), shape.mostActive());
            assertTrue(!shape.floats() || alone.decoder().weights().areFloats());
        }
    }

    @Test
    void aCrosscoderOfOpenMossReadsAllLayersAndOneOfGemmaScopeThoseUpToItsOwn() throws IOException {
        List<Explainer> all = blocks("openmoss_crosscoder_jumprelu");
        assertEquals(new TargetBlock(5, NUMBERS, true), all.get(0).requireBlock());
        assertEquals("jumprelu_crosscoder", all.get(0).architecture());
        List<Explainer> causal = blocks("gemma_scope_2_crosscoder");
        assertEquals(new TargetBlock(9, List.of(5, 9), true), causal.get(1).requireBlock());
        assertEquals("jumprelu_crosscoder", causal.get(1).architecture());
        assertEquals(
                new TargetBlock(9, List.of(5, 9), false),
                blocks("openmoss_clt_jumprelu").get(1).requireBlock());
    }

    @Test
    void anAdaptedCrosscoderOfGemmaScopeKeepsItsFormatCodesAndOtherBlocks() throws IOException {
        List<Explainer> blocks = blocks("gemma_scope_2_crosscoder");
        List<Explainer> changed = List.of(blocks.get(0), blocks.get(2));
        List<Decoder> adapted = changed.stream()
                .map(block -> CrossLayerTest.moved(block.decoder()))
                .toList();
        Path out = scratch.resolve("adapted");
        Formats.writeAdapted(changed, adapted, DType.F32, Map.of(), out);
        List<Explainer> back = Formats.readBlocks(out, ExplainerOptions.NONE);
        assertEquals(adapted.get(0), back.get(0).decoder());
        assertEquals(blocks.get(1).decoder(), back.get(1).decoder());
        assertEquals(adapted.get(1), back.get(2).decoder());
        assertEquals(blocks.get(2).block(), back.get(2).block());
        assertSameCodes(blocks.get(2), back.get(2), "gemma_scope_2_crosscoder", 0.0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"F32", "F64"})
    void anAdaptedCrossLayerTranscoderOfOpenMossKeepsItsFormatCodesAndOtherBlocks(DType dtype) throws IOException {
        List<Explainer> blocks = blocks("openmoss_clt_jumprelu");
        List<Explainer> changed = List.of(blocks.get(0), blocks.get(2));
        List<Decoder> adapted = changed.stream()
                .map(block -> CrossLayerTest.moved(block.decoder()))
                .toList();
        Path out = scratch.resolve("adapted");
        Formats.writeAdapted(changed, adapted, dtype, Map.of("plumbline.parent", "abc"), out);
        List<Explainer> back = Formats.readBlocks(out, ExplainerOptions.NONE);
        assertNear(adapted.get(0), back.get(0).decoder(), dtype);
        assertEquals(blocks.get(1).decoder(), back.get(1).decoder());
        assertNear(adapted.get(1), back.get(2).decoder(), dtype);
        assertNotEquals(blocks.get(2).decoder(), back.get(2).decoder());
        for (int i = 0; i < blocks.size(); i++) {
            assertSameCodes(blocks.get(i), back.get(i), "openmoss_clt_jumprelu", 0.0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"openmoss_crosscoder_jumprelu", "openmoss_crosscoder_relu"})
    void anAdaptedCrosscoderOfOpenMossIsATranscoderOfSaeLensForEachLayer(String name) throws IOException {
        List<Explainer> blocks = blocks(name);
        List<Decoder> adapted = blocks.stream()
                .map(block -> CrossLayerTest.moved(block.decoder()))
                .toList();
        Path out = scratch.resolve("adapted");
        Formats.writeAdapted(blocks, adapted, DType.F32, Map.of(), out);
        for (int i = 0; i < blocks.size(); i++) {
            Explainer back = Formats.read(out.resolve("targets." + NUMBERS.get(i)));
            assertEquals(adapted.get(i), back.decoder());
            assertEquals(
                    name.endsWith("relu") && !name.endsWith("jumprelu") ? "transcoder" : "jumprelu_transcoder",
                    back.architecture());
            assertSameCodes(blocks.get(i), back, name, 1e-5);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"openmoss_crosscoder_topk", "openmoss_clt_topk"})
    void whereAnotherDecoderWouldChooseOtherFeaturesItIsWatchedAndNotRefitted(String name) throws IOException {
        Explainer block = blocks(name).get(1);
        String message = String.valueOf(assertThrows(
                        ExplainerFormatException.class,
                        () -> Formats.writeAdapted(
                                block,
                                CrossLayerTest.moved(block.decoder()),
                                DType.F32,
                                Map.of(),
                                scratch.resolve("out")))
                .getMessage());
        assertTrue(message.contains("is watched and not refitted") && message.contains("jumprelu"), message);
    }

    @Test
    void theLayerThatIsMeantIsAskedForByItsNumberInTheModel() throws IOException {
        Path path = CrossLayerTest.folder("openmoss_crosscoder_jumprelu").resolve("explainer");
        CrossLayerTest.assertMessage(
                path,
                ExplainerOptions.NONE,
                "a crosscoder, which writes into the layers 5, 9, 12",
                "--explainer-option target=L");
        CrossLayerTest.assertMessage(
                path, ExplainerOptions.NONE.ofTarget(6), "option target = 6: expected a layer from 5, 9, 12");
    }

    @Test
    void aDumpOfACrosscoderNeedsNoTargetsAndTakesNone() throws IOException {
        TargetBlock block = new TargetBlock(9, List.of(5, 9), true);
        Path dump = scratch.resolve("dump.safetensors");
        SafetensorsWriter.create()
                .add("activations.5", DType.F32, Matrix.zeros(4, 16))
                .add("activations.9", DType.F32, Matrix.identity(4))
                .writeTo(dump);
        try (ActivationFile file = ActivationFile.openBlock(dump, block)) {
            assertEquals(20, file.inputWidth());
            assertEquals(Matrix.identity(4), file.request(0).targetRows());
        }
        Path both = scratch.resolve("both.safetensors");
        SafetensorsWriter.create()
                .add("activations.5", DType.F32, Matrix.zeros(4, 16))
                .add("activations.9", DType.F32, Matrix.identity(4))
                .add("targets.9", DType.F32, Matrix.identity(4))
                .writeTo(both);
        String message =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> ActivationFile.openBlock(both, block))
                        .getMessage());
        assertTrue(message.contains("a crosscoder reproduces the rows it reads, \"activations.9\""), message);
    }

    private static List<Explainer> blocks(String name) throws IOException {
        return Formats.readBlocks(CrossLayerTest.folder(name).resolve("explainer"), ExplainerOptions.NONE);
    }

    private static int target(Explainer block) {
        return block.requireBlock().target();
    }

    private static void assertSameCodes(Explainer before, Explainer after, String name, double tolerance)
            throws IOException {
        Matrix rows = CrossLayerTest.batch(CrossLayerTest.folder(name), before).activations();
        SparseCodes expected = before.encoder().encode(rows);
        SparseCodes codes = after.encoder().encode(rows);
        assertArrayEquals(expected.rowStart(), codes.rowStart());
        assertArrayEquals(expected.feature(), codes.feature());
        assertArrayEquals(expected.value(), codes.value(), tolerance);
        assertTrue(expected.nonZeros() > rows.rows());
    }

    /** Written times the scale of the layer: the digits of the type, and no more. */
    private static void assertNear(Decoder expected, Decoder decoder, DType dtype) {
        double digits = dtype == DType.F32 ? 2e-7 : 1e-15;
        for (int i = 0; i < expected.features(); i++) {
            for (int j = 0; j < expected.dimension(); j++) {
                double value = expected.weights().get(i, j);
                assertEquals(value, decoder.weights().get(i, j), digits * Math.abs(value) + 1e-300);
            }
        }
    }
}
