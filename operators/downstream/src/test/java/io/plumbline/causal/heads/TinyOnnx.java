package io.plumbline.causal.heads;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes small ONNX models, right and wrong ones, field by field. */
public final class TinyOnnx {

    static final int FLOAT = 1;
    static final int INT64 = 7;
    static final int BOOL = 9;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** Writes a model of one graph, opset 17. */
    static void write(Path file, TinyOnnx graph) throws IOException {
        Files.write(
                file,
                new TinyOnnx()
                        .number(1, 8)
                        .message(8, new TinyOnnx().text(1, "").number(2, 17))
                        .message(7, graph)
                        .bytes
                        .toByteArray());
    }

    /** Returns {@code logits = activations W}, with d x V weights that are all {@code value}. */
    static TinyOnnx linear(int width, int vocabulary, float value) {
        return graph().node(node("MatMul", "activations", "W").text(2, "logits"))
                .message(5, weights("W", width, vocabulary, value))
                .input("activations", FLOAT, -1, width)
                .output("logits", FLOAT, -1, vocabulary);
    }

    /** Runs for ever. */
    static TinyOnnx endless(int width) {
        TinyOnnx body = graph().node(node("Identity", "go").text(2, "on"))
                .node(node("Identity", "x").text(2, "y"))
                .input("i", INT64)
                .input("go", BOOL)
                .input("x", FLOAT, -1, width)
                .output("on", BOOL)
                .output("y", FLOAT, -1, width);
        return graph().node(node("Loop", "times", "yes", "activations")
                        .text(2, "logits")
                        .message(
                                5,
                                new TinyOnnx().text(1, "body").message(6, body).number(20, 5)))
                .message(5, scalar("times", INT64, Long.MAX_VALUE))
                .message(5, scalar("yes", BOOL, 1))
                .input("activations", FLOAT, -1, width)
                .output("logits", FLOAT, -1, width);
    }

    static TinyOnnx graph() {
        return new TinyOnnx().text(2, "tiny");
    }

    static TinyOnnx node(String operator, String... inputs) {
        TinyOnnx node = new TinyOnnx().text(4, operator);
        for (String input : inputs) {
            node.text(1, input);
        }
        return node;
    }

    static TinyOnnx weights(String name, int rows, int columns, float value) {
        ByteBuffer raw = ByteBuffer.allocate(Float.BYTES * rows * columns).order(ByteOrder.LITTLE_ENDIAN);
        while (raw.hasRemaining()) {
            raw.putFloat(value);
        }
        return new TinyOnnx()
                .number(1, rows)
                .number(1, columns)
                .number(2, FLOAT)
                .text(8, name)
                .block(9, raw.array());
    }

    static TinyOnnx scalar(String name, int type, long value) {
        ByteBuffer raw = ByteBuffer.allocate(type == BOOL ? 1 : Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return new TinyOnnx()
                .number(2, type)
                .text(8, name)
                .block(
                        9,
                        type == BOOL
                                ? raw.put((byte) value).array()
                                : raw.putLong(value).array());
    }

    TinyOnnx node(TinyOnnx node) {
        return message(1, node);
    }

    TinyOnnx input(String name, int type, int... shape) {
        return message(11, value(name, type, shape));
    }

    TinyOnnx output(String name, int type, int... shape) {
        return message(12, value(name, type, shape));
    }

    private static TinyOnnx value(String name, int type, int... shape) {
        TinyOnnx dimensions = new TinyOnnx();
        for (int size : shape) {
            dimensions.message(1, size < 0 ? new TinyOnnx().text(2, "T") : new TinyOnnx().number(1, size));
        }
        TinyOnnx tensor = new TinyOnnx().number(1, type).message(2, dimensions);
        return new TinyOnnx().text(1, name).message(2, new TinyOnnx().message(1, tensor));
    }

    TinyOnnx number(int field, long value) {
        varint((long) field << 3);
        varint(value);
        return this;
    }

    TinyOnnx text(int field, String value) {
        return block(field, value.getBytes(StandardCharsets.UTF_8));
    }

    TinyOnnx message(int field, TinyOnnx message) {
        return block(field, message.bytes.toByteArray());
    }

    TinyOnnx block(int field, byte[] value) {
        varint(((long) field << 3) | 2);
        varint(value.length);
        bytes.writeBytes(value);
        return this;
    }

    private void varint(long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            bytes.write((int) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        bytes.write((int) left);
    }
}
