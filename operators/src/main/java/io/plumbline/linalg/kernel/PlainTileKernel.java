package io.plumbline.linalg.kernel;

import java.util.Arrays;

/** The twin of {@link PlainFloatTileKernel} in float64; {@code GeneratedDoublesTest} makes it from that one. */
final class PlainTileKernel implements TileKernel {

    private static final int HEIGHT = 4;
    private static final int SPAN = 3;

    @Override
    public void square(
            double[] left, int a, double[] right, int b, int count, int rows, int columns, double[] after, int c) {
        for (int i = 0; i < rows; i += ROWS) {
            Arrays.fill(after, c + i * WIDTH, c + (i + ROWS) * WIDTH, 0.0);
            add(left, a + i, right, b, count, after, c + i * WIDTH);
        }
    }

    @Override
    public void addSquare(double[] left, int a, double[] right, int b, int count, double[] square, int c) {
        for (int i = 0; i < WIDTH; i += ROWS) {
            add(left, a + i, right, b, count, square, c + i * WIDTH);
        }
    }

    @Override
    public void add(double[] left, int a, double[] right, int b, int count, double[] tile, int c) {
        for (int i = 0; i < ROWS; i += HEIGHT) {
            for (int j = 0; j < WIDTH; j += SPAN) {
                addFew(left, a + i, right, b + j, count, tile, c + i * WIDTH + j);
            }
        }
    }

    private static void addFew(double[] left, int a, double[] right, int b, int count, double[] tile, int c) {
        double s00 = 0.0;
        double s01 = 0.0;
        double s02 = 0.0;
        double s10 = 0.0;
        double s11 = 0.0;
        double s12 = 0.0;
        double s20 = 0.0;
        double s21 = 0.0;
        double s22 = 0.0;
        double s30 = 0.0;
        double s31 = 0.0;
        double s32 = 0.0;
        for (int h = 0; h < count * WIDTH; h += WIDTH) {
            double b0 = right[b + h];
            double b1 = right[b + h + 1];
            double b2 = right[b + h + 2];
            double a0 = left[a + h];
            s00 += a0 * b0;
            s01 += a0 * b1;
            s02 += a0 * b2;
            double a1 = left[a + h + 1];
            s10 += a1 * b0;
            s11 += a1 * b1;
            s12 += a1 * b2;
            double a2 = left[a + h + 2];
            s20 += a2 * b0;
            s21 += a2 * b1;
            s22 += a2 * b2;
            double a3 = left[a + h + 3];
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
    public void solve(double[] triangle, int r, double[] tile, int c) {
        for (int h = 0; h < ROWS; h++) {
            double reciprocal = triangle[r + h * ROWS + h];
            for (int j = c + h * WIDTH; j < c + (h + 1) * WIDTH; j++) {
                tile[j] *= reciprocal;
            }
            for (int i = h + 1; i < ROWS; i++) {
                double factor = triangle[r + h * ROWS + i];
                for (int j = 0; j < WIDTH; j++) {
                    tile[c + i * WIDTH + j] += factor * tile[c + h * WIDTH + j];
                }
            }
        }
    }
}
