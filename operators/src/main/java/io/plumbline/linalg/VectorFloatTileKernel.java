package io.plumbline.linalg;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link VectorTileKernel} in floats: a tile has twice as many columns, since a vector has. Its sums begin at 0 and are added to the tile
 * in the end, which bounds what rounding takes from them.
 */
final class VectorFloatTileKernel implements FloatTileKernel {

    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int HEIGHT = VectorTiles.ROWS;

    @Override
    public void add(float[] left, int a, float[] right, int b, int count, float[] tile, int c) {
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
    public void solve(float[] triangle, int r, float[] tile, int c) {
        for (int j = c; j < c + WIDTH; j += LANES) {
            solveColumns(triangle, r, tile, j);
        }
    }

    /** All of the tile. */
    private static void eight(float[] left, int a, float[] right, int b, int count, float[] tile, int c) {
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
            int at = a + h * WIDTH;
            int of = b + h * WIDTH;
            FloatVector b0 = FloatVector.fromArray(SPECIES, right, of);
            FloatVector b1 = FloatVector.fromArray(SPECIES, right, of + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, right, of + 2 * LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            FloatVector a1 = FloatVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            FloatVector a2 = FloatVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            FloatVector a3 = FloatVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            FloatVector a4 = FloatVector.broadcast(SPECIES, left[at + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            FloatVector a5 = FloatVector.broadcast(SPECIES, left[at + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            s52 = a5.fma(b2, s52);
            FloatVector a6 = FloatVector.broadcast(SPECIES, left[at + 6]);
            s60 = a6.fma(b0, s60);
            s61 = a6.fma(b1, s61);
            s62 = a6.fma(b2, s62);
            FloatVector a7 = FloatVector.broadcast(SPECIES, left[at + 7]);
            s70 = a7.fma(b0, s70);
            s71 = a7.fma(b1, s71);
            s72 = a7.fma(b2, s72);
        }
        s00.add(FloatVector.fromArray(SPECIES, tile, c)).intoArray(tile, c);
        s01.add(FloatVector.fromArray(SPECIES, tile, c + LANES)).intoArray(tile, c + LANES);
        s02.add(FloatVector.fromArray(SPECIES, tile, c + 2 * LANES)).intoArray(tile, c + 2 * LANES);
        s10.add(FloatVector.fromArray(SPECIES, tile, c + WIDTH)).intoArray(tile, c + WIDTH);
        s11.add(FloatVector.fromArray(SPECIES, tile, c + WIDTH + LANES)).intoArray(tile, c + WIDTH + LANES);
        s12.add(FloatVector.fromArray(SPECIES, tile, c + WIDTH + 2 * LANES)).intoArray(tile, c + WIDTH + 2 * LANES);
        s20.add(FloatVector.fromArray(SPECIES, tile, c + 2 * WIDTH)).intoArray(tile, c + 2 * WIDTH);
        s21.add(FloatVector.fromArray(SPECIES, tile, c + 2 * WIDTH + LANES)).intoArray(tile, c + 2 * WIDTH + LANES);
        s22.add(FloatVector.fromArray(SPECIES, tile, c + 2 * WIDTH + 2 * LANES))
                .intoArray(tile, c + 2 * WIDTH + 2 * LANES);
        s30.add(FloatVector.fromArray(SPECIES, tile, c + 3 * WIDTH)).intoArray(tile, c + 3 * WIDTH);
        s31.add(FloatVector.fromArray(SPECIES, tile, c + 3 * WIDTH + LANES)).intoArray(tile, c + 3 * WIDTH + LANES);
        s32.add(FloatVector.fromArray(SPECIES, tile, c + 3 * WIDTH + 2 * LANES))
                .intoArray(tile, c + 3 * WIDTH + 2 * LANES);
        s40.add(FloatVector.fromArray(SPECIES, tile, c + 4 * WIDTH)).intoArray(tile, c + 4 * WIDTH);
        s41.add(FloatVector.fromArray(SPECIES, tile, c + 4 * WIDTH + LANES)).intoArray(tile, c + 4 * WIDTH + LANES);
        s42.add(FloatVector.fromArray(SPECIES, tile, c + 4 * WIDTH + 2 * LANES))
                .intoArray(tile, c + 4 * WIDTH + 2 * LANES);
        s50.add(FloatVector.fromArray(SPECIES, tile, c + 5 * WIDTH)).intoArray(tile, c + 5 * WIDTH);
        s51.add(FloatVector.fromArray(SPECIES, tile, c + 5 * WIDTH + LANES)).intoArray(tile, c + 5 * WIDTH + LANES);
        s52.add(FloatVector.fromArray(SPECIES, tile, c + 5 * WIDTH + 2 * LANES))
                .intoArray(tile, c + 5 * WIDTH + 2 * LANES);
        s60.add(FloatVector.fromArray(SPECIES, tile, c + 6 * WIDTH)).intoArray(tile, c + 6 * WIDTH);
        s61.add(FloatVector.fromArray(SPECIES, tile, c + 6 * WIDTH + LANES)).intoArray(tile, c + 6 * WIDTH + LANES);
        s62.add(FloatVector.fromArray(SPECIES, tile, c + 6 * WIDTH + 2 * LANES))
                .intoArray(tile, c + 6 * WIDTH + 2 * LANES);
        s70.add(FloatVector.fromArray(SPECIES, tile, c + 7 * WIDTH)).intoArray(tile, c + 7 * WIDTH);
        s71.add(FloatVector.fromArray(SPECIES, tile, c + 7 * WIDTH + LANES)).intoArray(tile, c + 7 * WIDTH + LANES);
        s72.add(FloatVector.fromArray(SPECIES, tile, c + 7 * WIDTH + 2 * LANES))
                .intoArray(tile, c + 7 * WIDTH + 2 * LANES);
    }

    /** Four rows of three vectors. */
    private static void four(float[] left, int a, float[] right, int b, int count, float[] tile, int c) {
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
            int at = a + h * WIDTH;
            int of = b + h * WIDTH;
            FloatVector b0 = FloatVector.fromArray(SPECIES, right, of);
            FloatVector b1 = FloatVector.fromArray(SPECIES, right, of + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, right, of + 2 * LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            FloatVector a1 = FloatVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            FloatVector a2 = FloatVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            FloatVector a3 = FloatVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
        }
        s00.add(FloatVector.fromArray(SPECIES, tile, c)).intoArray(tile, c);
        s01.add(FloatVector.fromArray(SPECIES, tile, c + LANES)).intoArray(tile, c + LANES);
        s02.add(FloatVector.fromArray(SPECIES, tile, c + 2 * LANES)).intoArray(tile, c + 2 * LANES);
        s10.add(FloatVector.fromArray(SPECIES, tile, c + WIDTH)).intoArray(tile, c + WIDTH);
        s11.add(FloatVector.fromArray(SPECIES, tile, c + WIDTH + LANES)).intoArray(tile, c + WIDTH + LANES);
        s12.add(FloatVector.fromArray(SPECIES, tile, c + WIDTH + 2 * LANES)).intoArray(tile, c + WIDTH + 2 * LANES);
        s20.add(FloatVector.fromArray(SPECIES, tile, c + 2 * WIDTH)).intoArray(tile, c + 2 * WIDTH);
        s21.add(FloatVector.fromArray(SPECIES, tile, c + 2 * WIDTH + LANES)).intoArray(tile, c + 2 * WIDTH + LANES);
        s22.add(FloatVector.fromArray(SPECIES, tile, c + 2 * WIDTH + 2 * LANES))
                .intoArray(tile, c + 2 * WIDTH + 2 * LANES);
        s30.add(FloatVector.fromArray(SPECIES, tile, c + 3 * WIDTH)).intoArray(tile, c + 3 * WIDTH);
        s31.add(FloatVector.fromArray(SPECIES, tile, c + 3 * WIDTH + LANES)).intoArray(tile, c + 3 * WIDTH + LANES);
        s32.add(FloatVector.fromArray(SPECIES, tile, c + 3 * WIDTH + 2 * LANES))
                .intoArray(tile, c + 3 * WIDTH + 2 * LANES);
    }

    private static void solveColumns(float[] triangle, int r, float[] tile, int c) {
        FloatVector x0 = FloatVector.fromArray(SPECIES, tile, c);
        FloatVector x1 = FloatVector.fromArray(SPECIES, tile, c + WIDTH);
        FloatVector x2 = FloatVector.fromArray(SPECIES, tile, c + 2 * WIDTH);
        FloatVector x3 = FloatVector.fromArray(SPECIES, tile, c + 3 * WIDTH);
        FloatVector x4 = FloatVector.fromArray(SPECIES, tile, c + 4 * WIDTH);
        FloatVector x5 = FloatVector.fromArray(SPECIES, tile, c + 5 * WIDTH);
        FloatVector x6 = FloatVector.fromArray(SPECIES, tile, c + 6 * WIDTH);
        FloatVector x7 = FloatVector.fromArray(SPECIES, tile, c + 7 * WIDTH);
        x0 = x0.mul(triangle[r]);
        x1 = x0.fma(FloatVector.broadcast(SPECIES, triangle[r + 1]), x1);
        x2 = x0.fma(FloatVector.broadcast(SPECIES, triangle[r + 2]), x2);
        x3 = x0.fma(FloatVector.broadcast(SPECIES, triangle[r + 3]), x3);
        x4 = x0.fma(FloatVector.broadcast(SPECIES, triangle[r + 4]), x4);
        x5 = x0.fma(FloatVector.broadcast(SPECIES, triangle[r + 5]), x5);
        x6 = x0.fma(FloatVector.broadcast(SPECIES, triangle[r + 6]), x6);
        x7 = x0.fma(FloatVector.broadcast(SPECIES, triangle[r + 7]), x7);
        x1 = x1.mul(triangle[r + ROWS + 1]);
        x2 = x1.fma(FloatVector.broadcast(SPECIES, triangle[r + ROWS + 2]), x2);
        x3 = x1.fma(FloatVector.broadcast(SPECIES, triangle[r + ROWS + 3]), x3);
        x4 = x1.fma(FloatVector.broadcast(SPECIES, triangle[r + ROWS + 4]), x4);
        x5 = x1.fma(FloatVector.broadcast(SPECIES, triangle[r + ROWS + 5]), x5);
        x6 = x1.fma(FloatVector.broadcast(SPECIES, triangle[r + ROWS + 6]), x6);
        x7 = x1.fma(FloatVector.broadcast(SPECIES, triangle[r + ROWS + 7]), x7);
        x2 = x2.mul(triangle[r + 2 * ROWS + 2]);
        x3 = x2.fma(FloatVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 3]), x3);
        x4 = x2.fma(FloatVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 4]), x4);
        x5 = x2.fma(FloatVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 5]), x5);
        x6 = x2.fma(FloatVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 6]), x6);
        x7 = x2.fma(FloatVector.broadcast(SPECIES, triangle[r + 2 * ROWS + 7]), x7);
        x3 = x3.mul(triangle[r + 3 * ROWS + 3]);
        x4 = x3.fma(FloatVector.broadcast(SPECIES, triangle[r + 3 * ROWS + 4]), x4);
        x5 = x3.fma(FloatVector.broadcast(SPECIES, triangle[r + 3 * ROWS + 5]), x5);
        x6 = x3.fma(FloatVector.broadcast(SPECIES, triangle[r + 3 * ROWS + 6]), x6);
        x7 = x3.fma(FloatVector.broadcast(SPECIES, triangle[r + 3 * ROWS + 7]), x7);
        x4 = x4.mul(triangle[r + 4 * ROWS + 4]);
        x5 = x4.fma(FloatVector.broadcast(SPECIES, triangle[r + 4 * ROWS + 5]), x5);
        x6 = x4.fma(FloatVector.broadcast(SPECIES, triangle[r + 4 * ROWS + 6]), x6);
        x7 = x4.fma(FloatVector.broadcast(SPECIES, triangle[r + 4 * ROWS + 7]), x7);
        x5 = x5.mul(triangle[r + 5 * ROWS + 5]);
        x6 = x5.fma(FloatVector.broadcast(SPECIES, triangle[r + 5 * ROWS + 6]), x6);
        x7 = x5.fma(FloatVector.broadcast(SPECIES, triangle[r + 5 * ROWS + 7]), x7);
        x6 = x6.mul(triangle[r + 6 * ROWS + 6]);
        x7 = x6.fma(FloatVector.broadcast(SPECIES, triangle[r + 6 * ROWS + 7]), x7);
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
