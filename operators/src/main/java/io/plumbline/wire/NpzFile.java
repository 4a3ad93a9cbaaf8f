package io.plumbline.wire;

import io.plumbline.wire.TensorFileException.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Arrays as {@code numpy.savez} writes them: a zip of {@code NAME.npy}, stored or deflated.
 *
 * <pre>
 * bytes 0 .. 5    \x93NUMPY
 * bytes 6, 7      version: 1, 2 or 3, and 0
 * bytes 8 ..      length of the header, unsigned, little-endian: 2 bytes in version 1, else 4
 * then            {'descr': '&lt;f4', 'fortran_order': False, 'shape': (48, 96), }
 * then            the elements
 * </pre>
 *
 * <p>Asking for an array reads its header alone. When its elements are read it is compared with the archive's checksum.
 * Not thread-safe.
 */
public final class NpzFile implements TensorFile {

    private static final String SUFFIX = ".npy";
    private static final int MAGIC_BYTES = 8;
    private static final int LONGEST_HEADER = 1 << 16;
    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final Pattern HEADER =
            Pattern.compile("\\{\\s*'descr':\\s*'([^']{1,16})',\\s*'fortran_order':\\s*(True|False),"
                    + "\\s*'shape':\\s*\\(([0-9, ]*)\\),?\\s*}\\s*");

    private final ZipArchive archive;
    private final Map<String, ZipArchive.Entry> arrays = new LinkedHashMap<>();

    private NpzFile(ZipArchive archive) {
        this.archive = archive;
        archive.entries().forEach((name, entry) -> {
            if (name.endsWith(SUFFIX)) {
                arrays.put(name.substring(0, name.length() - SUFFIX.length()), entry);
            }
        });
    }

    /**
     * Opens a file; arrays are read when they are asked for.
     *
     * @throws TensorFileException when it is no sound archive; the message begins with the path
     */
    public static NpzFile open(Path path) throws IOException {
        try {
            return new NpzFile(ZipArchive.open(path));
        } catch (TensorFileException e) {
            throw new TensorFileException(e.fault(), path + ": " + e.getMessage());
        }
    }

    @Override
    public Set<String> names() {
        return arrays.keySet();
    }

    @Override
    public Tensor tensor(String name) {
        ZipArchive.Entry entry = arrays.get(name);
        if (entry == null) {
            throw new TensorFileException(
                    Fault.MISSING_TENSOR, "array \"%s\" is missing; the archive has %s".formatted(name, names()));
        }
        try {
            return tensor(name, entry, archive.beginning(entry, MAGIC_BYTES + Integer.BYTES + LONGEST_HEADER));
        } catch (IOException e) {
            throw new UncheckedIOException("array \"%s\" cannot be read: %s".formatted(name, e.getMessage()), e);
        }
    }

    @Override
    public void close() throws IOException {
        archive.close();
    }

    private Tensor tensor(String name, ZipArchive.Entry entry, ByteBuffer content) {
        int lengthBytes = content.remaining() > MAGIC_BYTES && content.get(6) == 1 ? Short.BYTES : Integer.BYTES;
        if (content.remaining() < MAGIC_BYTES + lengthBytes || !startsWithMagic(content)) {
            throw bad(name, "it does not begin as a .npy file of version 1, 2 or 3");
        }
        long headerBytes = lengthBytes == Short.BYTES
                ? content.getShort(MAGIC_BYTES) & 0xFFFF
                : content.getInt(MAGIC_BYTES) & 0xFFFFFFFFL;
        int begin = MAGIC_BYTES + lengthBytes;
        if (headerBytes > LONGEST_HEADER || headerBytes > content.remaining() - begin) {
            throw bad(name, "a header of %d bytes in %d".formatted(headerBytes, content.remaining()));
        }
        byte[] text = new byte[(int) headerBytes];
        content.get(begin, text);
        Matcher header = HEADER.matcher(new String(text, StandardCharsets.ISO_8859_1));
        if (!header.matches()) {
            throw bad(name, "expected {'descr': ..., 'fortran_order': ..., 'shape': (...), }");
        }
        return array(name, header, entry, begin + text.length);
    }

    private Tensor array(String name, Matcher header, ZipArchive.Entry entry, int dataStart) {
        DType dtype =
                switch (header.group(1)) {
                    case "<f8" -> DType.F64;
                    case "<f4" -> DType.F32;
                    case "<f2" -> DType.F16;
                    case "<i8" -> DType.I64;
                    case "<i4" -> DType.I32;
                    default ->
                        throw new TensorFileException(
                                Fault.UNKNOWN_DTYPE,
                                "array \"%s\": dtype %s, expected <f8, <f4, <f2, <i8 or <i4"
                                        .formatted(name, header.group(1)));
                };
        List<Long> shape = shape(name, header.group(3));
        long bytes = entry.bytes() - dataStart;
        long elements = bytes / dtype.bytes();
        long count = 1;
        for (long size : shape) {
            count = size > elements ? elements + 1 : Math.min(count * size, elements + 1);
        }
        if (count != elements || bytes % dtype.bytes() != 0) {
            throw new TensorFileException(
                    Fault.SHAPE_AGAINST_BYTES,
                    "array \"%s\": shape %s of %s needs another number of bytes than %d"
                            .formatted(name, shape, header.group(1), bytes));
        }
        ArrayView view = new ArrayView(
                name, dtype, 0, shape, steps(shape, header.group(2).equals("True")));
        view.requireWithin(elements);
        return view.of(() -> data(name, entry, dataStart));
    }

    private List<ByteBuffer> data(String name, ZipArchive.Entry entry, int dataStart) {
        try {
            archive.requireUnchanged(entry);
            return archive.pieces(entry, dataStart);
        } catch (IOException e) {
            throw new UncheckedIOException("array \"%s\" cannot be read: %s".formatted(name, e.getMessage()), e);
        }
    }

    private static List<Long> shape(String name, String text) {
        List<Long> shape = new ArrayList<>();
        for (String size : text.split(",", -1)) {
            if (!size.isBlank()) {
                if (!size.strip().matches("[0-9]{1,10}") || shape.size() == 8) {
                    throw bad(name, "shape (%s)".formatted(text));
                }
                shape.add(Long.valueOf(size.strip()));
            }
        }
        return shape;
    }

    private static List<Long> steps(List<Long> shape, boolean columnsFirst) {
        Long[] steps = new Long[shape.size()];
        long step = 1;
        for (int i = 0; i < steps.length; i++) {
            int dimension = columnsFirst ? i : steps.length - 1 - i;
            steps[dimension] = step;
            step *= Math.max(1, shape.get(dimension));
        }
        return List.of(steps);
    }

    private static boolean startsWithMagic(ByteBuffer content) {
        for (int i = 0; i < MAGIC.length; i++) {
            if (content.get(i) != MAGIC[i]) {
                return false;
            }
        }
        return content.get(6) >= 1 && content.get(6) <= 3 && content.get(7) == 0;
    }

    private static TensorFileException bad(String name, String what) {
        return new TensorFileException(Fault.BAD_HEADER, "array \"%s\": %s".formatted(name, what));
    }
}
