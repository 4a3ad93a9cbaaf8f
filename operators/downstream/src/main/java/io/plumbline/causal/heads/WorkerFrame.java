package io.plumbline.causal.heads;

import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A message between a monitor and a worker: a kind and a safetensors blob.
 *
 * <pre>
 * byte    what
 * 0..3    "PLBW"
 * 4       kind: 1 hello, 2 request, 3 answer, 4 error
 * 5..7    0
 * 8..15   length of the blob, little-endian
 * 16..    the blob
 *
 * kind      from      tensors                                    metadata
 * hello     worker    none                                       protocol ("1"), worker, reads ("activations" or
 *                                                                "targets,residual"), width where it is known
 * request   monitor   activations, or targets and residual:      none
 *                     [T, d] of F32
 * answer    worker    logits [T, V] of F32, F16, BF16 or F64     none
 * error     worker    none                                       error: one sentence
 * </pre>
 *
 * A worker says hello when it is connected to. Then each request has one answer or error, in order. A frame that is
 * none of these, or longer than the reader takes, ends the connection.
 *
 * <p><b>Hostile bytes.</b> A length is compared with the limit, and memory is taken as bytes arrive, at most twice as
 * much as came.
 */
record WorkerFrame(Kind kind, Safetensors blob) {

    static final String PROTOCOL = "1";
    static final int HEADER_BYTES = 16;

    private static final int MAGIC = 'P' | 'L' << 8 | 'B' << 16 | 'W' << 24;
    private static final int FIRST_PIECE = 1 << 16;

    enum Kind {
        HELLO(1),
        REQUEST(2),
        ANSWER(3),
        ERROR(4);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        private static @Nullable Kind of(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }
    }

    /**
     * Reads one frame.
     *
     * @param most bytes of its blob
     * @throws EOFException when the channel ended before its first byte, or within it
     * @throws IOException also when it is no frame, or a longer one
     */
    static WorkerFrame read(ReadableByteChannel channel, long most) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        fill(channel, header);
        Kind kind = Kind.of(header.getInt(4));
        long length = header.getLong(8);
        if (header.getInt(0) != MAGIC || kind == null) {
            throw new IOException("it sent something that is no frame of a worker");
        }
        if (length < 0 || length > most) {
            throw new IOException("it announced %d bytes, at most %d are taken".formatted(length, most));
        }
        try {
            return new WorkerFrame(kind, Safetensors.parse(body(channel, (int) length)));
        } catch (SafetensorsException broken) {
            throw new IOException("it sent no sound safetensors: " + broken.getMessage(), broken);
        }
    }

    private static byte[] body(ReadableByteChannel channel, int length) throws IOException {
        byte[] bytes = new byte[Math.min(length, FIRST_PIECE)];
        int filled = 0;
        while (true) {
            fill(channel, ByteBuffer.wrap(bytes, filled, bytes.length - filled));
            filled = bytes.length;
            if (filled == length) {
                return bytes;
            }
            bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * filled));
        }
    }

    private static void fill(ReadableByteChannel channel, ByteBuffer target) throws IOException {
        while (target.hasRemaining()) {
            if (channel.read(target) < 0) {
                throw new EOFException("it closed the connection");
            }
        }
    }

    /** Writes one frame. */
    static void write(WritableByteChannel channel, Kind kind, SafetensorsWriter blob) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(MAGIC).putInt(kind.code).putLong(blob.bytes()).flip();
        while (header.hasRemaining()) {
            channel.write(header);
        }
        blob.writeTo(channel);
    }
}
