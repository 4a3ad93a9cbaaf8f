package io.plumbline.linalg;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Rows in strips of three vectors' width; products in tiles of 8 (or 4) columns by three vectors, which stay in registers over
 * all rows of the panel.
 *
 * <p>The loops are kept small on purpose: with the conversion to double inside, the JVM's first compiler gives up on the method
 * and it is interpreted for good. So tiles are folded into the moment by a loop of their own, which converts with the vector
 * instruction: JDK 17 does not find it by itself in a plain loop, and the fold is what is left when the products are fast.
 *
 * <p>{@link VectorDoublePanel} is the same text with doubles, and {@link VectorRightFactor} a third of its kind: the vector classes
 * have no common type with lanes of any kind, and a detour through one would put objects where registers should be.
 */
final class VectorFloatPanel extends FloatPanel {

    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = 3 * LANES;
    private static final int TILE_ROWS = VectorTiles.ROWS;
    private static final int STRIP = ROWS * WIDTH;

    /** Doubles as wide as the floats, and half as many floats as that: what one conversion takes. */
    private static final VectorSpecies<Double> DOUBLES = DoubleVector.SPECIES_PREFERRED;

    private static final VectorSpecies<Float> HALF =
            VectorSpecies.of(float.class, VectorShape.forBitSize(DOUBLES.vectorBitSize() / 2));
    private static final int HALF_LANES = DOUBLES.length();

    private final float[] values;
    private final float[] tile = new float[TILE_ROWS * WIDTH];

    VectorFloatPanel(int dimension) {
        super(dimension, WIDTH);
        values = new float[VectorTiles.strips(dimension, WIDTH) * STRIP];
    }

    @Override
    public float[] array(int row) {
        return values;
    }

    @Override
    public int index(int row, int column) {
        return column / WIDTH * STRIP + row * WIDTH;
    }

    @Override
    void addProducts(double[] packed, int offset, int count) {
        int d = dimension();
        int group = VectorTiles.STRIPS_IN_CACHE * WIDTH;
        for (int start = 0; start < d; start += group) {
            int end = Math.min(start + group, d);
            for (int i = start; i < d; i += TILE_ROWS) {
                int left = i / WIDTH * STRIP + i % WIDTH;
                int last = Math.min(i + TILE_ROWS, d);
                for (int j = start; j < Math.min(end, last); j += WIDTH) {
                    if (TILE_ROWS == 8) {
                        eight(values, left, j / WIDTH * STRIP, count, tile);
                    } else {
                        four(values, left, j / WIDTH * STRIP, count, tile);
                    }
                    for (int row = i; row < last; row++) {
                        int from = (row - i) * WIDTH;
                        int at = offset + VectorTiles.startOfRow(row) + j;
                        if (row + 1 - j >= WIDTH) {
                            fold(tile, from, packed, at);
                        } else {
                            foldFirst(row + 1 - j, tile, from, packed, at);
                        }
                    }
                }
            }
        }
    }

    /** A whole row of a tile. */
    private static void fold(float[] tile, int from, double[] packed, int at) {
        for (int j = 0; j < WIDTH; j += HALF_LANES) {
            DoubleVector.fromArray(DOUBLES, packed, at + j)
                    .add(widened(tile, from + j))
                    .intoArray(packed, at + j);
        }
    }

    /** The first {@code count} entries of a row of a tile on the diagonal; none if it is negative. */
    private static void foldFirst(int count, float[] tile, int from, double[] packed, int at) {
        for (int j = 0; j < count; j++) {
            packed[at + j] += tile[from + j];
        }
    }

    private static DoubleVector widened(float[] values, int at) {
        return (DoubleVector) FloatVector.fromArray(HALF, values, at).convertShape(VectorOperators.F2D, DOUBLES, 0);
    }

    @Override
    void addSums(double[] sums, int count) {
        int column = 0;
        for (; column + HALF_LANES <= dimension(); column += HALF_LANES) {
            addSums(values, index(0, column / WIDTH * WIDTH) + column % WIDTH, count, sums, column);
        }
        for (; column < dimension(); column++) {
            int at = index(0, column / WIDTH * WIDTH) + column % WIDTH;
            for (int row = 0; row < count; row++) {
                sums[column] += values[at + row * WIDTH];
            }
        }
    }

    /** As many columns as a vector has doubles. */
    private static void addSums(float[] values, int from, int count, double[] sums, int column) {
        DoubleVector sum = DoubleVector.fromArray(DOUBLES, sums, column);
        for (int row = 0; row < count; row++) {
            sum = sum.add(widened(values, from + row * WIDTH));
        }
        sum.intoArray(sums, column);
    }

