package io.plumbline.topology.metrics;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

/**
 * A message of protocol buffers that is filled field by field, with the kinds of fields that OTLP needs.
 *
 * <p>The classes that are generated from OTLP's files and their library are 2.8 MB for four kinds of fields, whose
 * encoding is fixed for good. Not thread-safe.
 */
final class ProtobufMessage {

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH = 2;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    ProtobufMessage put(int field, boolean value) {
        return tag(field, VARINT).varint(value ? 1 : 0);
    }

    ProtobufMessage put(int field, int value) {
        return tag(field, VARINT).varint(value);
    }

    ProtobufMessage put(int field, double value) {
        return fixed(field, Double.doubleToRawLongBits(value));
    }

    ProtobufMessage put(int field, String value) {
        return put(field, value.getBytes(StandardCharsets.UTF_8));
    }

    ProtobufMessage put(int field, ProtobufMessage value) {
        return put(field, value.toByteArray());
    }

    ProtobufMessage put(int field, DoubleStream values) {
        return putAll(field, values.mapToLong(Double::doubleToRawLongBits));
    }

    /** Puts a list of numbers of 64 bits each. */
    ProtobufMessage putAll(int field, LongStream values) {
        ProtobufMessage list = new ProtobufMessage();
        values.forEach(list::fixed);
        return put(field, list);
    }

    /** Puts a number of 64 bits. */
    ProtobufMessage fixed(int field, long value) {
        return tag(field, FIXED64).fixed(value);
    }

    byte[] toByteArray() {
        return bytes.toByteArray();
    }

    ProtobufMessage put(int field, byte[] value) {
        tag(field, LENGTH).varint(value.length);
        bytes.writeBytes(value);
        return this;
    }

    private ProtobufMessage tag(int field, int kind) {
        return varint((field << 3) | kind);
    }

    private ProtobufMessage varint(int value) {
        int rest = value;
        while ((rest & ~0x7f) != 0) {
            bytes.write((rest & 0x7f) | 0x80);
            rest >>>= 7;
        }
        bytes.write(rest);
        return this;
    }

    private ProtobufMessage fixed(long value) {
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            bytes.write((int) (value >>> shift));
        }
        return this;
    }
}
