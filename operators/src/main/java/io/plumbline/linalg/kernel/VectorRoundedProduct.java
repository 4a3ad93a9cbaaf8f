package io.plumbline.linalg.kernel;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Keeps the sums of four rows by two vectors in registers. They are eight, which 16 registers hold beside a product and
 * its factors, and enough for two units that add and multiply: without fused steps a sum waits half as often.
 *
 * <p>B lies in strips of two vectors, row after row; rows of A four side by side.
 */
final class VectorRoundedProduct implements RoundedProduct {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();

    /** Columns of a strip. */
    private static final int WIDTH = 2 * LANES;

    /** Rows of a tile. */
    private static final int ROWS = 4;

    /** Places in B for one in A. */
    private static final int RIGHT_FOR_LEFT = WIDTH / ROWS;

    private static final ThreadLocal<double[]> LEFT = ThreadLocal.withInitial(() -> new double[0]);

    private final int inner;
    private final int columns;
    private final double[] right;

    VectorRoundedProduct(MatrixView b) {
        this.inner = b.rows();
        this.columns = b.columns();
        int strips = (columns + WIDTH - 1) / WIDTH;
        this.right = new double[Math.multiplyExact(strips * WIDTH, inner)];
        for (int h = 0; h < inner; h++) {
            for (int j = 0; j < columns; j += WIDTH) {
                b.copyRow(h, j, right, j * inner + h * WIDTH, Math.min(WIDTH, columns - j));
            }
        }
    }

    @Override
    public void multiply(double[][] a, double[][] c) {
        double[] left = layOut(a);
        double[][] rest = new double[ROWS][WIDTH];
        for (int j = 0; j < columns; j += WIDTH) {
            boolean whole = j + WIDTH <= columns;
            for (int i = 0; i < a.length; i += ROWS) {
                if (whole && i + ROWS <= a.length) {
                    tile(left, i * inner, right, j * inner, inner, c[i], c[i + 1], c[i + 2], c[i + 3], j);
                } else {
                    tile(left, i * inner, right, j * inner, inner, rest[0], rest[1], rest[2], rest[3], 0);
                    for (int row = i; row < Math.min(i + ROWS, a.length); row++) {
                        System.arraycopy(rest[row - i], 0, c[row], j, Math.min(WIDTH, columns - j));
                    }
                }
            }
        }
    }

    /** Lays rows four side by side; what stands beside the last ones is computed and not read. */
    private double[] layOut(double[][] a) {
        int size = (a.length + ROWS - 1) / ROWS * ROWS * inner;
        double[] left = LEFT.get();
        if (left.length < size) {
            left = new double[size];
            LEFT.set(left);
        }
        for (int i = 0; i < a.length; i += ROWS) {
            int last = a.length - 1;
            layOut(a[i], a[Math.min(i + 1, last)], a[Math.min(i + 2, last)], a[Math.min(i + 3, last)], left, i * inner);
        }
        return left;
    }

    private void layOut(double[] x, double[] y, double[] z, double[] u, double[] left, int at) {
        for (int h = 0; h < inner; h++) {
            left[at + h * ROWS] = x[h];
            left[at + h * ROWS + 1] = y[h];
            left[at + h * ROWS + 2] = z[h];
            left[at + h * ROWS + 3] = u[h];
        }
    }

    private static void tile(
            double[] left,
            int a,
            double[] right,
            int b,
            int count,
            double[] c0,
            double[] c1,
            double[] c2,
            double[] c3,
            int c) {
        DoubleVector s00 = DoubleVector.zero(SPECIES);
        DoubleVector s01 = DoubleVector.zero(SPECIES);
        DoubleVector s10 = DoubleVector.zero(SPECIES);
        DoubleVector s11 = DoubleVector.zero(SPECIES);
        DoubleVector s20 = DoubleVector.zero(SPECIES);
        DoubleVector s21 = DoubleVector.zero(SPECIES);
        DoubleVector s30 = DoubleVector.zero(SPECIES);
        DoubleVector s31 = DoubleVector.zero(SPECIES);
        int end = a + count * ROWS;
        int apart = b - RIGHT_FOR_LEFT * a;
        for (int at = a; at < end; at += ROWS) {
            int of = RIGHT_FOR_LEFT * at + apart;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, right, of + LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s00 = s00.add(a0.mul(b0));
            s01 = s01.add(a0.mul(b1));
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s10 = s10.add(a1.mul(b0));
            s11 = s11.add(a1.mul(b1));
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s20 = s20.add(a2.mul(b0));
            s21 = s21.add(a2.mul(b1));
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, left[at + 3]);
            s30 = s30.add(a3.mul(b0));
            s31 = s31.add(a3.mul(b1));
        }
        s00.intoArray(c0, c);
        s01.intoArray(c0, c + LANES);
        s10.intoArray(c1, c);
        s11.intoArray(c1, c + LANES);
        s20.intoArray(c2, c);
        s21.intoArray(c2, c + LANES);
        s30.intoArray(c3, c);
        s31.intoArray(c3, c + LANES);
    }
}
