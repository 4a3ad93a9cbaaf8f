package io.plumbline.wire;

import io.plumbline.wire.TensorFileException.Fault;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An array as numpy and torch store them: a part of some bytes, with a step for each dimension. As a {@link Tensor} it
 * is row-major, copied where it is not stored so.
 *
 * @param dtype null where it is one that weights do not have
 * @param offset in elements
 * @param steps in elements
 */
record ArrayView(String name, @Nullable DType dtype, long offset, List<Long> shape, List<Long> steps) {

    /**
     * Proves that all elements lie within so many, and that there are no more of them than that.
     *
     * @throws TensorFileException where they do not
     */
    void requireWithin(long elements) {
        if (elements > Integer.MAX_VALUE - 8) {
            throw new TensorFileException(
                    Fault.TOO_LARGE,
                    "tensor \"%s\" lies among %d elements; at most %d can be read"
                            .formatted(name, elements, Integer.MAX_VALUE - 8));
        }
        long count = 1;
        long last = offset;
        boolean sound = shape.size() == steps.size() && offset >= 0 && offset <= elements;
        for (int i = 0; sound && i < shape.size(); i++) {
            long size = shape.get(i);
            long step = steps.get(i);
            sound = size >= 0 && step >= 0 && size <= elements && step <= elements;
            // At most 2^31 elements each: no product overflows.
            count = sound ? Math.multiplyExact(Math.min(count, elements + 1), size) : count;
            last += sound && size > 0 ? (size - 1) * step : 0;
            sound = sound && count <= elements && last <= elements;
        }
        if (!sound || (count > 0 && last >= elements)) {
            throw new TensorFileException(
                    Fault.SHAPE_AGAINST_BYTES,
                    "tensor \"%s\": shape %s with steps %s from element %d does not fit %d elements"
                            .formatted(name, shape, steps, offset, elements));
        }
    }

    /** The tensor, of pieces of bytes that {@link #requireWithin} was called for. */
    Tensor of(Supplier<List<ByteBuffer>> bytes) {
        if (dtype == null) {
            throw new TensorFileException(
                    Fault.UNKNOWN_DTYPE,
                    ("tensor \"%s\" is of a type that weights do not have: expected float64, float32, float16, "
                                    + "bfloat16, int64 or int32")
                            .formatted(name));
        }
        int width = dtype.bytes();
        long count = shape.stream().reduce(1L, (a, b) -> a * b);
        TensorEntry entry = new TensorEntry(name, dtype, shape, 0, count * width, 0);
        if (isRowMajor()) {
            return new Tensor(entry, () -> part(bytes.get(), offset * width, count * width));
        }
        if (shape.size() != 2) {
            throw new TensorFileException(
                    Fault.SHAPE_AGAINST_BYTES,
                    "tensor \"%s\": shape %s with steps %s: expected a contiguous one, or a matrix"
                            .formatted(name, shape, steps));
        }
        if (count * width > Integer.MAX_VALUE - 8) {
            throw new TensorFileException(
                    Fault.TOO_LARGE,
                    ("tensor \"%s\" has %d bytes in another order than row by row; at most %d can be turned: "
                                    + "save it contiguous")
                            .formatted(name, count * width, Integer.MAX_VALUE - 8));
        }
        return new Tensor(entry, () -> List.of(rowMajor(bytes.get(), width, (int) count)));
    }

    private ByteBuffer rowMajor(List<ByteBuffer> pieces, int width, int count) {
        HeapNeeded.require("tensor \"%s\", turned to rows,".formatted(name), (long) count * width);
        ByteBuffer copy = ByteBuffer.allocate(count * width).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < shape.get(0); i++) {
            for (long j = 0; j < shape.get(1); j++) {
                long at = (offset + i * steps.get(0) + j * steps.get(1)) * width;
                copy.put(pieces.get((int) (at / Tensor.PIECE)).slice((int) (at % Tensor.PIECE), width));
            }
        }
        return copy.flip();
    }

    /** A part of pieces, in pieces again: not copied where it is the whole, or within the first of them. */
    private static List<ByteBuffer> part(List<ByteBuffer> pieces, long from, long bytes) {
        List<ByteBuffer> part = new ArrayList<>();
        long done = 0;
        do {
            int length = (int) Math.min(Tensor.PIECE, bytes - done);
            ByteBuffer first = pieces.get((int) Math.min((from + done) / Tensor.PIECE, pieces.size() - 1));
            int begin = (int) (from + done - (from + done) / Tensor.PIECE * Tensor.PIECE);
            if (begin + length <= first.capacity()) {
                part.add(first.slice(begin, length).order(ByteOrder.LITTLE_ENDIAN));
            } else {
                ByteBuffer copy = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
                copy.put(first.slice(begin, first.capacity() - begin));
                copy.put(pieces.get((int) ((from + done) / Tensor.PIECE) + 1).slice(0, copy.remaining()));
                part.add(copy.flip());
            }
            done += length;
        } while (done < bytes);
        return part;
    }

    private boolean isRowMajor() {
        long step = 1;
        for (int i = shape.size() - 1; i >= 0; i--) {
            if (shape.get(i) != 1 && steps.get(i) != step) {
                return false;
            }
            step *= Math.max(1, shape.get(i));
        }
        return true;
    }
}
