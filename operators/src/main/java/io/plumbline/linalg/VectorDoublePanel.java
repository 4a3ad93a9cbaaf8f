package io.plumbline.linalg;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/** {@link VectorFloatPanel} in float64; that class says why the two are not one. */
final class VectorDoublePanel extends DoublePanel {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = 3 * LANES;
    private static final int TILE_ROWS = VectorTiles.ROWS;

    private final int strip;
    private final double[] values;
    private final double[] tile = new double[TILE_ROWS * WIDTH];

    VectorDoublePanel(int dimension, int capacity) {
        super(dimension, capacity, WIDTH);
        strip = capacity * WIDTH;
        values = new double[VectorTiles.strips(dimension, WIDTH) * strip];
    }

    @Override
    public double[] array(int row) {
        return values;
    }

    @Override
    public int index(int row, int column) {
        return column / WIDTH * strip + row * WIDTH;
    }

    @Override
    void addProducts(double[] packed, int offset, int count) {
        int d = dimension();
        int group = VectorTiles.STRIPS_IN_CACHE * WIDTH;
        for (int start = 0; start < d; start += group) {
            int end = Math.min(start + group, d);
            for (int i = start; i < d; i += TILE_ROWS) {
                int left = i / WIDTH * strip + i % WIDTH;
                int last = Math.min(i + TILE_ROWS, d);
                for (int j = start; j < Math.min(end, last); j += WIDTH) {
                    if (TILE_ROWS == 8) {
                        eight(values, left, j / WIDTH * strip, count, tile);
                    } else {
                        four(values, left, j / WIDTH * strip, count, tile);
                    }
                    for (int row = i; row < last; row++) {
                        int length = Math.min(WIDTH, row + 1 - j);
                        if (length > 0) {
                            fold(tile, (row - i) * WIDTH, packed, offset + VectorTiles.startOfRow(row) + j, length);
                        }
                    }
                }
            }
        }
    }

    private static void fold(double[] tile, int from, double[] packed, int at, int length) {
        for (int j = 0; j < length; j++) {
            packed[at + j] += tile[from + j];
        }
    }

    /** {@code tile = A^T B}: the 8 columns from {@code left} against the three vectors from {@code right}. */
    private static void eight(double[] x, int left, int right, int rows, double[] tile) {
        DoubleVector s00 = DoubleVector.zero(SPECIES);
        DoubleVector s01 = DoubleVector.zero(SPECIES);
        DoubleVector s02 = DoubleVector.zero(SPECIES);
        DoubleVector s10 = DoubleVector.zero(SPECIES);
        DoubleVector s11 = DoubleVector.zero(SPECIES);
        DoubleVector s12 = DoubleVector.zero(SPECIES);
        DoubleVector s20 = DoubleVector.zero(SPECIES);
        DoubleVector s21 = DoubleVector.zero(SPECIES);
        DoubleVector s22 = DoubleVector.zero(SPECIES);
        DoubleVector s30 = DoubleVector.zero(SPECIES);
        DoubleVector s31 = DoubleVector.zero(SPECIES);
        DoubleVector s32 = DoubleVector.zero(SPECIES);
        DoubleVector s40 = DoubleVector.zero(SPECIES);
        DoubleVector s41 = DoubleVector.zero(SPECIES);
        DoubleVector s42 = DoubleVector.zero(SPECIES);
        DoubleVector s50 = DoubleVector.zero(SPECIES);
        DoubleVector s51 = DoubleVector.zero(SPECIES);
        DoubleVector s52 = DoubleVector.zero(SPECIES);
        DoubleVector s60 = DoubleVector.zero(SPECIES);
        DoubleVector s61 = DoubleVector.zero(SPECIES);
        DoubleVector s62 = DoubleVector.zero(SPECIES);
        DoubleVector s70 = DoubleVector.zero(SPECIES);
        DoubleVector s71 = DoubleVector.zero(SPECIES);
        DoubleVector s72 = DoubleVector.zero(SPECIES);
        for (int p = 0; p < rows; p++) {
            int a = left + p * WIDTH;
            int b = right + p * WIDTH;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, x, b);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, x, b + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, x, b + 2 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, x[a]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, x[a + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, x[a + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, x[a + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            DoubleVector a4 = DoubleVector.broadcast(SPECIES, x[a + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            DoubleVector a5 = DoubleVector.broadcast(SPECIES, x[a + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            s52 = a5.fma(b2, s52);
            DoubleVector a6 = DoubleVector.broadcast(SPECIES, x[a + 6]);
            s60 = a6.fma(b0, s60);
            s61 = a6.fma(b1, s61);
            s62 = a6.fma(b2, s62);
            DoubleVector a7 = DoubleVector.broadcast(SPECIES, x[a + 7]);
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
    private static void four(double[] x, int left, int right, int rows, double[] tile) {
        DoubleVector s00 = DoubleVector.zero(SPECIES);
        DoubleVector s01 = DoubleVector.zero(SPECIES);
        DoubleVector s02 = DoubleVector.zero(SPECIES);
        DoubleVector s10 = DoubleVector.zero(SPECIES);
        DoubleVector s11 = DoubleVector.zero(SPECIES);
        DoubleVector s12 = DoubleVector.zero(SPECIES);
        DoubleVector s20 = DoubleVector.zero(SPECIES);
        DoubleVector s21 = DoubleVector.zero(SPECIES);
        DoubleVector s22 = DoubleVector.zero(SPECIES);
        DoubleVector s30 = DoubleVector.zero(SPECIES);
        DoubleVector s31 = DoubleVector.zero(SPECIES);
        DoubleVector s32 = DoubleVector.zero(SPECIES);
        for (int p = 0; p < rows; p++) {
            int a = left + p * WIDTH;
            int b = right + p * WIDTH;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, x, b);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, x, b + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, x, b + 2 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, x[a]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, x[a + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, x[a + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, x[a + 3]);
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
