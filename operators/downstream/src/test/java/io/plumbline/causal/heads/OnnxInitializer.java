package io.plumbline.causal.heads;

import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads a float16 matrix out of a model's initialisers. */
public final class OnnxInitializer {

    private record Field(int number, long value, ByteBuffer block) {}

    private OnnxInitializer() {}

    public static Weights read(Path model, String name) throws IOException {
        for (Field graph : fields(ByteBuffer.wrap(Files.readAllBytes(model)))) {
            for (Field tensor : graph.number() == 7 ? fields(graph.block()) : List.<Field>of()) {
                List<Field> parts = tensor.number() == 5 ? fields(tensor.block()) : List.of();
                if (parts.stream()
                        .anyMatch(part -> part.number() == 8
                                && StandardCharsets.UTF_8
                                        .decode(part.block().duplicate())
                                        .toString()
                                        .equals(name))) {
                    return weights(parts);
                }
            }
        }
        throw new IOException(model + " has no initialiser " + name);
    }

    private static Weights weights(List<Field> parts) {
        List<Integer> shape = new ArrayList<>();
        ByteBuffer raw = ByteBuffer.allocate(0);
        for (Field part : parts) {
            if (part.number() == 1 && part.block().capacity() > 0) {
                ByteBuffer packed = part.block().duplicate();
                while (packed.hasRemaining()) {
                    shape.add((int) varint(packed));
                }
            } else if (part.number() == 1) {
                shape.add((int) part.value());
            } else if (part.number() == 9) {
                raw = part.block().duplicate().order(ByteOrder.LITTLE_ENDIAN);
            }
        }
        byte[] blob = SafetensorsWriter.create()
                .addRaw("W_U", DType.F16, new long[] {shape.get(0), shape.get(1)}, raw)
                .toBytes();
        return Safetensors.parse(blob).tensor("W_U").toWeights();
    }

    private static List<Field> fields(ByteBuffer message) {
        List<Field> fields = new ArrayList<>();
        ByteBuffer bytes = message.duplicate();
        while (bytes.hasRemaining()) {
            long tag = varint(bytes);
            boolean block = (tag & 7) == 2;
            long value = (tag & 7) == 5 ? bytes.getInt() : varint(bytes);
            ByteBuffer content = ByteBuffer.allocate(0);
            if (block) {
                content = bytes.slice(bytes.position(), (int) value);
                bytes.position(bytes.position() + (int) value);
            }
            fields.add(new Field((int) (tag >>> 3), value, content));
        }
        return fields;
    }

    private static long varint(ByteBuffer bytes) {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = bytes.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }
}
