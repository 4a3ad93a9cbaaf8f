package io.plumbline.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Builds a safetensors blob.
 *
 * <p>Tensors are stored by descending element size, otherwise in the order they were added, and the header is padded
 * with spaces to 8 bytes, so every element is aligned and equal calls give equal bytes. Doubles are narrowed as
 * {@link DType} says. Arrays and buffers are held, not copied, until the blob is written.
 *
 * <p>Not thread-safe.
 */
public final class SafetensorsWriter {

    private static final JsonFactory JSON = new JsonFactory();
    private static final int CHUNK_BYTES = 1 << 16;

    /** The content of a tensor; asked for its bytes only when the blob is written. */
    private interface Content {
        void writeTo(WritableByteChannel channel) throws IOException;
    }

    private record Pending(String name, DType dtype, long[] shape, long bytes, Content content) {}

    private final Map<String, String> metadata = new LinkedHashMap<>();
    private final List<Pending> tensors = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private boolean isSealed;

    private SafetensorsWriter() {}

    public static SafetensorsWriter create() {
        return new SafetensorsWriter();
    }

    public SafetensorsWriter metadata(String key, String value) {
        requireOpen(key);
        metadata.put(key, value);
        return this;
    }

    /** Adds a {@code [rows, columns]} tensor of a float type. */
    public SafetensorsWriter add(String name, DType dtype, Matrix matrix) {
        return addDoubles(name, dtype, matrix.values(), matrix.rows(), matrix.columns());
    }

    /** Adds a {@code [rows, columns]} tensor of a float type. */
    public SafetensorsWriter add(String name, DType dtype, Weights weights) {
        requireFloatingPoint(name, dtype);
        return add(name, dtype, new long[] {weights.rows(), weights.columns()}, channel -> {
            ByteBuffer chunk = chunk();
            int most = CHUNK_BYTES / Double.BYTES;
            double[] some = new double[most];
            int length = weights.rows() * weights.columns();
            for (int from = 0; from < length; from += most) {
                int count = Math.min(most, length - from);
                if (dtype == DType.F32) {
                    weights.putFloats(from, count, chunk);
                } else {
                    weights.copyTo(from, some, 0, count);
                    for (int i = 0; i < count; i++) {
                        dtype.put(chunk, some[i]);
                    }
                }
                drain(chunk, channel);
            }
        });
    }

    /** Adds a {@code [length]} tensor of a float type. */
    public SafetensorsWriter addVector(String name, DType dtype, double[] values) {
        return addDoubles(name, dtype, values, values.length);
    }

    /** Adds a {@code [length]} tensor of I64. */
    public SafetensorsWriter addLongs(String name, long... values) {
        return add(name, DType.I64, new long[] {values.length}, channel -> {
            ByteBuffer chunk = chunk();
            for (long value : values) {
                drainIfFull(chunk, channel, Long.BYTES);
                chunk.putLong(value);
            }
            drain(chunk, channel);
        });
    }

    /** Adds bytes as they are; the buffer's remaining bytes must be what the shape needs. */
    public SafetensorsWriter addRaw(String name, DType dtype, long[] shape, ByteBuffer bytes) {
        return addRaw(name, dtype, shape, List.of(bytes));
    }

    /** Adds bytes as they are, in pieces one behind the other, as {@link Tensor#pieces} has them. */
    public SafetensorsWriter addRaw(String name, DType dtype, long[] shape, List<ByteBuffer> pieces) {
        List<ByteBuffer> content = pieces.stream().map(ByteBuffer::slice).toList();
        add(name, dtype, shape.clone(), channel -> {
            for (ByteBuffer piece : content) {
                writeFully(channel, piece.duplicate());
            }
        });
        long given = content.stream().mapToLong(ByteBuffer::capacity).sum();
        if (tensors.get(tensors.size() - 1).bytes() != given) {
            throw new IllegalArgumentException("tensor \"%s\": shape %s of %s does not fit %d bytes"
                    .formatted(name, Arrays.toString(shape), dtype, given));
        }
        return this;
    }

