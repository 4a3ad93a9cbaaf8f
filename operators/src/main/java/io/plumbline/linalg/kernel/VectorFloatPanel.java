package io.plumbline.linalg.kernel;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Rows in strips of {@value FloatTileKernel#WIDTH} columns, laid out as right factors of a {@link
 * VectorFloatTileKernel}; products in squares of strips.
 *
 * <p>Squares are folded into the moment by a loop of their own, which converts with the vector instruction: JDK 17 does
 * not find it by itself in a plain loop, and the fold is what is left when the products are fast.
 */
final class VectorFloatPanel extends FloatPanel {

    private static final int WIDTH = FloatTileKernel.WIDTH;
    private static final int SIZE = WIDTH * WIDTH;

    /** Columns of the moment worked on together. */
    private static final int GROUP = VectorTiles.STRIPS_IN_CACHE * WIDTH;

    private static final VectorSpecies<Double> DOUBLES = DoubleVector.SPECIES_PREFERRED;

    /**
     * The vectors in which floats are read: of the same bits as the doubles, and the first half of each is converted.
     * Vectors of half the bits are slower, see {@link VectorTiles}; so a vector is read beyond what is asked for, and
     * arrays are as much longer.
     */
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;

    private static final int HALF_LANES = DOUBLES.length();

    /** The width up to which a moment, of 4 MB, is mostly near: reading its lines by themselves takes what it saves. */
    private static final int NEAR = 1_024;

    /** Doubles in a line of the cache. */
    private static final int LINE = 8;

    /** The place of a sum that nobody reads: the compiler would leave out what is not written at all. */
    private static final int SUM_OF_LINES = MOST_BATCHES * SIZE;

    /** A square of each batch. */
    private static final ThreadLocal<float[]> SQUARE =
            ThreadLocal.withInitial(() -> new float[MOST_BATCHES * SIZE + HALF_LANES]);

    /** Left factors of the batches of a strip, where they do not lie as right ones. */
    private static final ThreadLocal<float[]> LEFT = ThreadLocal.withInitial(() -> new float[0]);

    private final VectorFloatTileKernel kernel;

    /**
     * An array for each batch. In one, those of d = 2,048 would be 4 MiB: half of a region of G1 as the launcher sets
     * it, and so a whole one.
     */
    private final float[][] batches;

    VectorFloatPanel(int dimension, VectorFloatTileKernel kernel) {
        super(dimension, kernel.stretch());
        this.kernel = kernel;
        batches =
                new float[capacity(dimension) / ROWS][VectorTiles.strips(dimension, WIDTH) * WIDTH * ROWS + HALF_LANES];
    }

    @Override
    public float[] array(int row) {
        return batches[row / ROWS];
    }

    @Override
    public int index(int row, int column) {
        return column * ROWS + row % ROWS * stretch();
    }

    @Override
    int parts() {
        int parts = 0;
        for (int start = 0; start < dimension(); start += GROUP) {
            parts += partsOfGroup(start);
        }
        return parts;
    }

    /**
     * Returns the number of parts in columns {@code start} to {@code start + GROUP - 1} of the triangle, from row
     * {@code start} on.
     */
    private int partsOfGroup(int start) {
        return (dimension() - start - 1) / ROWS_OF_PART + 1;
    }

    @Override
    void addProducts(double[] packed, int offset, int count, int part) {
        int start = 0;
        int within = part;
        for (; within >= partsOfGroup(start); start += GROUP) {
            within -= partsOfGroup(start);
        }
        // Rows of a part are a strip.
        int i = start + within * ROWS_OF_PART;
        float[] square = SQUARE.get();
        float[] left = leftFactors(count, i);
        int rows = Math.min(WIDTH, dimension() - i);
        for (int j = start; j < Math.min(start + GROUP, i); j += WIDTH) {
            for (int from = 0; from < count; from += ROWS) {
                kernel.square(
                        leftArray(left, from),
                        leftStart(from, i),
                        ROWS,
                        array(from),
                        index(from, j),
                        ROWS,
                        Math.min(ROWS, count - from),
                        rows,
                        WIDTH,
                        square,
                        from / ROWS * SIZE);
            }
            if (count > ROWS && dimension() > NEAR) {
                square[SUM_OF_LINES] = (float) sumOfLines(packed, offset + j, i, rows);
            }
            for (int row = 0; row < rows; row++) {
                fold(square, row * WIDTH, count, packed, offset + VectorTiles.startOfRow(i + row) + j);
            }
        }
        if (i < start + GROUP) {
            addDiagonal(packed, offset, count, i, left, square);
        }
    }

