package io.plumbline.toy;

import io.plumbline.linalg.Matrix;

/**
 * Standard normal numbers by counter: element (i, j) of a stream depends on nothing but (stream, i, j), so any range of
 * rows can be made anywhere, in any language with 64-bit integers.
 *
 * <p>With {@code c = (stream << 40) + i·width + j} and mix the output function of SplitMix64 at state
 * {@code (x+1)·0x9E3779B97F4A7C15}: {@code u1 = ((mix(2c) >>> 11) + 1)·2^-53} in (0, 1],
 * {@code u2 = (mix(2c+1) >>> 11)·2^-53} in [0, 1), and the number is {@code √(−2 ln u1)·cos(2π u2)} (Box and Muller).
 */
final class NormalStream {

    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private NormalStream() {}

    /** Rows {@code firstRow .. firstRow+rows-1} of a stream, {@code width} numbers each. */
    static Matrix rows(long stream, long firstRow, int rows, int width) {
        Matrix numbers = Matrix.zeros(rows, width);
        double[] values = numbers.values();
        long counter = (stream << 40) + firstRow * width;
        for (int i = 0; i < values.length; i++) {
            values[i] = normal(counter + i);
        }
        return numbers;
    }

    private static double normal(long counter) {
        double u1 = ((mix(2 * counter) >>> 11) + 1) * 0x1p-53;
        double u2 = (mix(2 * counter + 1) >>> 11) * 0x1p-53;
        return Math.sqrt(-2.0 * Math.log(u1)) * Math.cos(2.0 * Math.PI * u2);
    }

    private static long mix(long x) {
        long z = (x + 1) * GOLDEN_GAMMA;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
