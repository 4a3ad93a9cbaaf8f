package io.plumbline.linalg;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * B in strips of three vectors' width, which are read one after the other while the block of A stays in the second-level cache. A
 * tile of the product is summed in registers over {@value #INNER} entries and then added to what was summed before.
 *
 * <p>The loops over a tile are those of {@link VectorFloatPanel} but for the distance between entries of A, which is a constant in both. Shared, with
 * the distance as an argument, updates were slower in every run (86 and 75 GFLOP/s at best, 91 and 90 apart): so they stand twice.
 *
 * <p><b>Measured</b> 2026-11-22, 2 vCPU AMD EPYC with vectors of 512 bits, JDK 17.0.15, one thread, an encoder of 768 x 24,576: 96 GFLOP/s, 1.04 times
 * OpenBLAS 0.3.21's {@code sgemm}, with bias and TopK 0.95 times the bare {@code sgemm}.
 */
final class VectorFloatFactor extends FloatFactor {

    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = 3 * LANES;
    private static final int TILE_ROWS = VectorTiles.ROWS;
    private static final int TILE = TILE_ROWS * WIDTH;

    private final float[] strips;

    VectorFloatFactor(Operand b) {
        super(b.rows(), b.columns());
        int m = b.rows();
        strips = new float[Math.multiplyExact(VectorTiles.strips(b.columns(), WIDTH) * WIDTH, m)];
        Cores.each(VectorTiles.strips(b.columns(), WIDTH), strip -> {
            int column = strip * WIDTH;
            double[] row = new double[Math.min(WIDTH, b.columns() - column)];
            for (int h = 0; h < m; h++) {
                b.copyRow(h, column, row, 0, row.length);
                for (int j = 0; j < row.length; j++) {
                    strips[column * m + h * WIDTH + j] = (float) row[j];
                }
            }
        });
    }

    @Override
    void tiles(Operand a, float[] bias, Sink sink) {
        int m = rows();
        int tiles = VectorTiles.strips(a.rows(), TILE_ROWS);
        float[] left = layOut(a, tiles);
        float[] sums = new float[tiles * TILE];
        float[] tile = new float[TILE];
        for (int column = 0; column < columns(); column += WIDTH) {
            int length = Math.min(WIDTH, columns() - column);
            for (int row = 0; row < a.rows(); row++) {
                System.arraycopy(bias, column, sums, row * WIDTH, length);
            }
            for (int h = 0; h < m; h += INNER) {
                int count = Math.min(INNER, m - h);
                for (int i = 0; i < tiles; i++) {
                    int from = (i * m + h) * TILE_ROWS;
                    if (TILE_ROWS == 8) {
                        eight(left, from, strips, column * m + h * WIDTH, count, tile);
                    } else {
                        four(left, from, strips, column * m + h * WIDTH, count, tile);
                    }
                    addTo(sums, i * TILE, tile);
                }
            }
            for (int row = 0; row < a.rows(); row++) {
                sink.take(row, column, sums, row * WIDTH, length);
            }
        }
    }

    @Override
    public void copyRow(int row, float[] target) {
        for (int column = 0; column < columns(); column += WIDTH) {
            System.arraycopy(
                    strips, column * rows() + row * WIDTH, target, column, Math.min(WIDTH, columns() - column));
        }
    }

    /** A tile's rows side by side, in floats; what is missing to a whole tile is 0. */
    private static float[] layOut(Operand a, int tiles) {
        int m = a.columns();
        float[] left = new float[tiles * TILE_ROWS * m];
        for (int row = 0; row < a.rows(); row++) {
            int base = row / TILE_ROWS * TILE_ROWS * m + row % TILE_ROWS;
            int at = a.index(row, 0);
            for (int h = 0; h < m; h++) {
                left[base + h * TILE_ROWS] = (float) a.values()[at + h * a.columnStep()];
            }
        }
        return left;
    }

    private static void addTo(float[] sums, int at, float[] tile) {
        for (int j = 0; j < TILE; j += LANES) {
            FloatVector.fromArray(SPECIES, sums, at + j)
                    .add(FloatVector.fromArray(SPECIES, tile, j))
                    .intoArray(sums, at + j);
        }
    }

    /** {@code tile = A B}: a strip of 8 rows from {@code left} against the three vectors from {@code right}. */
    private static void eight(float[] x, int left, float[] y, int right, int count, float[] tile) {
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
        for (int h = 0; h < count; h++) {
            int a = left + h * TILE_ROWS;
            int b = right + h * WIDTH;
            FloatVector b0 = FloatVector.fromArray(SPECIES, y, b);
            FloatVector b1 = FloatVector.fromArray(SPECIES, y, b + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, y, b + 2 * LANES);
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

    /** The same with 4 rows, for machines with 16 vector registers. */
    private static void four(float[] x, int left, float[] y, int right, int count, float[] tile) {
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
        for (int h = 0; h < count; h++) {
            int a = left + h * TILE_ROWS;
            int b = right + h * WIDTH;
            FloatVector b0 = FloatVector.fromArray(SPECIES, y, b);
            FloatVector b1 = FloatVector.fromArray(SPECIES, y, b + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, y, b + 2 * LANES);
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
