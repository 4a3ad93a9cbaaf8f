package io.plumbline.moments;

/** The layout of a moment's numbers in one array: {@code [ sum of rows (d) | packed lower triangle (d(d+1)/2) ]}. */
final class MomentState {

    private MomentState() {}

    static int length(int dimension) {
        if (dimension < 1) {
            throw new IllegalArgumentException("dimension %d: expected at least 1".formatted(dimension));
        }
        long length = dimension + (long) dimension * (dimension + 1) / 2;
        if (length > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(
                    "dimension %d: its moment of %d numbers does not fit in one array".formatted(dimension, length));
        }
        return (int) length;
    }

    static void requireSameDimension(int expected, int actual) {
        if (expected != actual) {
            throw new IllegalArgumentException(
                    "expected a moment of dimension %d, got %d; nothing was added".formatted(expected, actual));
        }
    }

    static void requireRows(long rows) {
        if (rows < 0) {
            throw new IllegalArgumentException("%d rows: expected 0 or more".formatted(rows));
        }
    }

    static void requireLength(int dimension, int actual) {
        int expected = length(dimension);
        if (actual != expected) {
            throw new IllegalArgumentException("the state of a moment of dimension %d is %d numbers, got %d"
                    .formatted(dimension, expected, actual));
        }
    }
}
