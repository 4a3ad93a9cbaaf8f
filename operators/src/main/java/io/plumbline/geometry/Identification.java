package io.plumbline.geometry;

/**
 * Decides when two neighbouring eigenvalues (or singular values) count as one: below this distance the decomposition's
 * own rounding decides which directions come first.
 *
 * <p>A backward stable decomposition of a matrix of size d errs by a small multiple of {@code d 2^-53} times its norm.
 */
public final class Identification {

    private static final double ROUNDING = 16 * 0x1p-53;

    private Identification() {}

    /** The largest distance that rounding alone can make, for a matrix of this norm and size. */
    static double roundingOf(double norm, int size) {
        return ROUNDING * size * norm;
    }

    /** Returns whether a subspace of {@code rank} leading directions is determined by these values (descending). */
    public static boolean separated(double[] values, int rank, int size) {
        if (rank == values.length) {
            return true;
        }
        return values[rank - 1] - values[rank] > roundingOf(Math.abs(values[0]), size);
    }
}