    /** {@code tile = A^T B}: the 8 columns from {@code left} against the three vectors from {@code right}. */
    private static void eight(float[] x, int left, int right, int rows, float[] tile) {
        FloatVector s00 = FloatVector.zero(SPECIES);
        FloatVector s01 = FloatVector.zero(SPECIES);
        FloatVector s02 = FloatVector.zero(SPECIES);
        FloatVector s10 = FloatVector.zero(SPECIES);
        FloatVector s11 = FloatVector.zero(SPECIES);
        FloatVector s12 = FloatVector.zero(SPECIES);
        FloatVector s20 = FloatVector.zero(SPECIES);
        FloatVector s21 = FloatVector.zero(SPECIES);
        FloatVector s22 = FloatVector.zero(SPECIES);
        FloatVector s30 = FloatVector.zero(SPECIES);
        FloatVector s31 = FloatVector.zero(SPECIES);
        FloatVector s32 = FloatVector.zero(SPECIES);
        FloatVector s40 = FloatVector.zero(SPECIES);
        FloatVector s41 = FloatVector.zero(SPECIES);
        FloatVector s42 = FloatVector.zero(SPECIES);
        FloatVector s50 = FloatVector.zero(SPECIES);
        FloatVector s51 = FloatVector.zero(SPECIES);
        FloatVector s52 = FloatVector.zero(SPECIES);
        FloatVector s60 = FloatVector.zero(SPECIES);
        FloatVector s61 = FloatVector.zero(SPECIES);
        FloatVector s62 = FloatVector.zero(SPECIES);
        FloatVector s70 = FloatVector.zero(SPECIES);
        FloatVector s71 = FloatVector.zero(SPECIES);
        FloatVector s72 = FloatVector.zero(SPECIES);
        for (int p = 0; p < rows; p++) {
            int a = left + p * WIDTH;
            int b = right + p * WIDTH;
            FloatVector b0 = FloatVector.fromArray(SPECIES, x, b);
            FloatVector b1 = FloatVector.fromArray(SPECIES, x, b + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, x, b + 2 * LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, x[a]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            FloatVector a1 = FloatVector.broadcast(SPECIES, x[a + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            FloatVector a2 = FloatVector.broadcast(SPECIES, x[a + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            FloatVector a3 = FloatVector.broadcast(SPECIES, x[a + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            FloatVector a4 = FloatVector.broadcast(SPECIES, x[a + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            FloatVector a5 = FloatVector.broadcast(SPECIES, x[a + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            s52 = a5.fma(b2, s52);
            FloatVector a6 = FloatVector.broadcast(SPECIES, x[a + 6]);
            s60 = a6.fma(b0, s60);
            s61 = a6.fma(b1, s61);
            s62 = a6.fma(b2, s62);
            FloatVector a7 = FloatVector.broadcast(SPECIES, x[a + 7]);
            s70 = a7.fma(b0, s70);
            s71 = a7.fma(b1, s71);
            s72 = a7.fma(b2, s72);
        }
        s00.intoArray(tile, 0);
        s01.intoArray(tile, LANES);
        s02.intoArray(tile, 2 * LANES);
        s10.intoArray(tile, WIDTH);
        s11.intoArray(tile, WIDTH + LANES);
        s12.intoArray(tile, WIDTH + 2 * LANES);
        s20.intoArray(tile, 2 * WIDTH);
        s21.intoArray(tile, 2 * WIDTH + LANES);
        s22.intoArray(tile, 2 * WIDTH + 2 * LANES);
        s30.intoArray(tile, 3 * WIDTH);
        s31.intoArray(tile, 3 * WIDTH + LANES);
        s32.intoArray(tile, 3 * WIDTH + 2 * LANES);
        s40.intoArray(tile, 4 * WIDTH);
        s41.intoArray(tile, 4 * WIDTH + LANES);
        s42.intoArray(tile, 4 * WIDTH + 2 * LANES);
        s50.intoArray(tile, 5 * WIDTH);
        s51.intoArray(tile, 5 * WIDTH + LANES);
        s52.intoArray(tile, 5 * WIDTH + 2 * LANES);
        s60.intoArray(tile, 6 * WIDTH);
        s61.intoArray(tile, 6 * WIDTH + LANES);
        s62.intoArray(tile, 6 * WIDTH + 2 * LANES);
        s70.intoArray(tile, 7 * WIDTH);
        s71.intoArray(tile, 7 * WIDTH + LANES);
        s72.intoArray(tile, 7 * WIDTH + 2 * LANES);
    }

    /** The same with 4 columns, for machines with 16 vector registers. */
    private static void four(float[] x, int left, int right, int rows, float[] tile) {
        FloatVector s00 = FloatVector.zero(SPECIES);
        FloatVector s01 = FloatVector.zero(SPECIES);
        FloatVector s02 = FloatVector.zero(SPECIES);
        FloatVector s10 = FloatVector.zero(SPECIES);
        FloatVector s11 = FloatVector.zero(SPECIES);
        FloatVector s12 = FloatVector.zero(SPECIES);
        FloatVector s20 = FloatVector.zero(SPECIES);
        FloatVector s21 = FloatVector.zero(SPECIES);
        FloatVector s22 = FloatVector.zero(SPECIES);
        FloatVector s30 = FloatVector.zero(SPECIES);
        FloatVector s31 = FloatVector.zero(SPECIES);
        FloatVector s32 = FloatVector.zero(SPECIES);
        for (int p = 0; p < rows; p++) {
            int a = left + p * WIDTH;
            int b = right + p * WIDTH;
            FloatVector b0 = FloatVector.fromArray(SPECIES, x, b);
            FloatVector b1 = FloatVector.fromArray(SPECIES, x, b + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, x, b + 2 * LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, x[a]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            FloatVector a1 = FloatVector.broadcast(SPECIES, x[a + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            FloatVector a2 = FloatVector.broadcast(SPECIES, x[a + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            FloatVector a3 = FloatVector.broadcast(SPECIES, x[a + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
        }
        s00.intoArray(tile, 0);
        s01.intoArray(tile, LANES);
        s02.intoArray(tile, 2 * LANES);
        s10.intoArray(tile, WIDTH);
        s11.intoArray(tile, WIDTH + LANES);
        s12.intoArray(tile, WIDTH + 2 * LANES);
        s20.intoArray(tile, 2 * WIDTH);
        s21.intoArray(tile, 2 * WIDTH + LANES);
        s22.intoArray(tile, 2 * WIDTH + 2 * LANES);
        s30.intoArray(tile, 3 * WIDTH);
        s31.intoArray(tile, 3 * WIDTH + LANES);
        s32.intoArray(tile, 3 * WIDTH + 2 * LANES);
    }
}
