package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * Estimates the median of the norms of any number of rows, from a histogram whose bins are 0.1 % wide.
 *
 * <p>The bin of a norm is the top bits of its float64: exponent and the first {@value #MANTISSA_BITS} bits of the
 * mantissa. The answer is the middle of the bin that holds the lower median, so it is within 0.05 % of it, and the same
 * in whatever order the rows came. <b>Size.</b> One entry per bin that occurs, 1,024 per doubling: rows within a factor
 * of 1,000 take at most some 10,000. Not thread-safe.
 */
public final class MedianNorm {

    private static final int MANTISSA_BITS = 10;
    private static final int SHIFT = 52 - MANTISSA_BITS;

    private final TreeMap<Long, Long> bins = new TreeMap<>();
    private long rows;

    /** Adds every row; {@code 2 n d} flops. */
    public void add(Matrix more) {
        for (int row = 0; row < more.rows(); row++) {
            bins.merge(Double.doubleToLongBits(RowMask.norm(more, row)) >>> SHIFT, 1L, Long::sum);
        }
        rows += more.rows();
    }

    /** Returns how many rows are longer than this, up to the width of a bin. */
    public long longerThan(double norm) {
        return bins.tailMap(Double.doubleToLongBits(norm) >>> SHIFT, false).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    /** Returns the median; empty where there were no rows. */
    public OptionalDouble value() {
        long left = (rows + 1) / 2;
        for (Map.Entry<Long, Long> bin : bins.entrySet()) {
            left -= bin.getValue();
            if (left <= 0 && rows > 0) {
                long lowest = bin.getKey() << SHIFT;
                // Rows of zeros have a bin of their own: its middle would be a length that no row has.
                return OptionalDouble.of(lowest == 0 ? 0.0 : Double.longBitsToDouble(lowest | 1L << (SHIFT - 1)));
            }
        }
        return OptionalDouble.empty();
    }
}
