package io.plumbline.wire;

import io.plumbline.wire.TensorFileException.Fault;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * The entries of a zip file, by name. Stored ones are mapped where they lie, which {@link java.util.zip.ZipFile} cannot
 * do.
 *
 * <p><b>Hostile bytes.</b> Every offset and length is compared with the size of the file before anything is allocated
 * by it; what is deflated is allocated as it comes, never by the size that is claimed. Entries share no bytes and no
 * names.
 */
final class ZipArchive implements Closeable {

    private static final int END_BYTES = 22;
    private static final int LONGEST_COMMENT = 0xFFFF;
    private static final int LOCATOR_BYTES = 20;
    private static final int END_64_BYTES = 56;
    private static final int CENTRAL_BYTES = 46;
    private static final int LOCAL_BYTES = 30;
    private static final int END_SIGNATURE = 0x06054b50;
    private static final int LOCATOR_SIGNATURE = 0x07064b50;
    private static final int END_64_SIGNATURE = 0x06064b50;
    private static final int CENTRAL_SIGNATURE = 0x02014b50;
    private static final int LOCAL_SIGNATURE = 0x04034b50;
    private static final long IN_EXTRA = 0xFFFFFFFFL;
    private static final int EXTRA_64 = 1;
    private static final int STORED = 0;
    private static final int DEFLATED = 8;
    private static final long LARGEST_DIRECTORY = 16 << 20;
    private static final int FIRST_PIECE = 1 << 16;

    /** An entry; {@code start} is where its bytes lie. */
    record Entry(String name, int method, long crc, long packed, long bytes, long start) {}

    /** The place of the directory, and how many entries it has. */
    private record Directory(long offset, long bytes, long entries) {}

    private final FileChannel file;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    private ZipArchive(FileChannel file) {
        this.file = file;
    }

    /**
     * Opens a file.
     *
     * @throws TensorFileException when it is no sound archive
     */
    static ZipArchive open(Path path) throws IOException {
        FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
        try {
            String kind = FileKind.of(file);
            if (!kind.isEmpty() && !kind.contains("zip archive")) {
                throw new TensorFileException(Fault.OTHER_FILE, "expected a zip archive; this is " + kind);
            }
            ZipArchive archive = new ZipArchive(file);
            archive.readDirectory();
            return archive;
        } catch (IOException | RuntimeException broken) {
            file.close();
            throw broken;
        }
    }

    /** Returns the entries by name, in the order of the directory. */
    Map<String, Entry> entries() {
        return Collections.unmodifiableMap(entries);
    }

