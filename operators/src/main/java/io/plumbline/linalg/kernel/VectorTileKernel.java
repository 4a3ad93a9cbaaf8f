package io.plumbline.linalg.kernel;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/** The twin of {@link VectorFloatTileKernel} in float64; {@code GeneratedDoublesTest} makes it from that one. */
final class VectorTileKernel implements TileKernel {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final int LANES = VectorDoubleTiles.LANES;

    /** Whether products are summed before they are added to what is there: of four bytes, the error is smaller then. */
    private static final boolean SUMMED_APART = Double.BYTES == 4;

    private static final double[] ZEROS = new double[WIDTH * WIDTH];
    private static final ThreadLocal<double[]> PRODUCT = ThreadLocal.withInitial(() -> new double[WIDTH * WIDTH]);

    private final VectorTiles shape;
    private final int height;
    private final int span;

    VectorTileKernel(VectorTiles shape) {
        this.shape = shape;
        this.height = shape.rows();
        this.span = shape.vectors() * LANES;
    }

    @Override
    public void square(
            double[] left, int a, double[] right, int b, int count, int rows, int columns, double[] after, int c) {
        // A piece of B stays in the first-level cache while A passes by.
        for (int j = 0; j < columns; j += span) {
            for (int i = 0; i < rows; i += height) {
                tile(left, a + i, right, b + j, count, ZEROS, 0, after, c + i * WIDTH + j);
            }
        }
    }

    @Override
    public void lowerTriangle(double[] both, int a, int count, int rows, double[] after, int c) {
        for (int i = 0; i < rows; i += height) {
            for (int j = 0; j < i + height; j += span) {
                if (height == ROWS && i + ROWS - j <= LANES) {
                    VectorDoubleTiles.eightByOne(both, a + i, both, a + j, count, ZEROS, 0, after, c + i * WIDTH + j);
                } else {
                    tile(both, a + i, both, a + j, count, ZEROS, 0, after, c + i * WIDTH + j);
                }
            }
        }
    }

    @Override
    public void addSquare(double[] left, int a, double[] right, int b, int count, double[] square, int c) {
        if (SUMMED_APART) {
            double[] product = PRODUCT.get();
            square(left, a, right, b, count, WIDTH, WIDTH, product, 0);
            addTo(square, c, product, WIDTH * WIDTH);
            return;
        }
        for (int j = 0; j < WIDTH; j += span) {
            for (int i = 0; i < WIDTH; i += height) {
                int at = c + i * WIDTH + j;
                tile(left, a + i, right, b + j, count, square, at, square, at);
            }
        }
    }

    private void tile(
            double[] left, int a, double[] right, int b, int count, double[] before, int p, double[] after, int c) {
        if (shape == VectorTiles.SIX_BY_TWO) {
            VectorDoubleTiles.sixByTwo(left, a, right, b, count, before, p, after, c);
        } else {
            VectorDoubleTiles.eightByThree(left, a, right, b, count, before, p, after, c);
        }
    }

    @Override
    public void add(double[] left, int a, double[] right, int b, int count, double[] tile, int c) {
        double[] before = SUMMED_APART ? ZEROS : tile;
        double[] after = SUMMED_APART ? PRODUCT.get() : tile;
        int at = SUMMED_APART ? 0 : c;
        if (height == ROWS) {
            for (int j = 0; j < WIDTH; j += span) {
                tile(left, a, right, b + j, count, before, at + j, after, at + j);
            }
        } else {
            for (int j = 0; j < WIDTH; j += LANES) {
                VectorDoubleTiles.eightByOne(left, a, right, b + j, count, before, at + j, after, at + j);
            }
        }
        if (SUMMED_APART) {
            addTo(tile, c, after, ROWS * WIDTH);
        }
    }

    private static void addTo(double[] sums, int c, double[] product, int length) {
        for (int j = 0; j < length; j += LANES) {
            DoubleVector.fromArray(SPECIES, sums, c + j)
                    .add(DoubleVector.fromArray(SPECIES, product, j))
                    .intoArray(sums, c + j);
        }
    }

    @Override
    public void solve(double[] triangle, int r, double[] tile, int c) {
        for (int j = c; j < c + WIDTH; j += LANES) {
            solveColumns(triangle, r, tile, j);
        }
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
