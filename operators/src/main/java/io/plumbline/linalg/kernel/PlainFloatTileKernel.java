package io.plumbline.linalg.kernel;

import java.util.Arrays;

/**
 * Sums of four by three entries at a time, which stay in registers. The build makes the class for doubles from this
 * one, see {@code VectorFloatTiles}.
 */
final class PlainFloatTileKernel implements FloatTileKernel {

    private static final int HEIGHT = 4;
    private static final int SPAN = 3;

    @Override
    public void square(
            float[] left, int a, float[] right, int b, int count, int rows, int columns, float[] after, int c) {
        for (int i = 0; i < rows; i += ROWS) {
            Arrays.fill(after, c + i * WIDTH, c + (i + ROWS) * WIDTH, 0f);
            add(left, a + i, right, b, count, after, c + i * WIDTH);
        }
    }

    @Override
    public void addSquare(float[] left, int a, float[] right, int b, int count, float[] square, int c) {
        for (int i = 0; i < WIDTH; i += ROWS) {
            add(left, a + i, right, b, count, square, c + i * WIDTH);
        }
    }

    @Override
    public void add(float[] left, int a, float[] right, int b, int count, float[] tile, int c) {
        for (int i = 0; i < ROWS; i += HEIGHT) {
            for (int j = 0; j < WIDTH; j += SPAN) {
                addFew(left, a + i, right, b + j, count, tile, c + i * WIDTH + j);
            }
        }
    }

    private static void addFew(float[] left, int a, float[] right, int b, int count, float[] tile, int c) {
        float s00 = 0f;
        float s01 = 0f;
        float s02 = 0f;
        float s10 = 0f;
        float s11 = 0f;
        float s12 = 0f;
        float s20 = 0f;
        float s21 = 0f;
        float s22 = 0f;
        float s30 = 0f;
        float s31 = 0f;
        float s32 = 0f;
        for (int h = 0; h < count * WIDTH; h += WIDTH) {
            float b0 = right[b + h];
            float b1 = right[b + h + 1];
            float b2 = right[b + h + 2];
            float a0 = left[a + h];
            s00 += a0 * b0;
            s01 += a0 * b1;
            s02 += a0 * b2;
            float a1 = left[a + h + 1];
            s10 += a1 * b0;
            s11 += a1 * b1;
            s12 += a1 * b2;
            float a2 = left[a + h + 2];
            s20 += a2 * b0;
            s21 += a2 * b1;
            s22 += a2 * b2;
            float a3 = left[a + h + 3];
            s30 += a3 * b0;
            s31 += a3 * b1;
            s32 += a3 * b2;
        }
        tile[c] += s00;
        tile[c + 1] += s01;
        tile[c + 2] += s02;
        tile[c + WIDTH] += s10;
        tile[c + WIDTH + 1] += s11;
        tile[c + WIDTH + 2] += s12;
        tile[c + 2 * WIDTH] += s20;
        tile[c + 2 * WIDTH + 1] += s21;
        tile[c + 2 * WIDTH + 2] += s22;
        tile[c + 3 * WIDTH] += s30;
        tile[c + 3 * WIDTH + 1] += s31;
        tile[c + 3 * WIDTH + 2] += s32;
    }

    @Override
    public void solve(float[] triangle, int r, float[] tile, int c) {
        for (int h = 0; h < ROWS; h++) {
            float reciprocal = triangle[r + h * ROWS + h];
            for (int j = c + h * WIDTH; j < c + (h + 1) * WIDTH; j++) {
                tile[j] *= reciprocal;
            }
            for (int i = h + 1; i < ROWS; i++) {
                float factor = triangle[r + h * ROWS + i];
                for (int j = 0; j < WIDTH; j++) {
                    tile[c + i * WIDTH + j] += factor * tile[c + h * WIDTH + j];
                }
            }
        }
    }
}