    /**
     * The bytes of an entry, little-endian: mapped where they are stored, unpacked and compared with the checksum where
     * not.
     */
    ByteBuffer content(Entry entry) throws IOException {
        ByteBuffer packed = file.map(MapMode.READ_ONLY, entry.start(), checked(entry, entry.packed()));
        ByteBuffer content = entry.method() == STORED ? packed : inflated(entry, packed);
        return content.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The bytes of an entry from one on, as a {@link Tensor} has them; a packed one has at most 2 GiB. */
    List<ByteBuffer> pieces(Entry entry, long from) throws IOException {
        if (entry.method() == STORED) {
            return TensorFile.map(file, entry.start() + from, entry.bytes() - from);
        }
        ByteBuffer content = content(entry);
        List<ByteBuffer> pieces = new ArrayList<>();
        for (long at = from; at == from || at < content.capacity(); at += Tensor.PIECE) {
            int length = (int) Math.min(Tensor.PIECE, content.capacity() - at);
            pieces.add(content.slice((int) at, length).order(ByteOrder.LITTLE_ENDIAN));
        }
        return pieces;
    }

    /** The first bytes of an entry, at most so many; unpacks no more. */
    ByteBuffer beginning(Entry entry, int most) throws IOException {
        int length = (int) Math.min(most, entry.bytes());
        if (entry.method() == STORED) {
            return read(entry.start(), length);
        }
        byte[] bytes = new byte[length];
        Inflater inflater = new Inflater(true);
        try {
            // Deflate has no way to make one byte of a thousand: so many are enough for those that are asked for.
            inflater.setInput(read(entry.start(), (int) Math.min(entry.packed(), 2L * most)));
            int done = 0;
            while (done < length && !inflater.finished()) {
                int count = inflater.inflate(bytes, done, length - done);
                if (count == 0) {
                    break;
                }
                done += count;
            }
            return ByteBuffer.wrap(bytes, 0, done).slice().order(ByteOrder.LITTLE_ENDIAN);
        } catch (DataFormatException broken) {
            throw changed(entry, "cannot be unpacked: " + broken.getMessage());
        } finally {
            inflater.end();
        }
    }

    /** Compares a stored entry with its checksum; reads every byte once. A packed one is compared as it is unpacked. */
    void requireUnchanged(Entry entry) throws IOException {
        if (entry.method() == STORED) {
            requireChecksum(entry, pieces(entry, 0));
        }
    }

    private static void requireChecksum(Entry entry, List<ByteBuffer> content) {
        CRC32 crc = new CRC32();
        content.forEach(piece -> crc.update(piece.duplicate()));
        if (crc.getValue() != entry.crc()) {
            throw new TensorFileException(
                    Fault.CHANGED_CONTENT,
                    "entry \"%s\": its bytes have the checksum %08x, the archive says %08x; copy the file again"
                            .formatted(entry.name(), crc.getValue(), entry.crc()));
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private static int checked(Entry entry, long bytes) {
        if (bytes > Integer.MAX_VALUE - 8) {
            throw new TensorFileException(
                    Fault.TOO_LARGE,
                    "entry \"%s\" has %d bytes; at most %d can be read"
                            .formatted(entry.name(), bytes, Integer.MAX_VALUE - 8));
        }
        return (int) bytes;
    }

    private static ByteBuffer inflated(Entry entry, ByteBuffer packed) {
        int expected = checked(entry, entry.bytes());
        HeapNeeded.require("entry \"%s\", unpacked,".formatted(entry.name()), entry.bytes());
        byte[] bytes = new byte[Math.min(expected, FIRST_PIECE)];
        int length = 0;
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(packed);
            while (!inflater.finished()) {
                if (length == bytes.length && length < expected) {
                    bytes = Arrays.copyOf(bytes, (int) Math.min(expected, 2L * length));
                }
                int count = length < bytes.length
                        ? inflater.inflate(bytes, length, bytes.length - length)
                        : inflater.inflate(new byte[1]);
                length += count;
                if (length > expected || (count == 0 && !inflater.finished())) {
                    break;
                }
            }
        } catch (DataFormatException broken) {
            throw changed(entry, "cannot be unpacked: " + broken.getMessage());
        } finally {
            inflater.end();
        }
        if (length != expected) {
            throw changed(entry, "unpacks to %d bytes or is cut off, the archive says %d".formatted(length, expected));
        }
        ByteBuffer content = ByteBuffer.wrap(bytes);
        requireChecksum(entry, List.of(content));
        return content;
    }

    private static TensorFileException changed(Entry entry, String how) {
        return new TensorFileException(
                Fault.CHANGED_CONTENT, "entry \"%s\" %s; copy the file again".formatted(entry.name(), how));
    }

    private void readDirectory() throws IOException {
        Directory directory = directory();
        if (directory.bytes() > LARGEST_DIRECTORY || directory.entries() * CENTRAL_BYTES > directory.bytes()) {
            throw bad("a directory of %d bytes for %d entries".formatted(directory.bytes(), directory.entries()));
        }
        ByteBuffer central = read(directory.offset(), (int) directory.bytes());
        List<long[]> spans = new ArrayList<>();
        for (long i = 0; i < directory.entries(); i++) {
            readEntry(central, directory.offset(), spans);
        }
        spans.sort(Comparator.comparingLong(span -> span[0]));
        for (int i = 1; i < spans.size(); i++) {
            if (spans.get(i)[0] < spans.get(i - 1)[1]) {
                throw new TensorFileException(
                        Fault.OVERLAP, "two entries share the bytes at %d".formatted(spans.get(i)[0]));
            }
        }
    }

    private Directory directory() throws IOException {
        long size = file.size();
        int tail = (int) Math.min(size, END_BYTES + LONGEST_COMMENT);
        ByteBuffer end = read(size - tail, tail);
        for (int at = tail - END_BYTES; at >= 0; at--) {
            if (end.getInt(at) == END_SIGNATURE && at + END_BYTES + unsigned(end.getShort(at + 20)) == tail) {
                return directory(end, at, size - tail + at);
            }
        }
        throw new TensorFileException(
                Fault.NO_ARCHIVE, "no zip archive, or one that is cut off: %d bytes, without its end".formatted(size));
    }

    private Directory directory(ByteBuffer end, int at, long endOffset) throws IOException {
        Directory directory = new Directory(
                unsigned(end.getInt(at + 16)), unsigned(end.getInt(at + 12)), unsigned(end.getShort(at + 10)));
        long limit = endOffset;
        if (directory.offset() == IN_EXTRA || directory.bytes() == IN_EXTRA || directory.entries() == LONGEST_COMMENT) {
            if (endOffset < LOCATOR_BYTES) {
                throw bad("no room for the locator of a large archive");
            }
            ByteBuffer locator = read(endOffset - LOCATOR_BYTES, LOCATOR_BYTES);
            limit = locator.getLong(8);
            if (locator.getInt(0) != LOCATOR_SIGNATURE
                    || limit < 0
                    || limit > endOffset - LOCATOR_BYTES - END_64_BYTES) {
                throw bad("the locator of a large archive points to byte %d of %d".formatted(limit, endOffset));
            }
            ByteBuffer large = read(limit, END_64_BYTES);
            if (large.getInt(0) != END_64_SIGNATURE) {
                throw bad("no end of a large archive at byte %d".formatted(limit));
            }
            directory = new Directory(large.getLong(48), large.getLong(40), large.getLong(32));
        }
        if (directory.offset() < 0
                || directory.bytes() < 0
                || directory.entries() < 0
                || directory.entries() > LARGEST_DIRECTORY
                || directory.bytes() > limit
                || directory.offset() > limit - directory.bytes()) {
            throw bad("a directory of %d bytes at byte %d, before byte %d"
                    .formatted(directory.bytes(), directory.offset(), limit));
        }
        return directory;
    }

    private void readEntry(ByteBuffer central, long limit, List<long[]> spans) throws IOException {
        if (central.remaining() < CENTRAL_BYTES || central.getInt(central.position()) != CENTRAL_SIGNATURE) {
            throw bad("entry %d is cut off or none".formatted(entries.size()));
        }
        int at = central.position();
        int nameBytes = unsigned(central.getShort(at + 28));
        int extraBytes = unsigned(central.getShort(at + 30));
        int commentBytes = unsigned(central.getShort(at + 32));
        if (central.remaining() < CENTRAL_BYTES + nameBytes + extraBytes + commentBytes) {
            throw bad("entry %d is cut off".formatted(entries.size()));
        }
        byte[] nameText = new byte[nameBytes];
        central.get(at + CENTRAL_BYTES, nameText);
        String name = new String(nameText, StandardCharsets.UTF_8);
        ByteBuffer extra =
                central.slice(at + CENTRAL_BYTES + nameBytes, extraBytes).order(ByteOrder.LITTLE_ENDIAN);
        central.position(at + CENTRAL_BYTES + nameBytes + extraBytes + commentBytes);
        long[] sizes = {
            unsigned(central.getInt(at + 24)), unsigned(central.getInt(at + 20)), unsigned(central.getInt(at + 42))
        };
        fillFromExtra(extra, sizes, name);
        int method = unsigned(central.getShort(at + 10));
        if ((central.getShort(at + 8) & 1) != 0 || (method != STORED && method != DEFLATED)) {
            throw new TensorFileException(
                    Fault.UNKNOWN_PACKING,
                    "entry \"%s\" is encrypted or packed by method %d: expected stored or deflated"
                            .formatted(name, method));
        }
        add(new Entry(name, method, unsigned(central.getInt(at + 16)), sizes[1], sizes[0], 0), sizes[2], limit, spans);
    }

    private void add(Entry entry, long header, long limit, List<long[]> spans) throws IOException {
        if (entry.bytes() < 0
                || entry.packed() < 0
                || header < 0
                || header > limit - LOCAL_BYTES
                || (entry.method() == STORED && entry.bytes() != entry.packed())) {
            throw bad("entry \"%s\": %d bytes, %d packed, at byte %d of %d"
                    .formatted(entry.name(), entry.bytes(), entry.packed(), header, limit));
        }
        ByteBuffer local = read(header, LOCAL_BYTES);
        long start = header + LOCAL_BYTES + unsigned(local.getShort(26)) + unsigned(local.getShort(28));
        if (local.getInt(0) != LOCAL_SIGNATURE || start > limit || entry.packed() > limit - start) {
            throw bad("entry \"%s\" does not lie at byte %d, or goes beyond byte %d"
                    .formatted(entry.name(), header, limit));
        }
        spans.add(new long[] {header, start + entry.packed()});
        Entry placed = new Entry(entry.name(), entry.method(), entry.crc(), entry.packed(), entry.bytes(), start);
        if (entries.put(entry.name(), placed) != null) {
            throw new TensorFileException(Fault.OVERLAP, "two entries are named \"%s\"".formatted(entry.name()));
        }
    }

    /** Fills in what does not fit 32 bits from an extra field, in the order of bytes, packed bytes and place. */
    private static void fillFromExtra(ByteBuffer extra, long[] sizes, String name) {
        while (extra.remaining() >= 4) {
            int id = unsigned(extra.getShort());
            int length = unsigned(extra.getShort());
            if (length > extra.remaining()) {
                throw bad("entry \"%s\": an extra field is cut off".formatted(name));
            }
            ByteBuffer field = extra.slice(extra.position(), length).order(ByteOrder.LITTLE_ENDIAN);
            extra.position(extra.position() + length);
            for (int i = 0; i < sizes.length && id == EXTRA_64; i++) {
                if (sizes[i] == IN_EXTRA && field.remaining() >= Long.BYTES) {
                    sizes[i] = field.getLong();
                }
            }
        }
    }

    private ByteBuffer read(long position, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (file.read(buffer, position + buffer.position()) < 0) {
                throw new EOFException("the file became shorter while it was read");
            }
        }
        return buffer.flip();
    }

    private static int unsigned(short value) {
        return value & 0xFFFF;
    }

    private static long unsigned(int value) {
        return value & 0xFFFFFFFFL;
    }

    private static TensorFileException bad(String what) {
        return new TensorFileException(Fault.BAD_DIRECTORY, "the zip archive is broken: " + what);
    }
}