    /** Lays out strip i of each batch as a left factor, where its place in the batch is none. */
    private float[] leftFactors(int count, int i) {
        float[] left = LEFT.get();
        if (kernel.rightIsLeft()) {
            return left;
        }
        int size = kernel.leftSize(ROWS);
        if (left.length < size * batches.length) {
            left = new float[size * batches.length];
            LEFT.set(left);
        }
        for (int from = 0; from < count; from += ROWS) {
            int batch = Math.min(ROWS, count - from);
            kernel.layOutLeft(array(from), index(from, i), stretch(), ROWS, batch, left, from / ROWS * size, ROWS);
        }
        return left;
    }

    private float[] leftArray(float[] left, int from) {
        return kernel.rightIsLeft() ? array(from) : left;
    }

    private int leftStart(int from, int i) {
        return kernel.rightIsLeft() ? index(from, i) : from / ROWS * kernel.leftSize(ROWS);
    }

    /** Adds the square on the diagonal that begins with row i. */
    private void addDiagonal(double[] packed, int offset, int count, int i, float[] left, float[] square) {
        int rows = Math.min(WIDTH, dimension() - i);
        for (int from = 0; from < count; from += ROWS) {
            int batch = Math.min(ROWS, count - from);
            kernel.lowerTriangle(
                    leftArray(left, from),
                    leftStart(from, i),
                    ROWS,
                    array(from),
                    index(from, i),
                    ROWS,
                    batch,
                    rows,
                    square,
                    0);
            for (int row = 0; row < rows; row++) {
                foldFirst(row + 1, square, row * WIDTH, packed, offset + VectorTiles.startOfRow(i + row) + i);
            }
        }
    }

    /**
     * Reads a number of each line that a square of the moment lies in. Several batches are folded by so many
     * instructions a line that the processor, which sees some hundreds ahead, would wait for few lines, and pages, at a
     * time.
     */
    private static double sumOfLines(double[] packed, int from, int i, int rows) {
        double sum = 0.0;
        for (int row = i; row < i + rows; row++) {
            int at = from + VectorTiles.startOfRow(row);
            double ofRow = packed[at + WIDTH - 1];
            for (int j = 0; j < WIDTH; j += LINE) {
                ofRow += packed[at + j];
            }
            sum += ofRow;
        }
        return sum;
    }

    /** Folds a whole row of the squares of so many rows, one after the other. */
    private static void fold(float[] square, int from, int count, double[] packed, int at) {
        if (count > (MOST_BATCHES - 1) * ROWS) {
            foldFour(square, from, packed, at);
            return;
        }
        for (int batch = 0; batch * ROWS < count; batch++) {
            foldOne(square, batch * SIZE + from, packed, at);
        }
    }

    private static void foldOne(float[] square, int from, double[] packed, int at) {
        for (int j = 0; j < WIDTH; j += HALF_LANES) {
            DoubleVector.fromArray(DOUBLES, packed, at + j)
                    .add(FloatVector.fromArray(FLOATS, square, from + j).convertShape(VectorOperators.F2D, DOUBLES, 0))
                    .intoArray(packed, at + j);
        }
    }

    /**
     * Folds a row of four squares: what is written begins anywhere, mostly in two lines of the cache, and is written
     * once.
     */
    private static void foldFour(float[] square, int from, double[] packed, int at) {
        for (int j = from; j < from + WIDTH; j += HALF_LANES) {
            int to = at + j - from;
            DoubleVector.fromArray(DOUBLES, packed, to)
                    .add(FloatVector.fromArray(FLOATS, square, j).convertShape(VectorOperators.F2D, DOUBLES, 0))
                    .add(FloatVector.fromArray(FLOATS, square, j + SIZE).convertShape(VectorOperators.F2D, DOUBLES, 0))
                    .add(FloatVector.fromArray(FLOATS, square, j + 2 * SIZE)
                            .convertShape(VectorOperators.F2D, DOUBLES, 0))
                    .add(FloatVector.fromArray(FLOATS, square, j + 3 * SIZE)
                            .convertShape(VectorOperators.F2D, DOUBLES, 0))
                    .intoArray(packed, to);
        }
    }

    /**
     * Folds the first {@code count} entries of a row of a square on the diagonal. By single values: a loop of vectors
     * that ends anywhere was compiled, in a process that had done much else, so that each of its sums became an object.
     */
    private static void foldFirst(int count, float[] square, int from, double[] packed, int at) {
        for (int j = 0; j < count; j++) {
            packed[at + j] += square[from + j];
        }
    }

    @Override
    void addSums(double[] sums, int count) {
        for (int from = 0; from < count; from += ROWS) {
            addBatch(sums, from, Math.min(ROWS, count - from));
        }
    }

