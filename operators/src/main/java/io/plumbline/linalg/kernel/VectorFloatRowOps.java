package io.plumbline.linalg.kernel;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Computes with stretches of floats in float64: the first half of a vector of floats becomes a vector of doubles. What
 * is left over is done by {@link PlainFloatRowOps}, and so is the last half: a vector of floats is read whole, and
 * never beyond a row. Vectors half as wide would do it without, see {@link VectorTiles} for why not.
 */
final class VectorFloatRowOps implements FloatRowOps {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();

    /** Sums of even columns, then of odd ones. */
    private static final ThreadLocal<double[]> APART = ThreadLocal.withInitial(() -> new double[0]);

    private final PlainFloatRowOps plain = new PlainFloatRowOps();

    @Override
    public void add(double factor, float[] x, int xAt, double[] y, int yAt, int count) {
        DoubleVector factors = DoubleVector.broadcast(SPECIES, factor);
        int whole = SPECIES.loopBound(Math.max(0, count - LANES));
        for (int j = 0; j < whole; j += LANES) {
            DoubleVector wide = (DoubleVector)
                    FloatVector.fromArray(FLOATS, x, xAt + j).convertShape(VectorOperators.F2D, SPECIES, 0);
            wide.mul(factors).add(DoubleVector.fromArray(SPECIES, y, yAt + j)).intoArray(y, yAt + j);
        }
        plain.add(factor, x, xAt + whole, y, yAt + whole, count - whole);
    }

    @Override
    public double dot(float[] x, int xAt, float[] y, int yAt, int count) {
        DoubleVector even = DoubleVector.zero(SPECIES);
        DoubleVector odd = DoubleVector.zero(SPECIES);
        int inRow = Math.max(0, count - LANES);
        int whole = inRow - inRow % (2 * LANES);
        for (int j = 0; j < whole; j += 2 * LANES) {
            DoubleVector x0 = (DoubleVector)
                    FloatVector.fromArray(FLOATS, x, xAt + j).convertShape(VectorOperators.F2D, SPECIES, 0);
            DoubleVector y0 = (DoubleVector)
                    FloatVector.fromArray(FLOATS, y, yAt + j).convertShape(VectorOperators.F2D, SPECIES, 0);
            DoubleVector x1 = (DoubleVector)
                    FloatVector.fromArray(FLOATS, x, xAt + j + LANES).convertShape(VectorOperators.F2D, SPECIES, 0);
            DoubleVector y1 = (DoubleVector)
                    FloatVector.fromArray(FLOATS, y, yAt + j + LANES).convertShape(VectorOperators.F2D, SPECIES, 0);
            even = x0.fma(y0, even);
            odd = x1.fma(y1, odd);
        }
        return even.add(odd).reduceLanes(VectorOperators.ADD)
                + plain.dot(x, xAt + whole, y, yAt + whole, count - whole);
    }

    @Override
    public void widen(float[] x, int xAt, double[] y, int yAt, int count) {
        int whole = SPECIES.loopBound(Math.max(0, count - LANES));
        for (int j = 0; j < whole; j += LANES) {
            DoubleVector wide = (DoubleVector)
                    FloatVector.fromArray(FLOATS, x, xAt + j).convertShape(VectorOperators.F2D, SPECIES, 0);
            wide.intoArray(y, yAt + j);
        }
        plain.widen(x, xAt + whole, y, yAt + whole, count - whole);
    }

    /** Reads two columns as one integer: the sums of even and of odd columns are apart until the last row. */
    @Override
    public void addBrains(byte[] rows, int count, double[] sums, int columns) {
        int half = SPECIES.loopBound(Math.max(0, columns / 2 - LANES));
        double[] apart = apart(2 * half);
        for (int j = 0; j < half; j++) {
            apart[j] = sums[2 * j];
            apart[half + j] = sums[2 * j + 1];
        }
        for (int row = 0; row < count; row++) {
            int at = Short.BYTES * row * columns;
            for (int j = 0; j < half; j += LANES) {
                IntVector pairs = ByteVector.fromArray(BYTES, rows, at + Integer.BYTES * j)
                        .reinterpretAsInts();
                DoubleVector even = (DoubleVector) pairs.lanewise(VectorOperators.LSHL, Short.SIZE)
                        .reinterpretAsFloats()
                        .convertShape(VectorOperators.F2D, SPECIES, 0);
                even.add(DoubleVector.fromArray(SPECIES, apart, j)).intoArray(apart, j);
                DoubleVector odd = (DoubleVector)
                        pairs.and(0xFFFF_0000).reinterpretAsFloats().convertShape(VectorOperators.F2D, SPECIES, 0);
                odd.add(DoubleVector.fromArray(SPECIES, apart, half + j)).intoArray(apart, half + j);
            }
            PlainFloatRowOps.addBrains(rows, at, sums, 2 * half, columns);
        }
        for (int j = 0; j < half; j++) {
            sums[2 * j] = apart[j];
            sums[2 * j + 1] = apart[half + j];
        }
    }

    private static double[] apart(int length) {
        double[] apart = APART.get();
        if (apart.length < length) {
            apart = new double[length];
            APART.set(apart);
        }
        return apart;
    }
}
