package io.plumbline.wire;

import io.plumbline.wire.TensorFileException.Fault;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Reads the arguments of a pickle's opcodes, none of them beyond its end. */
final class PickleBytes {

    private final ByteBuffer bytes;

    PickleBytes(ByteBuffer bytes) {
        this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the index of the next byte. */
    int position() {
        return bytes.position();
    }

    /** Reads a text of so many bytes. */
    String text(long length) {
        if (length < 0 || length > bytes.remaining()) {
            throw bad("a string of %d bytes, %d are left".formatted(length, bytes.remaining()));
        }
        byte[] text = new byte[(int) length];
        bytes.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Reads up to the end of a line. */
    String line() {
        StringBuilder line = new StringBuilder();
        for (int next = unsignedByte(); next != '\n'; next = unsignedByte()) {
            line.append((char) next);
        }
        return line.toString();
    }

    /** Reads an integer with its length before it, at most 8 bytes. */
    Long integer() {
        int length = unsignedByte();
        if (length > Long.BYTES) {
            throw bad("an integer of %d bytes".formatted(length));
        }
        ByteBuffer digits = fixed(length);
        long value = 0;
        for (int i = 0; i < length; i++) {
            value |= (digits.get(i) & 0xFFL) << (8 * i);
        }
        int unused = Long.SIZE - 8 * length;
        return length == 0 ? 0L : value << unused >> unused;
    }

    void skip(int count) {
        fixed(count);
    }

    /** Reads so many bytes, little-endian. */
    ByteBuffer fixed(int count) {
        if (bytes.remaining() < count) {
            throw bad("it is cut off");
        }
        ByteBuffer part = bytes.slice(bytes.position(), count).order(ByteOrder.LITTLE_ENDIAN);
        bytes.position(bytes.position() + count);
        return part;
    }

    int unsignedByte() {
        return fixed(1).get() & 0xFF;
    }

    long unsignedInt() {
        return fixed(Integer.BYTES).getInt() & 0xFFFFFFFFL;
    }

    /** Returns the refusal of a pickle that is broken here. */
    TensorFileException bad(String what) {
        return new TensorFileException(
                Fault.BAD_PICKLE, "the pickle is broken at byte %d: %s".formatted(bytes.position(), what));
    }
}
