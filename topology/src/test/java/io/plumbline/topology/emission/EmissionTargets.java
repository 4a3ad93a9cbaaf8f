package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.fuzz.FuzzTarget;
import io.plumbline.topology.fuzz.Part;
import io.plumbline.wire.DType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Reads what a subscriber reads of the decoders topic. */
public final class EmissionTargets {

    private static final Decoder DECODER =
            new Decoder(new Matrix(3, 2, new double[] {1, 2, 3, 4, 5, 6}), new double[] {7, 8});

    private EmissionTargets() {}

    public static List<FuzzTarget> all() {
        List<List<byte[]>> published = new ArrayList<>();
        for (DType dtype : List.of(DType.F32, DType.F64)) {
            published.add(published(dtype));
        }
        return List.of(
                FuzzTarget.of(
                        "decoder chunk",
                        Part.BYTES,
                        published.stream().map(parts -> parts.get(1)).toList(),
                        8,
                        DecoderChunk::decode),
                FuzzTarget.of(
                                "decoder manifest",
                                Part.JSON,
                                published.stream().map(parts -> parts.get(3)).toList(),
                                48,
                                DecoderManifest::decode)
                        .weighing(6),
                new FuzzTarget(
                                "decoder assembler",
                                List.of(Part.BYTES, Part.BYTES, Part.BYTES, Part.JSON),
                                published,
                                EmissionTargets::assemble,
                                64)
                        .weighing(2));
    }

    /** Returns key and value of the one chunk, key and value of the manifest. */
    private static List<byte[]> published(DType dtype) {
        List<byte[]> parts = new ArrayList<>();
        for (ProducerRecord<byte[], byte[]> record :
                DecoderRecords.of("decoders", "layer.2", 3, "ab".repeat(32), DECODER, dtype)) {
            parts.add(record.key());
            parts.add(record.value());
        }
        return parts;
    }

    /**
     * Assembles records in the order of the topic, then what a restarted or confused publisher might add; the second
     * step decides.
     */
    private static void assemble(List<byte[]> parts) {
        DecoderSubscription subscription = DecoderSubscription.ofParents(Map.of("layer.2", "ab".repeat(32)));
        try (DecoderAssembler assembler = new DecoderAssembler(subscription, new HeldDecoders())) {
            assembler.accept(parts.get(0), parts.get(1), null);
            DecoderAssembler.Step step = assembler.accept(parts.get(2), parts.get(3), null);
            assembler.accept(parts.get(0), null, null);
            assembler.accept(Arrays.copyOf(parts.get(2), parts.get(2).length / 2), parts.get(3), null);
            assembler.accept(null, parts.get(1), null);
            if (step instanceof DecoderAssembler.Step.Refused refused) {
                throw new IllegalArgumentException(refused.reason());
            }
            if (!(step instanceof DecoderAssembler.Step.Complete)
                    && new String(parts.get(2), StandardCharsets.UTF_8).equals("layer.2")) {
                throw new AssertionError("a manifest was neither served nor refused: " + step);
            }
        }
    }
}
