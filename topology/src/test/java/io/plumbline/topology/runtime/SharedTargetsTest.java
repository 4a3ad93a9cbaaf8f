package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.JointDecoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.HeapUse;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.CapacityEstimate.Deployment;
import io.plumbline.topology.runtime.CapacityEstimate.Part;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the memory of a site with several targets, whose blocks share encoders and are swapped as one decoder. */
class SharedTargetsTest {

    private static final int LAYERS = 6;
    private static final int FEATURES = 2_048;
    private static final int WIDTH = 64;

    @TempDir
    private Path folder;

    @Test
    void theBlocksAndTheirOneDecoderTakeTheHeapThatIsEstimated() throws Exception {
        writeExplainer();
        HeapUse before = HeapUse.now();
        List<Explainer> blocks = Formats.readBlocks(folder.resolve("clt"), ExplainerOptions.NONE);
        List<Decoder> trained = blocks.stream().map(Explainer::decoder).toList();
        List<Decoder> served = List.of(
                JointDecoder.of(trained).join(trained), JointDecoder.of(trained).join(trained));
        long measured = HeapUse.now().since(before);
        long expected = bytes(estimate("auto"), "explainers") + bytes(estimate("auto"), "the one decoder");
        assertTrue(
                Math.abs(measured - expected) < 0.25 * expected,
                "estimated %d bytes, measured %d for %d blocks and %d decoders of all"
                        .formatted(expected, measured, blocks.size(), served.size()));
    }

    @Test
    void furtherBlocksBringDecodersAndNoEncoder() throws Exception {
        writeExplainer();
        long more = bytes(estimate("observe"), "explainers") - bytes(estimate("observe", "5"), "explainers");
        long decoders = (long) Float.BYTES * FEATURES * WIDTH * LAYERS * (LAYERS - 1) / 2;
        // Large arrays take whole regions of the heap: at most twice their size.
        assertTrue(more >= decoders && more <= 2 * decoders, "%d bytes for decoders of %d".formatted(more, decoders));
    }

    @Test
    void aSiteThatIsOnlyWatchedHasNoDecoderOfAll() throws Exception {
        writeExplainer();
        assertEquals(0, bytes(estimate("observe"), "the one decoder"));
        assertTrue(
                bytes(estimate("propose"), "the one decoder") >= 2L * Float.BYTES * LAYERS * FEATURES * LAYERS * WIDTH);
    }

    private CapacityEstimate estimate(String mode) {
        return estimate(mode, "0, 1, 2, 3, 4, 5");
    }

    private CapacityEstimate estimate(String mode, String targets) {
        MonitorConfig config = MonitorConfig.parse("""
                kafka: {bootstrap.servers: "unused:9092"}
                sites:
                  clt: {explainer: clt, targets: [%s], baseline: b, rank: 8, threshold: 1.0, adaptation: {mode: %s}}
                """.formatted(targets, mode), "targets.yaml", folder);
        return CapacityEstimate.of(
                config, new Deployment(1, 1, false, 0), Runtime.getRuntime().maxMemory());
    }

    private static long bytes(CapacityEstimate estimate, String what) {
        return estimate.held().stream()
                .filter(part -> part.what().startsWith(what))
                .mapToLong(Part::bytes)
                .sum();
    }

    private void writeExplainer() throws IOException {
        Path clt = Files.createDirectories(folder.resolve("clt"));
        for (int layer = 0; layer < LAYERS; layer++) {
            int written = LAYERS - layer;
            SafetensorsWriter.create()
                    .add("W_enc_" + layer, DType.F32, Matrix.zeros(FEATURES, WIDTH))
                    .addVector("b_enc_" + layer, DType.F32, new double[FEATURES])
                    .addVector("b_dec_" + layer, DType.F32, new double[WIDTH])
                    .writeTo(clt.resolve("W_enc_%d.safetensors".formatted(layer)));
            ByteBuffer decoder = ByteBuffer.allocate(FEATURES * written * WIDTH * Float.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN);
            SafetensorsWriter.create()
                    .addRaw("W_dec_" + layer, DType.F32, new long[] {FEATURES, written, WIDTH}, decoder)
                    .writeTo(clt.resolve("W_dec_%d.safetensors".formatted(layer)));
        }
        Files.writeString(clt.resolve("config.yaml"), "model_kind: cross_layer_transcoder\n");
    }
}
