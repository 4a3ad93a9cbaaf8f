package io.plumbline.linalg.kernel;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Squares in tiles of the shape it is given, tiles of eight rows by eight by three vectors or by eight by one. Every
 * shape gives the same bits, see {@link VectorFloatTiles}.
 *
 * <p>The class for doubles is generated from this one, see {@link VectorFloatTiles}.
 */
final class VectorFloatTileKernel implements FloatTileKernel {

    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = VectorFloatTiles.LANES;

    /** Whether products are summed before they are added to what is there: of four bytes, the error is smaller then. */
    private static final boolean SUMMED_APART = Float.BYTES == 4;

    private static final float[] ZEROS = new float[WIDTH * WIDTH];
    private static final ThreadLocal<float[]> PRODUCT = ThreadLocal.withInitial(() -> new float[WIDTH * WIDTH]);

    private final VectorTiles shape;
    private final int height;
    private final int span;

    VectorFloatTileKernel(VectorTiles shape) {
        this.shape = shape;
        this.height = shape.rows();
        this.span = shape.vectors() * LANES;
    }

    @Override
    public void square(
            float[] left, int a, float[] right, int b, int count, int rows, int columns, float[] after, int c) {
        // A piece of B stays in the first-level cache while A passes by.
        for (int j = 0; j < columns; j += span) {
            for (int i = 0; i < rows; i += height) {
                tile(left, a + i, right, b + j, count, ZEROS, 0, after, c + i * WIDTH + j);
            }
        }
    }

    @Override
    public void lowerTriangle(float[] both, int a, int count, int rows, float[] after, int c) {
        for (int i = 0; i < rows; i += height) {
            for (int j = 0; j < i + height; j += span) {
                if (height == ROWS && i + ROWS - j <= LANES) {
                    VectorFloatTiles.eightByOne(both, a + i, both, a + j, count, ZEROS, 0, after, c + i * WIDTH + j);
                } else {
                    tile(both, a + i, both, a + j, count, ZEROS, 0, after, c + i * WIDTH + j);
                }
            }
        }
    }

    @Override
    public void addSquare(float[] left, int a, float[] right, int b, int count, float[] square, int c) {
        if (SUMMED_APART) {
            float[] product = PRODUCT.get();
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
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        if (shape == VectorTiles.SIX_BY_TWO) {
            VectorFloatTiles.sixByTwo(left, a, right, b, count, before, p, after, c);
        } else {
            VectorFloatTiles.eightByThree(left, a, right, b, count, before, p, after, c);
        }
    }

    @Override
    public void add(float[] left, int a, float[] right, int b, int count, float[] tile, int c) {
        float[] before = SUMMED_APART ? ZEROS : tile;
        float[] after = SUMMED_APART ? PRODUCT.get() : tile;
        int at = SUMMED_APART ? 0 : c;
        if (height == ROWS) {
            for (int j = 0; j < WIDTH; j += span) {
                tile(left, a, right, b + j, count, before, at + j, after, at + j);
            }
        } else {
            for (int j = 0; j < WIDTH; j += LANES) {
                VectorFloatTiles.eightByOne(left, a, right, b + j, count, before, at + j, after, at + j);
            }
        }
        if (SUMMED_APART) {
            addTo(tile, c, after, ROWS * WIDTH);
        }
    }

    private static void addTo(float[] sums, int c, float[] product, int length) {
        for (int j = 0; j < length; j += LANES) {
            FloatVector.fromArray(SPECIES, sums, c + j)
                    .add(FloatVector.fromArray(SPECIES, product, j))
                    .intoArray(sums, c + j);
        }
    }

    @Override
    public void solve(float[] triangle, int r, float[] tile, int c) {
        for (int j = c; j < c + WIDTH; j += LANES) {
            solveColumns(triangle, r, tile, j);
        }
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