    /**
     * Adds {@code content_sha256} to the metadata: SHA-256 over everything that was added, by which a reader finds
     * every flipped bit ({@link Safetensors#requireUnchanged}). Nothing may be added afterwards. Reads all tensors once
     * more.
     */
    public SafetensorsWriter sealed() {
        List<Pending> byName = new ArrayList<>(tensors);
        byName.sort(Comparator.comparing(Pending::name));
        ContentHash hash = ContentHash.of(metadata, byName.size());
        try {
            for (Pending tensor : byName) {
                hash.tensor(
                        tensor.name(),
                        tensor.dtype(),
                        Arrays.stream(tensor.shape()).boxed().toList(),
                        tensor.bytes());
                tensor.content().writeTo(hash);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        metadata.put(ContentHash.KEY, hash.hex());
        isSealed = true;
        return this;
    }

    /** The blob in memory; at most 2 GiB. */
    public byte[] toBytes() {
        byte[] header = header();
        long total = bytes(header);
        if (total > Integer.MAX_VALUE - 8) {
            throw new IllegalStateException("a blob of " + total + " bytes does not fit memory; write it to a file");
        }
        ByteBuffer blob = ByteBuffer.allocate((int) total);
        try {
            ByteSink room = blob::put;
            write(header, room);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return blob.array();
    }

    /** Length of the blob; only the header is made for it. */
    public long bytes() {
        return bytes(header());
    }

    private long bytes(byte[] header) {
        long total = header.length;
        for (Pending tensor : tensors) {
            total += tensor.bytes();
        }
        return total;
    }

    /**
     * Writes the blob to a channel in pieces of at most 64 KiB, so that one of any size needs no more memory than that;
     * tensors added raw are written at one go. The same bytes each time, as long as nothing is added or changed.
     */
    public void writeTo(WritableByteChannel channel) throws IOException {
        write(header(), channel);
    }

    /**
     * Writes the blob to a file that is either whole or not there: a temporary file beside it, flushed to the disk,
     * takes its place in one step. An older file stays in place when this fails.
     *
     * @throws IOException with the path and the reason, for instance a full disk
     */
    public void writeTo(Path path) throws IOException {
        AtomicFile.write(path, this::writeTo);
    }

    private SafetensorsWriter addDoubles(String name, DType dtype, double[] values, long... shape) {
        requireFloatingPoint(name, dtype);
        return add(name, dtype, shape, channel -> {
            ByteBuffer chunk = chunk();
            for (double value : values) {
                drainIfFull(chunk, channel, dtype.bytes());
                dtype.put(chunk, value);
            }
            drain(chunk, channel);
        });
    }

    private static void requireFloatingPoint(String name, DType dtype) {
        if (!dtype.isFloatingPoint()) {
            throw new IllegalArgumentException("tensor \"%s\": doubles cannot be written as %s".formatted(name, dtype));
        }
    }

    private SafetensorsWriter add(String name, DType dtype, long[] shape, Content content) {
        requireOpen(name);
        if (name.equals(SafetensorsHeader.METADATA) || !names.add(name)) {
            throw new IllegalArgumentException("tensor \"" + name + "\" is already there, or the name is reserved");
        }
        long bytes = dtype.bytes();
        for (long size : shape) {
            bytes = Math.multiplyExact(bytes, size);
        }
        tensors.add(new Pending(name, dtype, shape, bytes, content));
        return this;
    }

    private void requireOpen(String name) {
        if (isSealed) {
            throw new IllegalStateException("\"%s\" comes after the checksum".formatted(name));
        }
    }

    private void write(byte[] header, WritableByteChannel channel) throws IOException {
        writeFully(channel, ByteBuffer.wrap(header));
        for (Pending tensor : inStorageOrder()) {
            tensor.content().writeTo(channel);
        }
    }

    private List<Pending> inStorageOrder() {
        List<Pending> ordered = new ArrayList<>(tensors);
        ordered.sort(Comparator.comparingInt((Pending tensor) -> -tensor.dtype().bytes()));
        return ordered;
    }

    private byte[] header() {
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        try (JsonGenerator generator = JSON.createGenerator(json)) {
            generator.writeStartObject();
            if (!metadata.isEmpty()) {
                generator.writeObjectFieldStart(SafetensorsHeader.METADATA);
                for (Map.Entry<String, String> entry : metadata.entrySet()) {
                    generator.writeStringField(entry.getKey(), entry.getValue());
                }
                generator.writeEndObject();
            }
            long begin = 0;
            for (Pending tensor : inStorageOrder()) {
                generator.writeObjectFieldStart(tensor.name());
                generator.writeStringField("dtype", tensor.dtype().name());
                writeLongs(generator, "shape", tensor.shape());
                writeLongs(generator, "data_offsets", begin, begin + tensor.bytes());
                generator.writeEndObject();
                begin += tensor.bytes();
            }
            generator.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int length = json.size() + 7 & ~7;
        ByteBuffer header =
                ByteBuffer.allocate(SafetensorsHeader.LENGTH_BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(length).put(json.toByteArray());
        Arrays.fill(header.array(), header.position(), header.capacity(), (byte) ' ');
        return header.array();
    }

    private static void writeLongs(JsonGenerator generator, String name, long... values) throws IOException {
        generator.writeFieldName(name);
        generator.writeArray(values, 0, values.length);
    }

    private static ByteBuffer chunk() {
        return ByteBuffer.allocate(CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void drainIfFull(ByteBuffer chunk, WritableByteChannel channel, int needed) throws IOException {
        if (chunk.remaining() < needed) {
            drain(chunk, channel);
        }
    }

    private static void drain(ByteBuffer chunk, WritableByteChannel channel) throws IOException {
        chunk.flip();
        writeFully(channel, chunk);
        chunk.clear();
    }

    static void writeFully(WritableByteChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
