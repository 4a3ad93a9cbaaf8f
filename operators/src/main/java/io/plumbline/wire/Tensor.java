package io.plumbline.wire;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.SafetensorsException.Fault;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Supplier;

/**
 * One tensor of a {@link TensorFile}: a typed view of its bytes. Nothing is copied, and nothing of a packed archive
 * unpacked, until a {@code to...} method is called, and those copy each time.
 *
 * <p>Row-major. Float types widen exactly. At most as many elements as an array holds, 2^31 - 8; their bytes may be
 * more than one buffer holds, and lie in several.
 *
 * <p>Immutable and thread-safe. A tensor of a mapped file stays readable after the file is closed or atomically
 * replaced; a file that is truncated in place while mapped cannot be read safely by any program.
 */
public final class Tensor {

    /** 16-bit values copied at once out of the buffer, whose own accessor takes up to four times as long. */
    private static final int CHUNK = 1024;

    /** The bytes of each piece of a tensor in several, but the last: whole elements of every type. */
    static final int PIECE = 1 << 30;

    private final TensorEntry entry;
    private final Supplier<List<ByteBuffer>> pieces;

    public Tensor(TensorEntry entry, ByteBuffer bytes) {
        this(entry, constant(bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN)));
    }

    /** Makes a tensor of pieces of {@link #PIECE} bytes, little-endian, that are got whenever they are read. */
    public Tensor(TensorEntry entry, Supplier<List<ByteBuffer>> pieces) {
        this.entry = entry;
        this.pieces = pieces;
    }

    private static Supplier<List<ByteBuffer>> constant(ByteBuffer bytes) {
        List<ByteBuffer> one = List.of(bytes);
        return () -> one;
    }

    private ByteBuffer whole() {
        List<ByteBuffer> all = pieces.get();
        if (all.size() > 1) {
            throw new SafetensorsException(
                    Fault.TENSOR_TOO_LARGE,
                    "%s has %d bytes; at most %d can be used as they lie (at byte %d)"
                            .formatted(entry, entry.bytes(), Integer.MAX_VALUE, entry.place()));
        }
        return all.get(0);
    }

    public String name() {
        return entry.name();
    }

    public DType dtype() {
        return entry.dtype();
    }

    public List<Long> shape() {
        return entry.shape();
    }

    /** A fresh little-endian, read-only view of the bytes, at position 0. */
    public ByteBuffer bytes() {
        return whole().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The bytes in pieces, one behind the other: of a tensor beyond 1 GiB in a file several. Not for changing. */
    public List<ByteBuffer> pieces() {
        return pieces.get();
    }

    /** The bytes where they lie, little-endian: of a blob in memory, a part of its array. Not for changing. */
    public ByteBuffer memory() {
        return whole();
    }

    /** The whole tensor as doubles. A 1-D tensor is one row. */
    public Matrix toMatrix() {
        return switch (entry.shape().size()) {
            case 1 -> new Matrix(1, size(0), toDoubles());
            case 2 -> rows(0, size(0));
            default -> throw wrongShape("a matrix or a vector");
        };
    }

    /** Returns this tensor of two dimensions or more as a matrix whose columns are its last dimension. */
    public Tensor asRows() {
        List<Long> shape = entry.shape();
        if (shape.size() < 2) {
            throw wrongShape("two dimensions or more");
        }
        long columns = shape.get(shape.size() - 1);
        long rows = shape.subList(0, shape.size() - 1).stream().reduce(1L, Math::multiplyExact);
        return new Tensor(
                new TensorEntry(name(), dtype(), List.of(rows, columns), entry.begin(), entry.end(), entry.place()),
                pieces);
    }

    /** A 2-D tensor of a float type, in 4 bytes a value where its type, or every value, allows. */
    public Weights toWeights() {
        int columns = columns();
        return dtype() == DType.F64 ? Weights.of(toMatrix()) : Weights.ofFloats(size(0), columns, toFloats());
    }

    /** Rows {@code from .. to-1} of a 2-D tensor as doubles; only their bytes are touched. */
    public Matrix rows(int from, int to) {
        int columns = columns();
        requireRows(from, to);
        return new Matrix(to - from, columns, doubles((long) from * columns, (long) to * columns));
    }

    /** The bytes of rows {@code from .. to-1} of a 2-D tensor, or of entries {@code from .. to-1} of a 1-D one. */
    public ByteBuffer rowBytes(int from, int to) {
        long stride = entry.shape().size() == 1 ? dtype().bytes() : (long) columns() * dtype().bytes();
        requireRows(from, to);
        return whole().slice((int) (from * stride), (int) ((to - from) * stride))
                .asReadOnlyBuffer()
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    /** All elements in storage order as doubles; I64 beyond 2^53 rounds. */
    public double[] toDoubles() {
        return doubles(0, elements());
    }

    /** Returns all elements in storage order as floats; F64 rounds to nearest. */
    public float[] toFloats() {
        // Before an array is allocated by their number: the bytes of a packed array may turn out to be fewer.
        List<ByteBuffer> all = pieces.get();
        float[] floats = new float[elements()];
        int from = 0;
        for (ByteBuffer piece : all) {
            int count = piece.capacity() / dtype().bytes();
            copyFloats(piece.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN), floats, from, from + count);
            from += count;
        }
        return floats;
    }

    private void copyFloats(ByteBuffer source, float[] floats, int from, int to) {
        switch (dtype()) {
            case F32 -> source.asFloatBuffer().get(floats, from, to - from);
            case F16 -> {
                for (int i = from; i < to; i++) {
                    floats[i] = DType.fromHalf(source.getShort());
                }
            }
            case BF16 -> {
                for (int i = from; i < to; i++) {
                    floats[i] = DType.fromBrain(source.getShort());
                }
            }
            case F64 -> {
                for (int i = from; i < to; i++) {
                    floats[i] = (float) source.getDouble();
                }
            }
            case I64, I32 -> throw wrongDType("a float type");
        }
    }

    /** All elements of an integer tensor in storage order. */
    public long[] toLongs() {
        return longs(0, elements());
    }

    /** Elements {@code from .. to-1} of an integer tensor in storage order. */
    public long[] longs(int from, int to) {
        long[] longs = new long[to - from];
        ByteBuffer source = bytes();
        switch (dtype()) {
            case I64 -> source.asLongBuffer().get(from, longs);
            case I32 -> {
                for (int i = 0; i < longs.length; i++) {
                    longs[i] = source.getInt(4 * (from + i));
                }
            }
            case F64, F32, F16, BF16 -> throw wrongDType("I64 or I32");
        }
        return longs;
    }

    /** The size of one dimension, checked to fit an array index. */
    public int size(int dimension) {
        long size = entry.shape().get(dimension);
        if (size > Integer.MAX_VALUE - 8) {
            throw new SafetensorsException(
                    Fault.TENSOR_TOO_LARGE,
                    "%s: shape %s has a dimension beyond %d".formatted(entry, shape(), Integer.MAX_VALUE - 8));
        }
        return (int) size;
    }

    @Override
    public String toString() {
        return "%s %s of %s".formatted(entry, shape(), dtype());
    }

    private int columns() {
        if (entry.shape().size() != 2) {
            throw wrongShape("[rows, columns]");
        }
        return size(1);
    }

    private int elements() {
        long elements = entry.bytes() / dtype().bytes();
        if (elements > Integer.MAX_VALUE - 8) {
            throw new SafetensorsException(
                    Fault.TENSOR_TOO_LARGE,
                    "%s: shape %s has %d elements; at most %d can be read (at byte %d)"
                            .formatted(entry, shape(), elements, Integer.MAX_VALUE - 8, entry.place()));
        }
        return (int) elements;
    }

    private double[] doubles(long from, long to) {
        List<ByteBuffer> all = pieces.get();
        double[] doubles = new double[(int) (to - from)];
        long width = dtype().bytes();
        int done = 0;
        while (done < doubles.length) {
            long at = (from + done) * width;
            ByteBuffer piece = all.get((int) (at / PIECE));
            int begin = (int) (at % PIECE);
            int count = (int) Math.min(doubles.length - done, (piece.capacity() - begin) / width);
            ByteBuffer source = piece.slice(begin, (int) (count * width)).order(ByteOrder.LITTLE_ENDIAN);
            copyDoubles(source, doubles, done, count);
            done += count;
        }
        return doubles;
    }

    private void copyDoubles(ByteBuffer source, double[] doubles, int at, int length) {
        switch (dtype()) {
            case F64 -> source.asDoubleBuffer().get(doubles, at, length);
            case F32 -> {
                for (int i = 0; i < length; i++) {
                    doubles[at + i] = source.getFloat(4 * i);
                }
            }
            case F16, BF16 -> {
                boolean half = dtype() == DType.F16;
                short[] some = new short[Math.min(CHUNK, length)];
                for (int i = 0; i < length; i += some.length) {
                    int count = Math.min(some.length, length - i);
                    source.asShortBuffer().get(i, some, 0, count);
                    for (int j = 0; j < count; j++) {
                        doubles[at + i + j] = half ? DType.fromHalf(some[j]) : DType.fromBrain(some[j]);
                    }
                }
            }
            case I64 -> {
                for (int i = 0; i < length; i++) {
                    doubles[at + i] = source.getLong(8 * i);
                }
            }
            case I32 -> {
                for (int i = 0; i < length; i++) {
                    doubles[at + i] = source.getInt(4 * i);
                }
            }
        }
    }

    private void requireRows(int from, int to) {
        if (from < 0 || to < from || to > size(0)) {
            throw new IndexOutOfBoundsException("%s: rows %d .. %d of %d".formatted(entry, from, to, size(0)));
        }
    }

    private SafetensorsException wrongShape(String expected) {
        return new SafetensorsException(
                Fault.WRONG_SHAPE,
                "%s: shape %s, expected %s (at byte %d)".formatted(entry, shape(), expected, entry.place()));
    }

    private SafetensorsException wrongDType(String expected) {
        return new SafetensorsException(
                Fault.WRONG_DTYPE,
                "%s: dtype %s, expected %s (at byte %d)".formatted(entry, dtype(), expected, entry.place()));
    }
}
