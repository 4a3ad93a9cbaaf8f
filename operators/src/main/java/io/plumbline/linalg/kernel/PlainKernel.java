package io.plumbline.linalg.kernel;

import java.util.Arrays;

/**
 * Computes the update in plain loops, for every Java: what {@link RowUpdates} says of arrays that are read at one index
 * is why each row is an array of its own, and why a row of the triangle is summed in one before it is added.
 */
final class PlainKernel implements UpdateKernel {

    @Override
    public String name() {
        return UpdateKernels.PLAIN;
    }

    @Override
    public FloatPanel floats(int dimension) {
        return new Floats(dimension);
    }

    @Override
    public DoublePanel doubles(int dimension, int capacity) {
        return new Doubles(dimension, capacity);
    }

    @Override
    public PackedMatrix pack(MatrixView b) {
        return new Rows(b);
    }

    @Override
    public PackedFloatMatrix packFloats(MatrixRows b) {
        return new PlainPackedFloatMatrix(b);
    }

    @Override
    public TileKernel tiles() {
        return new PlainTileKernel();
    }

    @Override
    public FloatTileKernel floatTiles() {
        return new PlainFloatTileKernel();
    }

    @Override
    public FloatRowOps floatRowOps() {
        return new PlainFloatRowOps();
    }

    @Override
    public String toString() {
        return UpdateKernels.PLAIN;
    }

    private static final class Floats extends FloatPanel {

        /** The array in which a row of the moment is summed; it may be longer. */
        private static final ThreadLocal<float[]> TARGET = ThreadLocal.withInitial(() -> new float[0]);

        private final float[][] x;

        Floats(int dimension) {
            super(dimension, dimension);
            x = new float[capacity(dimension)][dimension];
        }

        @Override
        public float[] array(int row) {
            return x[row];
        }

        @Override
        public int index(int row, int column) {
            return column;
        }

        @Override
        void addSums(double[] sums, int count) {
            for (int row = 0; row < count; row++) {
                float[] values = x[row];
                for (int j = 0; j < values.length; j++) {
                    sums[j] += values[j];
                }
            }
        }

        @Override
        int parts() {
            return (dimension() - 1) / ROWS_OF_PART + 1;
        }

        @Override
        void addProducts(double[] packed, int offset, int count, int part) {
            float[] target = target();
            int first = part * ROWS_OF_PART;
            int at = offset + (int) ((long) first * (first + 1) / 2);
            for (int i = first; i < Math.min(first + ROWS_OF_PART, dimension()); i++) {
                for (int from = 0; from < count; from += ROWS) {
                    addBatch(packed, at, i, from, Math.min(from + ROWS, count), target);
                }
                at += i + 1;
            }
        }

        private float[] target() {
            float[] target = TARGET.get();
            if (target.length < dimension()) {
                target = new float[dimension()];
                TARGET.set(target);
            }
            return target;
        }

        /** Adds row i of the moment. */
        private void addBatch(double[] packed, int at, int i, int from, int to, float[] target) {
            Arrays.fill(target, 0, i + 1, 0f);
            int row = from;
            for (; row + 8 <= to; row += 8) {
                addEight(target, x, row, i, i + 1);
            }
            for (; row < to; row++) {
                addOne(target, x[row], x[row][i], i + 1);
            }
            for (int j = 0; j <= i; j++) {
                packed[at + j] += target[j];
            }
        }

        private static void addOne(float[] target, float[] row, float factor, int end) {
            for (int j = 0; j < end; j++) {
                target[j] += factor * row[j];
            }
        }

        private static void addEight(float[] target, float[][] x, int row, int i, int end) {
            float[] x0 = x[row];
            float[] x1 = x[row + 1];
            float[] x2 = x[row + 2];
            float[] x3 = x[row + 3];
            float[] x4 = x[row + 4];
            float[] x5 = x[row + 5];
            float[] x6 = x[row + 6];
            float[] x7 = x[row + 7];
            float a0 = x0[i];
            float a1 = x1[i];
            float a2 = x2[i];
            float a3 = x3[i];
            float a4 = x4[i];
            float a5 = x5[i];
            float a6 = x6[i];
            float a7 = x7[i];
            for (int j = 0; j < end; j++) {
                target[j] += ((a0 * x0[j] + a1 * x1[j]) + (a2 * x2[j] + a3 * x3[j]))
                        + ((a4 * x4[j] + a5 * x5[j]) + (a6 * x6[j] + a7 * x7[j]));
            }
        }
    }

    private static final class Doubles extends DoublePanel {

        private final double[][] x;
        private final double[] target;
        private final double[] negated;

        Doubles(int dimension, int capacity) {
            super(dimension, capacity, dimension);
            x = new double[capacity][dimension];
            target = new double[dimension];
            negated = new double[capacity];
        }

        @Override
        public double[] array(int row) {
            return x[row];
        }

        @Override
        public int index(int row, int column) {
            return column;
        }

        @Override
        void addProducts(double[] packed, int offset, int count) {
            int at = offset;
            for (int i = 0; i < dimension(); i++) {
                for (int row = 0; row < count; row++) {
                    negated[row] = -x[row][i];
                }
                Arrays.fill(target, 0, i + 1, 0.0);
                RowUpdates.subtract(target, negated, x, 0, count, 0, i + 1);
                for (int j = 0; j <= i; j++) {
                    packed[at + j] += target[j];
                }
                at += i + 1;
            }
        }
    }

    private static final class Rows extends PackedMatrix {

        private final double[][] b;

        Rows(MatrixView right) {
            super(right);
            b = new double[right.rows()][right.columns()];
            for (int h = 0; h < b.length; h++) {
                right.copyRow(h, 0, b[h], 0, right.columns());
            }
        }

        @Override
        public void multiply(MatrixView a, double[] c, int offset, int stride) {
            double[] negated = new double[rows()];
            double[] target = new double[columns()];
            for (int i = 0; i < a.rows(); i++) {
                a.copyRow(i, 0, negated, 0, negated.length);
                for (int h = 0; h < negated.length; h++) {
                    negated[h] = -negated[h];
                }
                System.arraycopy(c, offset + i * stride, target, 0, target.length);
                RowUpdates.subtract(target, negated, b, 0, b.length, 0, target.length);
                System.arraycopy(target, 0, c, offset + i * stride, target.length);
            }
        }
    }
}
