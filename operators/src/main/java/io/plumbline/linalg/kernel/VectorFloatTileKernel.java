package io.plumbline.linalg.kernel;

import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Multiplies squares in tiles of the shape it is given. Every shape gives the same bits, see {@link VectorFloatTiles}.
 *
 * <p><b>Factors.</b> A strip of R rows is a right factor where {@link #stretch} columns of it lie side by side, row
 * after row, and then the next ones. As a left factor it lies in groups of as many columns as a tile has rows, {@link
 * #leftPitch} numbers from row to row. Tiles of six by three and of three by six read strips of {@value
 * FloatTileKernel#WIDTH} columns as either. Those of six by two have layouts of their own, for what is multiplied
 * often, with room for an {@link #even} number of rows: after an odd one a left factor has a row of zeros, and a right
 * one a row of finite numbers. Strips as they lie are multiplied in tiles of four by two.
 *
 * <p>The build makes the class for doubles from this one, see {@link VectorFloatTiles}.
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
    private final int stripHeight;
    private final int stretch;
    private final int leftGroup;
    private final int leftPitch;

    VectorFloatTileKernel(VectorTiles shape) {
        this.shape = shape;
        this.height = shape.rows();
        this.span = shape.vectors() * LANES;
        this.stripHeight = shape == VectorTiles.SIX_BY_TWO ? 4 : height;
        boolean asTheyLie = shape != VectorTiles.SIX_BY_TWO;
        this.stretch = asTheyLie ? WIDTH : VectorFloatTiles.RIGHT_PITCH;
        this.leftGroup = asTheyLie ? WIDTH : height;
        this.leftPitch = asTheyLie ? WIDTH : VectorFloatTiles.LEFT_PITCH;
    }

    /** Returns how many columns of a right factor lie side by side. */
    int stretch() {
        return stretch;
    }

    /** Returns how many rows a factor of so many has room for. */
    static int even(int rows) {
        return rows + rows % 2;
    }

    /** Returns how far a tile's columns of a right factor of so many rows are from the next tile's. */
    private int rightStep(int rows) {
        return stretch == WIDTH ? span : span * rows;
    }

    /** Returns how far columns of a left factor of so many rows are from those of the next tile of that height. */
    private int leftStep(int height, int rows) {
        return leftGroup == WIDTH ? height : leftPitch * rows;
    }

    /** Returns whether a strip that is laid out as a right factor is a left factor too. */
    boolean rightIsLeft() {
        return leftGroup == stretch;
    }

    /** Returns the size of a left factor of so many rows, in numbers. */
    int leftSize(int rows) {
        return WIDTH / leftGroup * leftPitch * rows;
    }

    /** Returns where column i of a left factor of so many rows begins. */
    int leftIndex(int i, int rows) {
        return i / leftGroup * leftPitch * rows + i % leftGroup;
    }

    /** Returns how many columns of a left factor lie side by side. */
    int leftGroup() {
        return leftGroup;
    }

    /** Returns the distance from one row of a left factor to the next. */
    int leftPitch() {
        return leftPitch;
    }

    /**
     * Computes {@code C = A^T B} like {@link FloatTileKernel#square}, of factors that are laid out, from their first
     * {@code count} rows.
     */
    void square(
            float[] left,
            int a,
            int leftRows,
            float[] right,
            int b,
            int rightRows,
            int count,
            int rows,
            int columns,
            float[] after,
            int c) {
        int leftStep = leftStep(height, leftRows);
        int rightStep = rightStep(rightRows);
        int of = b;
        // A piece of B stays in the first-level cache while A passes by.
        for (int j = 0; j < columns; j += span) {
            int at = a;
            for (int i = 0; i < rows; i += height) {
                tile(left, at, right, of, count, ZEROS, 0, after, c + i * WIDTH + j);
                at += leftStep;
            }
            of += rightStep;
        }
    }

    /**
     * Computes the lower triangle of {@code C = A^T A}, the first {@code rows} rows of it, A laid out as either factor;
     * entries above it may be written too.
     */
    void lowerTriangle(
            float[] left,
            int a,
            int leftRows,
            float[] right,
            int b,
            int rightRows,
            int count,
            int rows,
            float[] after,
            int c) {
        // Where tiles of eight rows end at the diagonal fewer vectors above it are multiplied: with six, updates of 256
        // columns lost 4 %.
        boolean eights = shape == VectorTiles.SIX_BY_THREE;
        int tall = eights ? ROWS : height;
        int leftStep = leftStep(tall, leftRows);
        int rightStep = rightStep(rightRows);
        int at = a;
        for (int i = 0; i < rows; i += tall) {
            int of = b;
            for (int j = 0; j < i + tall; j += span) {
                int to = c + i * WIDTH + j;
                if (!eights) {
                    tile(left, at, right, of, count, ZEROS, 0, after, to);
                } else if (i + ROWS - j <= LANES) {
                    VectorFloatTiles.eightByOne(left, at, right, of, count, ZEROS, 0, after, to);
                } else {
                    VectorFloatTiles.eightByThree(left, at, right, of, count, ZEROS, 0, after, to);
                }
                of += rightStep;
            }
            at += leftStep;
        }
    }

    /**
     * Lays out {@code count} rows of a strip as a left factor of {@code leftRows} rows, zeros after an odd number. In
     * {@code strip} as many columns as {@code side} lie side by side, {@code rows} times, and then the next ones.
     */
    void layOutLeft(float[] strip, int from, int side, int rows, int count, float[] left, int to, int leftRows) {
        for (int i = 0; i < WIDTH; i += leftGroup) {
            int at = from + i / side * side * rows + i % side;
            int target = to + leftIndex(i, leftRows);
            int here = side - i % side;
            if (here >= leftGroup) {
                copyGroup(strip, at, side, left, target, count);
            } else {
                int next = from + (i / side + 1) * side * rows;
                copySplitGroup(strip, at, next, here, side, left, target, count);
            }
            if (count % 2 > 0) {
                int last = target + count * leftPitch;
                Arrays.fill(left, last, last + leftGroup, 0f);
            }
        }
    }

    /**
     * Copies {@code count} rows of as many numbers as a row of a left factor has, by vectors: more than a group, and
     * what is not of it is written again or not read. The last row ends with the group, lest it be beyond an array.
     */
    private void copyGroup(float[] strip, int from, int side, float[] left, int to, int count) {
        for (int h = 0; h < count - 1; h++) {
            int at = from + h * side;
            int target = to + h * VectorFloatTiles.LEFT_PITCH;
            for (int k = 0; k < VectorFloatTiles.LEFT_PITCH; k += LANES) {
                FloatVector.fromArray(SPECIES, strip, at + k).intoArray(left, target + k);
            }
        }
        if (count > 0) {
            int last = count - 1;
            System.arraycopy(strip, from + last * side, left, to + last * VectorFloatTiles.LEFT_PITCH, leftGroup);
        }
    }

    /**
     * Copies a group whose first {@code here} columns lie at {@code from} and the others at {@code next}. What the
     * second copy writes beyond a row is of the next row or the next group, which are written after it.
     */
    private static void copySplitGroup(
            float[] strip, int from, int next, int here, int side, float[] left, int to, int count) {
        for (int h = 0; h < count; h++) {
            int at = from + h * side;
            int of = next + h * side;
            int target = to + h * VectorFloatTiles.LEFT_PITCH;
            for (int k = 0; k < VectorFloatTiles.LEFT_PITCH; k += LANES) {
                FloatVector.fromArray(SPECIES, strip, at + k).intoArray(left, target + k);
            }
            for (int k = 0; k < VectorFloatTiles.LEFT_PITCH; k += LANES) {
                FloatVector.fromArray(SPECIES, strip, of + k).intoArray(left, target + here + k);
            }
        }
    }

    @Override
    public void square(
            float[] left, int a, float[] right, int b, int count, int rows, int columns, float[] after, int c) {
        for (int j = 0; j < columns; j += span) {
            for (int i = 0; i < rows; i += stripHeight) {
                tileOfStrips(left, a + i, right, b + j, count, ZEROS, 0, after, c + i * WIDTH + j);
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
            for (int i = 0; i < WIDTH; i += stripHeight) {
                int at = c + i * WIDTH + j;
                tileOfStrips(left, a + i, right, b + j, count, square, at, square, at);
            }
        }
    }

    private void tileOfStrips(
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        if (shape == VectorTiles.SIX_BY_TWO) {
            VectorFloatTiles.fourByTwo(left, a, right, b, count, before, p, after, c);
        } else {
            tile(left, a, right, b, count, before, p, after, c);
        }
    }

    @Override
    public FloatPieces pieces(int pieces, int rows) {
        return rightIsLeft() ? FloatTileKernel.super.pieces(pieces, rows) : new LaidOutPieces(pieces, rows);
    }

    /** Pieces as factors of either side. */
    private final class LaidOutPieces implements FloatPieces {

        private final int count;
        private final int rows;
        private final float[] lefts;
        private final float[] rights;

        LaidOutPieces(int pieces, int rows) {
            this.count = rows;
            this.rows = even(rows);
            lefts = new float[pieces * leftSize(this.rows)];
            rights = new float[pieces * WIDTH * this.rows];
        }

        @Override
        public void take(int piece, float[] strip, int at) {
            layOutLeft(strip, at, WIDTH, count, count, lefts, piece * leftSize(rows), rows);
            int to = piece * WIDTH * rows;
            for (int j = 0; j < WIDTH; j += stretch) {
                for (int h = 0; h < count; h++) {
                    int from = at + h * WIDTH + j;
                    int target = to + j * rows + h * stretch;
                    for (int k = 0; k < stretch; k += LANES) {
                        FloatVector.fromArray(SPECIES, strip, from + k).intoArray(rights, target + k);
                    }
                }
            }
        }

        @Override
        public void addSquare(int left, int right, float[] square, int c) {
            int a = left * leftSize(rows);
            int b = right * WIDTH * rows;
            if (SUMMED_APART) {
                float[] product = PRODUCT.get();
                square(lefts, a, rows, rights, b, rows, count, WIDTH, WIDTH, product, 0);
                addTo(square, c, product, WIDTH * WIDTH);
                return;
            }
            int leftStep = leftStep(height, rows);
            int rightStep = rightStep(rows);
            for (int j = 0; j < WIDTH; j += span) {
                int from = a;
                for (int i = 0; i < WIDTH; i += height) {
                    int at = c + i * WIDTH + j;
                    tile(lefts, from, rights, b, count, square, at, square, at);
                    from += leftStep;
                }
                b += rightStep;
            }
        }
    }

    private void tile(
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        switch (shape) {
            case SIX_BY_THREE -> VectorFloatTiles.sixByThree(left, a, right, b, count, before, p, after, c);
            case THREE_BY_SIX -> VectorFloatTiles.threeBySix(left, a, right, b, count, before, p, after, c);
            case SIX_BY_TWO -> VectorFloatTiles.sixByTwo(left, a, right, b, count, before, p, after, c);
        }
    }

    @Override
    public void add(float[] left, int a, float[] right, int b, int count, float[] tile, int c) {
        float[] before = SUMMED_APART ? ZEROS : tile;
        float[] after = SUMMED_APART ? PRODUCT.get() : tile;
        int at = SUMMED_APART ? 0 : c;
        // Eight rows are no multiple of three or six.
        switch (shape) {
            case SIX_BY_THREE -> {
                for (int j = 0; j < WIDTH; j += span) {
                    VectorFloatTiles.eightByThree(left, a, right, b + j, count, before, at + j, after, at + j);
                }
            }
            case THREE_BY_SIX -> {
                for (int j = 0; j < WIDTH; j += LANES) {
                    VectorFloatTiles.eightByOne(left, a, right, b + j, count, before, at + j, after, at + j);
                }
            }
            case SIX_BY_TWO -> {
                for (int j = 0; j < WIDTH; j += span) {
                    for (int i = 0; i < ROWS; i += stripHeight) {
                        int of = at + i * WIDTH + j;
                        VectorFloatTiles.fourByTwo(left, a + i, right, b + j, count, before, of, after, of);
                    }
                }
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
