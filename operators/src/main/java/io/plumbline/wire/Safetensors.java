package io.plumbline.wire;

import io.plumbline.wire.SafetensorsException.Fault;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A read safetensors blob: named tensors and string metadata.
 *
 * <p><b>Hostile bytes.</b> Every length, offset and shape is compared with the size of the blob before anything is
 * allocated by it, and each way a blob can be wrong has a name, {@link SafetensorsException.Fault}. The tensors must
 * tile the data exactly, so no byte is hidden and none is read twice.
 *
 * <p><b>Cost.</b> Opening reads the header only. {@link #tensor} maps one tensor (file), in pieces where it is beyond
 * 1 GiB, or takes a view (memory).
 *
 * <p>Thread-safe.
 */
public final class Safetensors implements TensorFile {

    /** The number of bytes that are read at once for the checksum. */
    private static final int PIECE = 1 << 20;

    private final SafetensorsHeader header;
    private final long dataStart;
    private final @Nullable ByteBuffer memory;
    private final @Nullable FileChannel file;

    /** The file of each tensor, where they lie in several; else empty. */
    private final Map<String, Safetensors> shards;

    private Safetensors(
            SafetensorsHeader header, long dataStart, @Nullable ByteBuffer memory, @Nullable FileChannel file) {
        this.header = header;
        this.dataStart = dataStart;
        this.memory = memory;
        this.file = file;
        this.shards = Map.of();
    }

    private Safetensors(Map<String, Safetensors> shards) {
        this.header = SafetensorsHeader.NONE;
        this.dataStart = 0;
        this.memory = null;
        this.file = null;
        this.shards = Collections.unmodifiableMap(shards);
    }

    /** Reads a blob in memory; the array is not copied and must not be changed afterwards. */
    public static Safetensors parse(byte[] blob) {
        return parse(ByteBuffer.wrap(blob));
    }

    /** Reads the buffer's remaining bytes; its position does not move. */
    public static Safetensors parse(ByteBuffer blob) {
        ByteBuffer bytes = blob.slice().order(ByteOrder.LITTLE_ENDIAN);
        SafetensorsHeader.requireLengthField(bytes.capacity());
        byte[] json = new byte
                [SafetensorsHeader.checkedLength(bytes.getLong(0), bytes.capacity(), SafetensorsHeader.LONGEST_HEADER)];
        bytes.get(SafetensorsHeader.LENGTH_BYTES, json);
        int dataStart = SafetensorsHeader.LENGTH_BYTES + json.length;
        return new Safetensors(SafetensorsHeader.parse(json, bytes.capacity() - dataStart), dataStart, bytes, null);
    }

    /**
     * Reads one of many blobs in memory.
     *
     * @param longestHeader a cap on the header, whose entries take some ten times their bytes
     */
    public static Safetensors parse(byte[] blob, long longestHeader, KnownHeaders known) {
        ByteBuffer bytes = ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN);
        SafetensorsHeader.requireLengthField(blob.length);
        int headerBytes = SafetensorsHeader.checkedLength(bytes.getLong(0), blob.length, longestHeader);
        return new Safetensors(
                known.header(blob, headerBytes), SafetensorsHeader.LENGTH_BYTES + headerBytes, bytes, null);
    }

    /**
     * Opens a file.
     *
     * @throws SafetensorsException when the content is wrong, or the file is of another kind; the message begins with
     *     the path
     */
    public static Safetensors open(Path path) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
        try {
            return open(channel);
        } catch (SafetensorsException e) {
            String kind = FileKind.of(channel);
            channel.close();
            throw kind.isEmpty()
                    ? new SafetensorsException(e.fault(), path + ": " + e.getMessage(), e)
                    : new SafetensorsException(
                            Fault.OTHER_FILE, "%s: expected safetensors; this is %s".formatted(path, kind), e);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /**
     * Opens the tensors of several files, {@code NAME-00001-of-00002.safetensors}, by their index {@code
     * NAME.safetensors.index.json}. They have no metadata.
     *
     * @throws SafetensorsException when one is missing, or they do not fit together; the message begins with the path
     */
    public static Safetensors openShards(Path index) throws IOException {
        return new Safetensors(ShardIndex.read(index).open());
    }

    /** Reads a file that is open; its position does not move, and {@link #close} closes it. */
    public static Safetensors open(FileChannel channel) throws IOException {
        long size = channel.size();
        SafetensorsHeader.requireLengthField(size);
        ByteBuffer length = read(channel, 0, SafetensorsHeader.LENGTH_BYTES);
        int headerBytes = SafetensorsHeader.checkedLength(length.getLong(0), size, SafetensorsHeader.LONGEST_HEADER);
        byte[] json = read(channel, SafetensorsHeader.LENGTH_BYTES, headerBytes).array();
        long dataStart = (long) SafetensorsHeader.LENGTH_BYTES + headerBytes;
        return new Safetensors(SafetensorsHeader.parse(json, size - dataStart), dataStart, null, channel);
    }

    public Map<String, String> metadata() {
        return header.metadata();
    }

    /** Tensor names in the order of the header. */
    @Override
    public Set<String> names() {
        return shards.isEmpty() ? header.entries().keySet() : shards.keySet();
    }

    @Override
    public boolean contains(String name) {
        return names().contains(name);
    }

    @Override
    public Tensor tensor(String name) {
        Safetensors shard = shards.get(name);
        return shard == null ? tensor(entry(name)) : shard.tensor(name);
    }

    /** Returns the shape of a tensor, of any size. */
    public List<Long> shape(String name) {
        Safetensors shard = shards.get(name);
        return shard == null ? entry(name).shape() : shard.shape(name);
    }

    /**
     * Returns one entry of a tensor's first dimension. Only that part is mapped.
     *
     * @throws IndexOutOfBoundsException where the tensor has no such entry
     */
    public Tensor part(String name, int index) {
        Safetensors shard = shards.get(name);
        if (shard != null) {
            return shard.part(name, index);
        }
        TensorEntry whole = entry(name);
        List<Long> shape = whole.shape();
        if (shape.isEmpty() || index < 0 || index >= shape.get(0)) {
            throw new IndexOutOfBoundsException("%s: part %d of shape %s".formatted(whole, index, shape));
        }
        long bytes = whole.bytes() / shape.get(0);
        long begin = whole.begin() + index * bytes;
        return tensor(new TensorEntry(
                name, whole.dtype(), shape.subList(1, shape.size()), begin, begin + bytes, whole.place()));
    }

    /** Returns the bytes of a tensor. */
    long bytes(String name) {
        return entry(name).bytes();
    }

    private TensorEntry entry(String name) {
        TensorEntry entry = header.entries().get(name);
        if (entry == null) {
            throw new SafetensorsException(
                    Fault.MISSING_TENSOR, "tensor \"%s\" is missing; the blob has %s".formatted(name, names()));
        }
        return entry;
    }

    private Tensor tensor(TensorEntry entry) {
        if (memory != null) {
            return new Tensor(entry, memory.slice((int) (dataStart + entry.begin()), (int) entry.bytes()));
        }
        List<ByteBuffer> pieces = mapped(entry);
        return new Tensor(entry, () -> pieces);
    }

    private List<ByteBuffer> mapped(TensorEntry entry) {
        if (file == null) {
            throw new IllegalStateException("neither memory nor a file");
        }
        try {
            return TensorFile.map(file, dataStart + entry.begin(), entry.bytes());
        } catch (IOException e) {
            throw new UncheckedIOException(entry + " cannot be mapped: " + e.getMessage(), e);
        }
    }

    /** Returns whether the blob carries a checksum of itself, see {@link SafetensorsWriter#sealed}. */
    public boolean isSealed() {
        return checksum() != null;
    }

    /** Returns the checksum that the blob carries, 64 hexadecimal digits of SHA-256; null: none. */
    public @Nullable String checksum() {
        return metadata().get(ContentHash.KEY);
    }

    /**
     * Compares the content with its checksum. Reads every byte once: about a second per gigabyte.
     *
     * @throws SafetensorsException when a bit is another than was written, or there is no checksum
     * @throws IOException when the file cannot be read
     */
    public void requireUnchanged() throws IOException {
        String expected = checksum();
        if (expected == null) {
            throw new SafetensorsException(
                    Fault.CHANGED_CONTENT, "no %s in its metadata, expected the checksum".formatted(ContentHash.KEY));
        }
        String found = contentHash();
        if (!found.equals(expected)) {
            throw new SafetensorsException(
                    Fault.CHANGED_CONTENT,
                    "the content is not what was written: its sha256 is %s, %s in its metadata says %s"
                            .formatted(found, ContentHash.KEY, expected));
        }
    }

    private String contentHash() throws IOException {
        List<TensorEntry> byName = new ArrayList<>(header.entries().values());
        byName.sort(Comparator.comparing(TensorEntry::name));
        ContentHash hash = ContentHash.of(metadata(), byName.size());
        for (TensorEntry entry : byName) {
            hash.tensor(entry.name(), entry.dtype(), entry.shape(), entry.bytes());
            for (long from = entry.begin(); from < entry.end(); from += PIECE) {
                hash.write(piece(dataStart + from, (int) Math.min(PIECE, entry.end() - from)));
            }
        }
        return hash.hex();
    }

    private ByteBuffer piece(long begin, int bytes) throws IOException {
        if (memory != null) {
            return memory.slice((int) begin, bytes);
        }
        if (file == null) {
            throw new IllegalStateException("neither memory nor a file");
        }
        return read(file, begin, bytes).flip();
    }

    /** Closes the file, if there is one; tensors already taken stay readable. */
    @Override
    public void close() throws IOException {
        for (Safetensors shard : new HashSet<>(shards.values())) {
            shard.close();
        }
        if (file != null) {
            file.close();
        }
    }

    private static ByteBuffer read(FileChannel channel, long position, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, position + buffer.position()) < 0) {
                throw new EOFException("the file became shorter while it was read");
            }
        }
        return buffer;
    }
}
