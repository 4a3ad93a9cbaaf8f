package io.plumbline.linalg;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Rows in strips of three vectors' width; products in tiles of 8 (or 4) columns by three vectors, which stay in registers over
 * all rows of a batch.
 *
 * <p>The loops are kept small on purpose: with the conversion to double inside, the JVM's first compiler gives up on the method
 * and it is interpreted for good. So tiles are folded into the moment by a loop of their own, which converts with the vector
 * instruction: JDK 17 does not find it by itself in a plain loop, and the fold is what is left when the products are fast.
 *
 * <p><b>Measured</b> 2026-11-22, 2 vCPU AMD EPYC with vectors of 512 bits, JDK 17.0.15, one thread, d = 768 and 2,048, 128 to 2,048 rows: 82 to 93
 * GFLOP/s, 1.7 to 1.9 times OpenBLAS 0.3.21's {@code dsyrk}, 0.87 to 0.95 times its {@code ssyrk}, at 768 27 times ojAlgo and 59 times Commons Math.
 *
 * <p>{@link VectorDoublePanel} is the same text with doubles, and {@link VectorRightFactor} a third of its kind: the vector classes
 * have no common type with lanes of any kind, and a detour through one would put objects where registers should be.
 */
final class VectorFloatPanel extends FloatPanel {

    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = 3 * LANES;
    private static final int TILE_ROWS = VectorTiles.ROWS;
    private static final int STRIP = ROWS * WIDTH;

    /** Columns of the moment worked on together. */
    private static final int GROUP = VectorTiles.STRIPS_IN_CACHE * WIDTH;

    private static final ThreadLocal<float[]> TILE = ThreadLocal.withInitial(() -> new float[TILE_ROWS * WIDTH]);

    /** Doubles as wide as the floats, and half as many floats as that: what one conversion takes. */
    private static final VectorSpecies<Double> DOUBLES = DoubleVector.SPECIES_PREFERRED;

    private static final VectorSpecies<Float> HALF =
            VectorSpecies.of(float.class, VectorShape.forBitSize(DOUBLES.vectorBitSize() / 2));
    private static final int HALF_LANES = DOUBLES.length();

    /**
     * An array for each batch. In one, those of d = 2,048 were 4 MiB: half of a region of G1 as the launcher sets it, which makes it a piece
     * of the old generation that takes a whole one.
     */
    private final float[][] batches;

    VectorFloatPanel(int dimension) {
        super(dimension, WIDTH);
        batches = new float[capacity(dimension) / ROWS][VectorTiles.strips(dimension, WIDTH) * STRIP];
    }

    @Override
    public float[] array(int row) {
        return batches[row / ROWS];
    }

    @Override
    public int index(int row, int column) {
        return column / WIDTH * STRIP + row % ROWS * WIDTH;
    }

    @Override
    int parts() {
        int parts = 0;
        for (int start = 0; start < dimension(); start += GROUP) {
            parts += partsOfGroup(start);
        }
        return parts;
    }

