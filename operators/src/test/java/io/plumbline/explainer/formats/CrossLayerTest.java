package io.plumbline.explainer.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.PublishedCase;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.ActivationFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against what circuit-tracer's own class computes in float64; see the script beside the cases. */
public class CrossLayerTest {

    private static final int LAYERS = 3;

    @TempDir
    Path scratch;

    @ParameterizedTest
    @ValueSource(strings = {"circuit_tracer_clt", "circuit_tracer_clt_relu_bfloat16", "gemma_scope_2_clt"})
    void codesReconstructionsAndFvuOfEachBlockAreThoseOfTheLibrary(String name) throws IOException {
        Path folder = folder(name);
        JsonNode json = new JsonMapper().readTree(folder.resolve("blocks.json").toFile());
        List<Explainer> blocks = Formats.readBlocks(folder.resolve("explainer"), ExplainerOptions.NONE);
        assertEquals(LAYERS, blocks.size());
        try (Safetensors recorded = Safetensors.open(folder.resolve("blocks.safetensors"))) {
            for (int target = 0; target < LAYERS; target++) {
                Explainer block = blocks.get(target);
                ActivationBatch batch = batch(folder, block);
                SparseCodes codes = block.encoder().encode(batch.activations());
                int features = codes.features() / (target + 1);
                Matrix dense = codes.toDense();
                for (int source = 0; source <= target; source++) {
                    Matrix expected = recorded.tensor("codes." + source).toMatrix();
                    for (int i = 0; i < dense.rows(); i++) {
                        for (int j = 0; j < features; j++) {
                            assertEquals(expected.get(i, j), dense.get(i, source * features + j), 1e-6 * 10.0);
                        }
                    }
                }
                Matrix made = block.space()
                        .toTargets(batch.activations(), block.decoder().reconstruct(codes));
                Matrix expected = recorded.tensor("reconstructions." + target).toMatrix();
                for (int i = 0; i < made.values().length; i++) {
                    assertEquals(expected.values()[i], made.values()[i], 1e-5);
                }
                double fvu = json.path("fvu").path(Integer.toString(target)).asDouble();
                assertEquals(fvu, fvu(made, batch.targetRows()), 1e-5 * fvu);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"circuit_tracer_clt", "gemma_scope_2_clt"})
    void aBlockAloneIsTheBlockOfAllAndItsSizesAreKnownBefore(String name) throws IOException {
        Path path = folder(name).resolve("explainer");
        assertEquals(List.of(0, 1, 2), Formats.targets(path, ExplainerOptions.NONE));
        List<Explainer> blocks = Formats.readBlocks(path, ExplainerOptions.NONE);
        for (Explainer block : blocks) {
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
        }
        assertEquals(2, blocks.get(2).requireBlock().target());
        assertEquals(List.of(0, 1), blocks.get(1).requireBlock().sources());
    }

    @ParameterizedTest
    @ValueSource(strings = {"circuit_tracer_clt", "circuit_tracer_clt_relu_bfloat16", "gemma_scope_2_clt"})
    void adaptedBlocksAreReadBackAndTheOthersAreUntouched(String name) throws IOException {
        Path path = folder(name).resolve("explainer");
        List<Explainer> blocks = Formats.readBlocks(path, ExplainerOptions.NONE);
        List<Explainer> changed = List.of(blocks.get(0), blocks.get(2));
        List<Decoder> adapted =
                changed.stream().map(block -> moved(block.decoder())).toList();
        Path out = scratch.resolve("adapted");
        Formats.writeAdapted(changed, adapted, DType.F32, Map.of("plumbline.parent", "abc"), out);
        List<Explainer> back = Formats.readBlocks(out, ExplainerOptions.NONE);
        assertEquals(adapted.get(0), back.get(0).decoder());
        assertEquals(adapted.get(1), back.get(2).decoder());
        assertEquals(blocks.get(1).decoder(), back.get(1).decoder());
        assertNotEquals(blocks.get(0).decoder(), back.get(0).decoder());
        Matrix rows = batch(folder(name), blocks.get(2)).activations();
        assertEquals(blocks.get(2).encoder().encode(rows), back.get(2).encoder().encode(rows));
        assertEquals(blocks.get(2).space(), back.get(2).space());
    }

    @Test
    void theLayerThatIsMeantIsAskedForByTheNameOfTheOption() throws IOException {
        Path path = folder("circuit_tracer_clt").resolve("explainer");
        assertMessage(path, ExplainerOptions.NONE, "writes into the layers 0 to 2", "--explainer-option target=L");
        assertMessage(path, ExplainerOptions.NONE.ofTarget(3), "option target = 3: expected a layer from 0 to 2");
        assertMessage(
                PublishedCase.named("saelens_topk").explainer(),
                ExplainerOptions.NONE.ofTarget(0),
                "option target = 0 has no meaning for SAELens");
    }

    @Test
    void aFolderWithoutALayerOrWithOtherSizesIsRefused() throws IOException {
        Path lacking = copy("circuit_tracer_clt", "lacking");
        Files.delete(lacking.resolve("W_enc_1.safetensors"));
        assertMessage(lacking, ExplainerOptions.NONE.ofTarget(0), "W_enc_1.safetensors is missing");
        Path noDecoder = copy("circuit_tracer_clt", "no-decoder");
        Files.delete(noDecoder.resolve("W_dec_2.safetensors"));
        assertMessage(noDecoder, ExplainerOptions.NONE.ofTarget(0), "W_dec_2.safetensors is missing");
        Path narrow = copy("circuit_tracer_clt", "narrow");
        Files.write(
                narrow.resolve("W_dec_0.safetensors"),
                SafetensorsWriter.create()
                        .addRaw("W_dec_0", DType.F32, new long[] {64, 2, 48}, ByteBuffer.allocate(64 * 2 * 48 * 4))
                        .toBytes());
        assertMessage(narrow, ExplainerOptions.NONE.ofTarget(0), "shape [64, 2, 48], expected [64, 3, 48]");
        Path infinite = copy("circuit_tracer_clt", "infinite");
        ByteBuffer weights = ByteBuffer.allocate(64 * 48 * 4).order(ByteOrder.LITTLE_ENDIAN);
        weights.putFloat(4, Float.NaN);
        Files.write(
                infinite.resolve("W_dec_2.safetensors"),
                SafetensorsWriter.create()
                        .addRaw("W_dec_2", DType.F32, new long[] {64, 1, 48}, weights)
                        .toBytes());
        assertMessage(infinite, ExplainerOptions.NONE.ofTarget(2), "feature 0 writes NaN into target 2");
    }

    @Test
    void aDumpLacksNoLayer() throws IOException {
        Explainer block =
                Formats.read(folder("circuit_tracer_clt").resolve("explainer"), ExplainerOptions.NONE.ofTarget(1));
        Path dump = scratch.resolve("dump.safetensors");
        SafetensorsWriter.create()
                .add("activations.0", DType.F32, Matrix.zeros(4, 48))
                .add("targets.1", DType.F32, Matrix.zeros(4, 48))
                .writeTo(dump);
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> ActivationFile.openBlock(dump, block.requireBlock()))
                        .getMessage());
        assertTrue(message.contains("tensor \"activations.1\" is missing"), message);
    }

    @Test
    void aRequestOfADumpIsARecordOfAllLayers() throws IOException {
        Path folder = folder("circuit_tracer_clt");
        Explainer block = Formats.read(folder.resolve("explainer"), ExplainerOptions.NONE.ofTarget(2));
        try (ActivationFile dump = ActivationFile.open(folder.resolve("blocks.safetensors"))) {
            byte[] record = dump.requestAsRecord(0);
            assertEquals(
                    batch(folder, block),
                    ActivationBlob.parseBlock(record, new KnownHeaders(), block.requireBlock())
                            .batch());
        }
    }

    public static void assertMessage(Path path, ExplainerOptions options, String... parts) {
        String message = String.valueOf(assertThrows(ExplainerFormatException.class, () -> Formats.read(path, options))
                .getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), message);
        }
    }

    public static ActivationBatch batch(Path folder, Explainer block) throws IOException {
        List<ActivationBatch> requests = new ArrayList<>();
        try (ActivationFile dump =
                ActivationFile.openBlock(folder.resolve("blocks.safetensors"), block.requireBlock())) {
            assertEquals(block.inputWidth(), dump.inputWidth());
            assertEquals(1, dump.requests());
            requests.add(dump.request(0));
        }
        return requests.get(0);
    }

    public static double fvu(Matrix made, Matrix targets) {
        double[] mean = new double[targets.columns()];
        for (int i = 0; i < targets.rows(); i++) {
            for (int j = 0; j < mean.length; j++) {
                mean[j] += targets.get(i, j) / targets.rows();
            }
        }
        double error = 0.0;
        double spread = 0.0;
        for (int i = 0; i < targets.rows(); i++) {
            for (int j = 0; j < mean.length; j++) {
                error += Math.pow(targets.get(i, j) - made.get(i, j), 2);
                spread += Math.pow(targets.get(i, j) - mean[j], 2);
            }
        }
        return error / spread;
    }

    /** Exact in float32, and another one everywhere. */
    public static Decoder moved(Decoder decoder) {
        Matrix weights = decoder.weights().toMatrix();
        double[] bias = decoder.bias().clone();
        for (int i = 0; i < weights.values().length; i++) {
            weights.values()[i] = (float) (weights.values()[i] * 1.25 + 0.01);
        }
        for (int i = 0; i < bias.length; i++) {
            bias[i] = (float) (bias[i] + 0.5);
        }
        return new Decoder(weights, bias);
    }

    private Path copy(String name, String to) throws IOException {
        Path out = Files.createDirectory(scratch.resolve(to));
        try (Stream<Path> files = Files.list(folder(name).resolve("explainer"))) {
            for (Path file : files.toList()) {
                Files.copy(file, out.resolve(file.getFileName()));
            }
        }
        return out;
    }

    public static Path folder(String name) {
        try {
            return Path.of(Objects.requireNonNull(CrossLayerTest.class.getResource("/crosslayer"))
                            .toURI())
                    .resolve(name);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
