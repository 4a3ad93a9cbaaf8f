package io.plumbline.linalg;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/** Sums of eight rows by three vectors in registers, or of four rows where a vector is shorter, since registers are fewer there. */
final class VectorTileKernel implements TileKernel {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int HEIGHT = VectorTiles.ROWS;

    @Override
    public void add(double[] left, int a, double[] right, int b, int count, double[] tile, int c) {
        if (HEIGHT == ROWS) {
            eight(left, a, right, b, count, tile, c);
            return;
        }
        for (int i = 0; i < ROWS; i += HEIGHT) {
            for (int j = 0; j < WIDTH; j += 3 * LANES) {
                four(left, a + i, right, b + j, count, tile, c + i * WIDTH + j);
            }
        }
    }

    @Override
    public void solve(double[] triangle, int r, double[] tile, int c) {
        for (int j = c; j < c + WIDTH; j += LANES) {
            solveColumns(triangle, r, tile, j);
        }
    }

    /** All of the tile. */
    private static void eight(double[] left, int a, double[] right, int b, int count, double[] tile, int c) {
        DoubleVector s00 = DoubleVector.fromArray(SPECIES, tile, c);
        DoubleVector s01 = DoubleVector.fromArray(SPECIES, tile, c + LANES);
        DoubleVector s02 = DoubleVector.fromArray(SPECIES, tile, c + 2 * LANES);
        DoubleVector s10 = DoubleVector.fromArray(SPECIES, tile, c + WIDTH);
        DoubleVector s11 = DoubleVector.fromArray(SPECIES, tile, c + WIDTH + LANES);
        DoubleVector s12 = DoubleVector.fromArray(SPECIES, tile, c + WIDTH + 2 * LANES);
        DoubleVector s20 = DoubleVector.fromArray(SPECIES, tile, c + 2 * WIDTH);
        DoubleVector s21 = DoubleVector.fromArray(SPECIES, tile, c + 2 * WIDTH + LANES);
        DoubleVector s22 = DoubleVector.fromArray(SPECIES, tile, c + 2 * WIDTH + 2 * LANES);
        DoubleVector s30 = DoubleVector.fromArray(SPECIES, tile, c + 3 * WIDTH);
        DoubleVector s31 = DoubleVector.fromArray(SPECIES, tile, c + 3 * WIDTH + LANES);
        DoubleVector s32 = DoubleVector.fromArray(SPECIES, tile, c + 3 * WIDTH + 2 * LANES);
        DoubleVector s40 = DoubleVector.fromArray(SPECIES, tile, c + 4 * WIDTH);
        DoubleVector s41 = DoubleVector.fromArray(SPECIES, tile, c + 4 * WIDTH + LANES);
        DoubleVector s42 = DoubleVector.fromArray(SPECIES, tile, c + 4 * WIDTH + 2 * LANES);
        DoubleVector s50 = DoubleVector.fromArray(SPECIES, tile, c + 5 * WIDTH);
        DoubleVector s51 = DoubleVector.fromArray(SPECIES, tile, c + 5 * WIDTH + LANES);
        DoubleVector s52 = DoubleVector.fromArray(SPECIES, tile, c + 5 * WIDTH + 2 * LANES);
        DoubleVector s60 = DoubleVector.fromArray(SPECIES, tile, c + 6 * WIDTH);
        DoubleVector s61 = DoubleVector.fromArray(SPECIES, tile, c + 6 * WIDTH + LANES);
        DoubleVector s62 = DoubleVector.fromArray(SPECIES, tile, c + 6 * WIDTH + 2 * LANES);
        DoubleVector s70 = DoubleVector.fromArray(SPECIES, tile, c + 7 * WIDTH);
        DoubleVector s71 = DoubleVector.fromArray(SPECIES, tile, c + 7 * WIDTH + LANES);
        DoubleVector s72 = DoubleVector.fromArray(SPECIES, tile, c + 7 * WIDTH + 2 * LANES);
        for (int h = 0; h < count; h++) {
            int at = a + h * WIDTH;
            int of = b + h * WIDTH;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, right, of + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, right, of + 2 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            DoubleVector a4 = DoubleVector.broadcast(SPECIES, left[at + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            DoubleVector a5 = DoubleVector.broadcast(SPECIES, left[at + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            s52 = a5.fma(b2, s52);
            DoubleVector a6 = DoubleVector.broadcast(SPECIES, left[at + 6]);
            s60 = a6.fma(b0, s60);
            s61 = a6.fma(b1, s61);
            s62 = a6.fma(b2, s62);
            DoubleVector a7 = DoubleVector.broadcast(SPECIES, left[at + 7]);
            s70 = a7.fma(b0, s70);
            s71 = a7.fma(b1, s71);
            s72 = a7.fma(b2, s72);
        }
        s00.intoArray(tile, c);
        s01.intoArray(tile, c + LANES);
        s02.intoArray(tile, c + 2 * LANES);
        s10.intoArray(tile, c + WIDTH);
        s11.intoArray(tile, c + WIDTH + LANES);
        s12.intoArray(tile, c + WIDTH + 2 * LANES);
        s20.intoArray(tile, c + 2 * WIDTH);
        s21.intoArray(tile, c + 2 * WIDTH + LANES);
        s22.intoArray(tile, c + 2 * WIDTH + 2 * LANES);
        s30.intoArray(tile, c + 3 * WIDTH);
        s31.intoArray(tile, c + 3 * WIDTH + LANES);
        s32.intoArray(tile, c + 3 * WIDTH + 2 * LANES);
        s40.intoArray(tile, c + 4 * WIDTH);
        s41.intoArray(tile, c + 4 * WIDTH + LANES);
        s42.intoArray(tile, c + 4 * WIDTH + 2 * LANES);
        s50.intoArray(tile, c + 5 * WIDTH);
        s51.intoArray(tile, c + 5 * WIDTH + LANES);
        s52.intoArray(tile, c + 5 * WIDTH + 2 * LANES);
        s60.intoArray(tile, c + 6 * WIDTH);
        s61.intoArray(tile, c + 6 * WIDTH + LANES);
        s62.intoArray(tile, c + 6 * WIDTH + 2 * LANES);
        s70.intoArray(tile, c + 7 * WIDTH);
        s71.intoArray(tile, c + 7 * WIDTH + LANES);
        s72.intoArray(tile, c + 7 * WIDTH + 2 * LANES);
    }

    /** Four rows of three vectors. */
    private static void four(double[] left, int a, double[] right, int b, int count, double[] tile, int c) {
        DoubleVector s00 = DoubleVector.fromArray(SPECIES, tile, c);
        DoubleVector s01 = DoubleVector.fromArray(SPECIES, tile, c + LANES);
        DoubleVector s02 = DoubleVector.fromArray(SPECIES, tile, c + 2 * LANES);
        DoubleVector s10 = DoubleVector.fromArray(SPECIES, tile, c + WIDTH);
        DoubleVector s11 = DoubleVector.fromArray(SPECIES, tile, c + WIDTH + LANES);
        DoubleVector s12 = DoubleVector.fromArray(SPECIES, tile, c + WIDTH + 2 * LANES);
        DoubleVector s20 = DoubleVector.fromArray(SPECIES, tile, c + 2 * WIDTH);
        DoubleVector s21 = DoubleVector.fromArray(SPECIES, tile, c + 2 * WIDTH + LANES);
        DoubleVector s22 = DoubleVector.fromArray(SPECIES, tile, c + 2 * WIDTH + 2 * LANES);
        DoubleVector s30 = DoubleVector.fromArray(SPECIES, tile, c + 3 * WIDTH);
        DoubleVector s31 = DoubleVector.fromArray(SPECIES, tile, c + 3 * WIDTH + LANES);
        DoubleVector s32 = DoubleVector.fromArray(SPECIES, tile, c + 3 * WIDTH + 2 * LANES);
        for (int h = 0; h < count; h++) {
            int at = a + h * WIDTH;
            int of = b + h * WIDTH;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, right, of + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, right, of + 2 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
        }
        s00.intoArray(tile, c);
        s01.intoArray(tile, c + LANES);
        s02.intoArray(tile, c + 2 * LANES);
        s10.intoArray(tile, c + WIDTH);
        s11.intoArray(tile, c + WIDTH + LANES);
        s12.intoArray(tile, c + WIDTH + 2 * LANES);
        s20.intoArray(tile, c + 2 * WIDTH);
        s21.intoArray(tile, c + 2 * WIDTH + LANES);
        s22.intoArray(tile, c + 2 * WIDTH + 2 * LANES);
        s30.intoArray(tile, c + 3 * WIDTH);
        s31.intoArray(tile, c + 3 * WIDTH + LANES);
        s32.intoArray(tile, c + 3 * WIDTH + 2 * LANES);
    }

    private static void solveColumns(double[] triangle, int r, double[] tile, int c) {
        DoubleVector x0 = DoubleVector.fromArray(SPECIES, tile, c);
        DoubleVector x1 = DoubleVector.fromArray(SPECIES, tile, c + WIDTH);
        DoubleVector x2 = DoubleVector.fromArray(SPECIES, tile, c + 2 * WIDTH);
        DoubleVector x3 = DoubleVector.fromArray(SPECIES, tile, c + 3 * WIDTH);
        DoubleVector x4 = DoubleVector.fromArray(SPECIES, tile, c + 4 * WIDTH);
        DoubleVector x5 = DoubleVector.fromArray(SPECIES, tile, c + 5 * WIDTH);
        DoubleVector x6 = DoubleVector.fromArray(SPECIES, tile, c + 6 * WIDTH);
        DoubleVector x7 = DoubleVector.fromArray(SPECIES, tile, c + 7 * WIDTH);
        x0 = x0.mul(triangle[r]);
        x1 = x0.fma(DoubleVector.broadcast(SPECIES, triangle[r + 1]), x1);
        x2 = x0.fma(DoubleVector.broadcast(SPECIES, triangle[r + 2]), x2);
        x3 = x0.fma(DoubleVector.broadcast(SPECIES, triangle[r + 3]), x3);
        x4 = x0.fma(DoubleVector.broadcast(SPECIES, triangle[r + 4]), x4);
        x5 = x0.fma(DoubleVector.broadcast(SPECIES, triangle[r + 5]), x5);
        x6 = x0.fma(DoubleVector.broadcast(SPECIES, triangle[r + 6]), x6);
        x7 = x0.fma(DoubleVector.broadcast(SPECIES, triangle[r + 7]), x7);
        x1 = x1.mul(triangle[r + ROWS + 1]);
        x2 = x1.fma(DoubleVector.broadcast(SPECIES, triangle[r + ROWS + 2]), x2);
        x3 = x1.fma(DoubleVector.broadcast(SPECIES, triangle[r + ROWS + 3]), x3);
        x4 = x1.fma(DoubleVector.broadcast(SPECIES, triangle[r + ROWS + 4]), x4);
        x5 = x1.fma(DoubleVector.broadcast(SPECIES, triangle[r + ROWS + 5]), x5);
        x6 = x1.fma(DoubleVector.broadcast(SPECIES, triangle[r + ROWS + 6]), x6);
        x7 = x1.fma(DoubleVector.broadcast(SPECIES, triangle[r + ROWS + 7]), x7);
        x2 = x2.mul(triangle[r + 2 * ROWS + 2]);
        x3 = x2.fma(DoubleVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 3]), x3);
        x4 = x2.fma(DoubleVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 4]), x4);
        x5 = x2.fma(DoubleVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 5]), x5);
        x6 = x2.fma(DoubleVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 6]), x6);
        x7 = x2.fma(DoubleVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 7]), x7);
        x3 = x3.mul(triangle[r + 3 * ROWS + 3]);
        x4 = x3.fma(DoubleVector.broadcast(SPECIES, triangle[r + 3 * ROWS + 4]), x4);
        x5 = x3.fma(DoubleVector.broadcast(SPECIES, triangle[r + 3 * ROWS + 5]), x5);
        x6 = x3.fma(DoubleVector.broadcast(SPECIES, triangle[r + 3 * ROWS + 6]), x6);
        x7 = x3.fma(DoubleVector.broadcast(SPECIES, triangle[r + 3 * ROWS + 7]), x7);
        x4 = x4.mul(triangle[r + 4 * ROWS + 4]);
        x5 = x4.fma(DoubleVector.broadcast(SPECIES, triangle[r + 4 * ROWS + 5]), x5);
        x6 = x4.fma(DoubleVector.broadcast(SPECIES, triangle[r + 4 * ROWS + 6]), x6);
        x7 = x4.fma(DoubleVector.broadcast(SPECIES, triangle[r + 4 * ROWS + 7]), x7);
        x5 = x5.mul(triangle[r + 5 * ROWS + 5]);
        x6 = x5.fma(DoubleVector.broadcast(SPECIES, triangle[r + 5 * ROWS + 6]), x6);
        x7 = x5.fma(DoubleVector.broadcast(SPECIES, triangle[r + 5 * ROWS + 7]), x7);
        x6 = x6.mul(triangle[r + 6 * ROWS + 6]);
        x7 = x6.fma(DoubleVector.broadcast(SPECIES, triangle[r + 6 * ROWS + 7]), x7);
        x7 = x7.mul(triangle[r + 7 * ROWS + 7]);
        x0.intoArray(tile, c);
        x1.intoArray(tile, c + WIDTH);
        x2.intoArray(tile, c + 2 * WIDTH);
        x3.intoArray(tile, c + 3 * WIDTH);
        x4.intoArray(tile, c + 4 * WIDTH);
        x5.intoArray(tile, c + 5 * WIDTH);
        x6.intoArray(tile, c + 6 * WIDTH);
        x7.intoArray(tile, c + 7 * WIDTH);
    }
}
