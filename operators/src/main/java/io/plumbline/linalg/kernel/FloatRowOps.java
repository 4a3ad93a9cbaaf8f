package io.plumbline.linalg.kernel;

/**
 * Stretches of floats in float64 arithmetic. Twins agree to the last bit where nothing is summed up over the stretch.
 */
public interface FloatRowOps {

    /** Computes {@code y += factor * x}, product and sum each rounded. */
    void add(double factor, float[] x, int xAt, double[] y, int yAt, int count);

    /** The inner product, in some interleaved partial sums. */
    double dot(float[] x, int xAt, float[] y, int yAt, int count);

    /** Computes {@code y = x}. */
    void widen(float[] x, int xAt, double[] y, int yAt, int count);

    /**
     * Computes {@code sums[j] += x_j} for {@code count} rows of {@code columns} numbers of bfloat16, little-endian, one
     * row after the other: twins agree to the last bit.
     */
    void addBrains(byte[] rows, int count, double[] sums, int columns);
}