    /** Columns {@code start} to {@code start + GROUP - 1} of the triangle, from row {@code start} on. */
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
        int end = Math.min(start + GROUP, dimension());
        int from = start + within * ROWS_OF_PART;
        int to = Math.min(from + ROWS_OF_PART, dimension());
        float[] tile = TILE.get();
        for (int i = from; i < to; i += TILE_ROWS) {
            addRows(packed, offset, count, i, start, end, tile);
        }
    }

    /** Rows i to {@code i + TILE_ROWS - 1} of the triangle, columns {@code start} to {@code end - 1}. */
    private void addRows(double[] packed, int offset, int count, int i, int start, int end, float[] tile) {
        int left = i / WIDTH * STRIP + i % WIDTH;
        int last = Math.min(i + TILE_ROWS, dimension());
        for (int j = start; j < Math.min(end, last); j += WIDTH) {
            int right = j / WIDTH * STRIP;
            for (int from = 0; from < count; from += ROWS) {
                multiply(last - j, batches[from / ROWS], left, right, Math.min(ROWS, count - from), tile);
                fold(tile, packed, offset, i, last, j);
            }
        }
    }

    /** A tile of which the first {@code columns} columns, at most, are of the lower triangle. */
    private static void multiply(int columns, float[] values, int left, int right, int rows, float[] tile) {
        if (TILE_ROWS != 8) {
            four(values, left, right, rows, tile);
        } else if (columns > LANES) {
            eight(values, left, right, rows, tile);
        } else {
            eightByOne(values, left, right, rows, tile);
        }
    }

    /** Rows i to {@code last} of a tile that begins in column j. */
    private static void fold(float[] tile, double[] packed, int offset, int i, int last, int j) {
        for (int row = i; row < last; row++) {
            int at = offset + VectorTiles.startOfRow(row) + j;
            if (row + 1 - j >= WIDTH) {
                fold(tile, (row - i) * WIDTH, packed, at);
            } else {
                foldFirst(row + 1 - j, tile, (row - i) * WIDTH, packed, at);
            }
        }
    }

    /** A whole row of a tile. */
    private static void fold(float[] tile, int from, double[] packed, int at) {
        for (int j = 0; j < WIDTH; j += HALF_LANES) {
            DoubleVector.fromArray(DOUBLES, packed, at + j)
                    .add(widened(tile, from + j))
                    .intoArray(packed, at + j);
        }
    }

    /**
     * The first {@code count} entries of a row of a tile on the diagonal; none if it is negative. By single values: a loop of vectors that
     * ends anywhere was compiled, in a process that had done much else, so that each of its sums became an object.
     */
    private static void foldFirst(int count, float[] tile, int from, double[] packed, int at) {
        for (int j = 0; j < count; j++) {
            packed[at + j] += tile[from + j];
        }
    }

    private static DoubleVector widened(float[] values, int at) {
        return (DoubleVector) FloatVector.fromArray(HALF, values, at).convertShape(VectorOperators.F2D, DOUBLES, 0);
    }

    @Override
    void addSums(double[] sums, int count) {
        for (int from = 0; from < count; from += ROWS) {
            addBatch(sums, batches[from / ROWS], Math.min(ROWS, count - from));
        }
    }

    private void addBatch(double[] sums, float[] values, int count) {
        int strip = 0;
        int start = 0;
        for (; start + WIDTH <= dimension(); start += WIDTH) {
            addStrip(values, strip, count, sums, start);
            strip += STRIP;
        }
        for (int column = start; column < dimension(); column++) {
            int at = strip + column - start;
            for (int row = 0; row < count; row++) {
                sums[column] += values[at + row * WIDTH];
            }
        }
    }

    /** All columns of a strip, side by side: a vector's sum waits for its last summand. */
    private static void addStrip(float[] values, int from, int count, double[] sums, int column) {
        DoubleVector s0 = DoubleVector.fromArray(DOUBLES, sums, column);
        DoubleVector s1 = DoubleVector.fromArray(DOUBLES, sums, column + HALF_LANES);
        DoubleVector s2 = DoubleVector.fromArray(DOUBLES, sums, column + 2 * HALF_LANES);
        DoubleVector s3 = DoubleVector.fromArray(DOUBLES, sums, column + 3 * HALF_LANES);
        DoubleVector s4 = DoubleVector.fromArray(DOUBLES, sums, column + 4 * HALF_LANES);
        DoubleVector s5 = DoubleVector.fromArray(DOUBLES, sums, column + 5 * HALF_LANES);
        for (int row = 0; row < count; row++) {
            int at = from + row * WIDTH;
            s0 = s0.add(widened(values, at));
            s1 = s1.add(widened(values, at + HALF_LANES));
            s2 = s2.add(widened(values, at + 2 * HALF_LANES));
            s3 = s3.add(widened(values, at + 3 * HALF_LANES));
            s4 = s4.add(widened(values, at + 4 * HALF_LANES));
            s5 = s5.add(widened(values, at + 5 * HALF_LANES));
        }
        s0.intoArray(sums, column);
        s1.intoArray(sums, column + HALF_LANES);
        s2.intoArray(sums, column + 2 * HALF_LANES);
        s3.intoArray(sums, column + 3 * HALF_LANES);
        s4.intoArray(sums, column + 4 * HALF_LANES);
        s5.intoArray(sums, column + 5 * HALF_LANES);
    }

    /** {@code tile = A^T B}: the 8 columns from {@code left} against the three vectors from {@code right}. */
    private static void eight(float[] x, int left, int right, int rows, float[] tile) {
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
        for (int p = 0; p < rows; p++) {
            int a = left + p * WIDTH;
            int b = right + p * WIDTH;
            FloatVector b0 = FloatVector.fromArray(SPECIES, x, b);
            FloatVector b1 = FloatVector.fromArray(SPECIES, x, b + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, x, b + 2 * LANES);
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

    /** The same with the first of the three vectors alone: in tiles at the diagonal the others lie above it. */
    private static void eightByOne(float[] x, int left, int right, int rows, float[] tile) {
        FloatVector s0 = FloatVector.zero(SPECIES);
        FloatVector s1 = FloatVector.zero(SPECIES);
        FloatVector s2 = FloatVector.zero(SPECIES);
        FloatVector s3 = FloatVector.zero(SPECIES);
        FloatVector s4 = FloatVector.zero(SPECIES);
        FloatVector s5 = FloatVector.zero(SPECIES);
        FloatVector s6 = FloatVector.zero(SPECIES);
        FloatVector s7 = FloatVector.zero(SPECIES);
        for (int p = 0; p < rows; p++) {
            int a = left + p * WIDTH;
            FloatVector b = FloatVector.fromArray(SPECIES, x, right + p * WIDTH);
            s0 = FloatVector.broadcast(SPECIES, x[a]).fma(b, s0);
            s1 = FloatVector.broadcast(SPECIES, x[a + 1]).fma(b, s1);
            s2 = FloatVector.broadcast(SPECIES, x[a + 2]).fma(b, s2);
            s3 = FloatVector.broadcast(SPECIES, x[a + 3]).fma(b, s3);
            s4 = FloatVector.broadcast(SPECIES, x[a + 4]).fma(b, s4);
            s5 = FloatVector.broadcast(SPECIES, x[a + 5]).fma(b, s5);
            s6 = FloatVector.broadcast(SPECIES, x[a + 6]).fma(b, s6);
            s7 = FloatVector.broadcast(SPECIES, x[a + 7]).fma(b, s7);
        }
        s0.intoArray(tile, 0);
        s1.intoArray(tile, WIDTH);
        s2.intoArray(tile, 2 * WIDTH);
        s3.intoArray(tile, 3 * WIDTH);
        s4.intoArray(tile, 4 * WIDTH);
        s5.intoArray(tile, 5 * WIDTH);
        s6.intoArray(tile, 6 * WIDTH);
        s7.intoArray(tile, 7 * WIDTH);
    }

    /** The same with 4 columns, for machines with 16 vector registers. */
    private static void four(float[] x, int left, int right, int rows, float[] tile) {
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
        for (int p = 0; p < rows; p++) {
            int a = left + p * WIDTH;
            int b = right + p * WIDTH;
            FloatVector b0 = FloatVector.fromArray(SPECIES, x, b);
            FloatVector b1 = FloatVector.fromArray(SPECIES, x, b + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, x, b + 2 * LANES);
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
