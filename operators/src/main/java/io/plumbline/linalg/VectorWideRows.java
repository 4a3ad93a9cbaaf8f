package io.plumbline.linalg;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** A vector of floats half as wide becomes one of doubles; what is left over is done by {@link PlainWideRows}. */
final class VectorWideRows implements WideRows {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Float> NARROW =
            VectorSpecies.of(float.class, VectorShape.forBitSize(SPECIES.vectorBitSize() / 2));
    private static final int LANES = SPECIES.length();

    private final PlainWideRows plain = new PlainWideRows();

    @Override
    public void add(double factor, float[] x, int xAt, double[] y, int yAt, int count) {
        DoubleVector factors = DoubleVector.broadcast(SPECIES, factor);
        int whole = SPECIES.loopBound(count);
        for (int j = 0; j < whole; j += LANES) {
            wide(x, xAt + j)
                    .mul(factors)
                    .add(DoubleVector.fromArray(SPECIES, y, yAt + j))
                    .intoArray(y, yAt + j);
        }
        plain.add(factor, x, xAt + whole, y, yAt + whole, count - whole);
    }

    @Override
    public double dot(float[] x, int xAt, float[] y, int yAt, int count) {
        DoubleVector even = DoubleVector.zero(SPECIES);
        DoubleVector odd = DoubleVector.zero(SPECIES);
        int whole = count - count % (2 * LANES);
        for (int j = 0; j < whole; j += 2 * LANES) {
            even = wide(x, xAt + j).fma(wide(y, yAt + j), even);
            odd = wide(x, xAt + j + LANES).fma(wide(y, yAt + j + LANES), odd);
        }
        return even.add(odd).reduceLanes(VectorOperators.ADD)
                + plain.dot(x, xAt + whole, y, yAt + whole, count - whole);
    }

    @Override
    public void widen(float[] x, int xAt, double[] y, int yAt, int count) {
        int whole = SPECIES.loopBound(count);
        for (int j = 0; j < whole; j += LANES) {
            wide(x, xAt + j).intoArray(y, yAt + j);
        }
        plain.widen(x, xAt + whole, y, yAt + whole, count - whole);
    }

    private static DoubleVector wide(float[] x, int at) {
        return (DoubleVector) FloatVector.fromArray(NARROW, x, at).convertShape(VectorOperators.F2D, SPECIES, 0);
    }
}
