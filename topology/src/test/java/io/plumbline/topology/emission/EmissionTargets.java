package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.MadeUpFactors;
import io.plumbline.factored.MadeUpFactors.Form;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.fuzz.FuzzTarget;
import io.plumbline.topology.fuzz.Part;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Reads what a subscriber reads of the decoders topic. */
public final class EmissionTargets {

    private static final Decoder DECODER =
            new Decoder(new Matrix(3, 2, new double[] {1, 2, 3, 4, 5, 6}), new double[] {7, 8});

    private static final Decoder TRAINED = MadeUpFactors.trained(9, 3);

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
                FuzzTarget.of(
                                "decoder factors",
                                Part.BYTES,
                                Stream.of(Form.values())
                                        .map(EmissionTargets::factors)
                                        .toList(),
                                16,
                                EmissionTargets::openFactors)
                        .weighing(2),
                new FuzzTarget(
                                "decoder assembler",
                                List.of(Part.BYTES, Part.BYTES, Part.BYTES, Part.JSON),
                                published,
                                EmissionTargets::assemble,
                                64)
                        .weighing(2));
    }

    private static byte[] factors(Form form) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        FactorTensors.add(MadeUpFactors.of(form, TRAINED, 2, 4, 3), writer);
        return writer.toBytes();
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
            assembler.accept(parts.get(0), parts.get(1));
            DecoderAssembler.Step step = assembler.accept(parts.get(2), parts.get(3));
            assembler.accept(parts.get(0), null);
            assembler.accept(Arrays.copyOf(parts.get(2), parts.get(2).length / 2), parts.get(3));
            assembler.accept(null, parts.get(1));
            if (step instanceof DecoderAssembler.Step.Refused refused) {
                throw new IllegalArgumentException(refused.reason());
            }
            if (!(step instanceof DecoderAssembler.Step.Complete)
                    && new String(parts.get(2), StandardCharsets.UTF_8).equals("layer.2")) {
                throw new AssertionError("a manifest was neither served nor refused: " + step);
            }
        }
    }

    /** Opens factors like {@link ArtefactReader}: a weight that no float holds is a refusal. */
    private static void openFactors(byte[] blob) {
        try {
            var unused = FactorTensors.read(Safetensors.parse(blob), TRAINED).of(TRAINED);
        } catch (ArithmeticException beyondFloats) {
            throw new IllegalArgumentException(beyondFloats.getMessage(), beyondFloats);
        }
    }
}