    private void addBatch(double[] sums, int first, int count) {
        float[] values = array(first);
        int stretch = stretch();
        int whole = dimension() / stretch * stretch;
        for (int start = 0; start < whole; start += stretch) {
            int from = index(first, start);
            if (stretch == WIDTH) {
                for (int column = 0; column < WIDTH; column += 6 * HALF_LANES) {
                    addSix(values, from + column, count, sums, start + column);
                }
            } else {
                addFour(values, from, count, sums, start);
            }
        }
        for (int column = whole; column < dimension(); column++) {
            int at = index(first, whole) + column - whole;
            for (int row = 0; row < count; row++) {
                sums[column] += values[at + row * stretch];
            }
        }
    }

    /** Adds the columns of a stretch of two vectors of floats, four of doubles. */
    private static void addFour(float[] values, int from, int count, double[] sums, int column) {
        DoubleVector s0 = DoubleVector.fromArray(DOUBLES, sums, column);
        DoubleVector s1 = DoubleVector.fromArray(DOUBLES, sums, column + HALF_LANES);
        DoubleVector s2 = DoubleVector.fromArray(DOUBLES, sums, column + 2 * HALF_LANES);
        DoubleVector s3 = DoubleVector.fromArray(DOUBLES, sums, column + 3 * HALF_LANES);
        for (int row = 0; row < count; row++) {
            int at = from + row * VectorFloatTiles.RIGHT_PITCH;
            s0 = s0.add(FloatVector.fromArray(FLOATS, values, at).convertShape(VectorOperators.F2D, DOUBLES, 0));
            s1 = s1.add(FloatVector.fromArray(FLOATS, values, at + HALF_LANES)
                    .convertShape(VectorOperators.F2D, DOUBLES, 0));
            s2 = s2.add(FloatVector.fromArray(FLOATS, values, at + 2 * HALF_LANES)
                    .convertShape(VectorOperators.F2D, DOUBLES, 0));
            s3 = s3.add(FloatVector.fromArray(FLOATS, values, at + 3 * HALF_LANES)
                    .convertShape(VectorOperators.F2D, DOUBLES, 0));
        }
        s0.intoArray(sums, column);
        s1.intoArray(sums, column + HALF_LANES);
        s2.intoArray(sums, column + 2 * HALF_LANES);
        s3.intoArray(sums, column + 3 * HALF_LANES);
    }

    /** Adds six vectors of columns side by side: a vector's sum waits for its last summand. */
    private static void addSix(float[] values, int from, int count, double[] sums, int column) {
        DoubleVector s0 = DoubleVector.fromArray(DOUBLES, sums, column);
        DoubleVector s1 = DoubleVector.fromArray(DOUBLES, sums, column + HALF_LANES);
        DoubleVector s2 = DoubleVector.fromArray(DOUBLES, sums, column + 2 * HALF_LANES);
        DoubleVector s3 = DoubleVector.fromArray(DOUBLES, sums, column + 3 * HALF_LANES);
        DoubleVector s4 = DoubleVector.fromArray(DOUBLES, sums, column + 4 * HALF_LANES);
        DoubleVector s5 = DoubleVector.fromArray(DOUBLES, sums, column + 5 * HALF_LANES);
        for (int row = 0; row < count; row++) {
            int at = from + row * WIDTH;
            s0 = s0.add(FloatVector.fromArray(FLOATS, values, at).convertShape(VectorOperators.F2D, DOUBLES, 0));
            s1 = s1.add(FloatVector.fromArray(FLOATS, values, at + HALF_LANES)
                    .convertShape(VectorOperators.F2D, DOUBLES, 0));
            s2 = s2.add(FloatVector.fromArray(FLOATS, values, at + 2 * HALF_LANES)
                    .convertShape(VectorOperators.F2D, DOUBLES, 0));
            s3 = s3.add(FloatVector.fromArray(FLOATS, values, at + 3 * HALF_LANES)
                    .convertShape(VectorOperators.F2D, DOUBLES, 0));
            s4 = s4.add(FloatVector.fromArray(FLOATS, values, at + 4 * HALF_LANES)
                    .convertShape(VectorOperators.F2D, DOUBLES, 0));
            s5 = s5.add(FloatVector.fromArray(FLOATS, values, at + 5 * HALF_LANES)
                    .convertShape(VectorOperators.F2D, DOUBLES, 0));
        }
        s0.intoArray(sums, column);
        s1.intoArray(sums, column + HALF_LANES);
        s2.intoArray(sums, column + 2 * HALF_LANES);
        s3.intoArray(sums, column + 3 * HALF_LANES);
        s4.intoArray(sums, column + 4 * HALF_LANES);
        s5.intoArray(sums, column + 5 * HALF_LANES);
    }
}
