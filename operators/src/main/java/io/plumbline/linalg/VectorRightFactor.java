package io.plumbline.linalg;

import java.util.Arrays;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * B in strips of three vectors' width, which are read one after the other; A in strips of a tile's rows, as many as stay in the
 * second-level cache. A tile of C is summed in registers over {@value #INNER} entries.
 */
final class VectorRightFactor extends RightFactor {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = 3 * LANES;
    private static final int TILE_ROWS = VectorTiles.ROWS;

    /** So much of a strip of B stays in a first-level cache of 32 KiB. */
    private static final int INNER = 128;

    /** Entries of A that are laid out together: 512 KiB. */
    private static final int LEFT_ENTRIES = 1 << 16;

    /** Entries of a strip from which on laying it out is worth another thread. */
    private static final int ENTRIES_WORTH_SHARING = 1 << 13;

    /**
     * What a thread lays A out in, and a tile. Made anew for every product it would be zeroed and pass through the caches each time, which
     * took as long as a third of a product of few columns.
     */
    private static final ThreadLocal<Room> ROOM = ThreadLocal.withInitial(Room::new);

    private static final class Room {

        private final double[] tile = new double[TILE_ROWS * WIDTH];
        private double[] left = new double[0];

        /** What is larger than a whole block of A is not kept. */
        double[] left(int length) {
            if (length > LEFT_ENTRIES) {
                return new double[length];
            }
            if (left.length < length) {
                left = new double[LEFT_ENTRIES];
            }
            return left;
        }
    }

    private final double[] strips;

    VectorRightFactor(Operand b) {
        super(b);
        int m = b.rows();
        strips = new double[Math.multiplyExact(VectorTiles.strips(b.columns(), WIDTH) * WIDTH, m)];
        int count = VectorTiles.strips(b.columns(), WIDTH);
        int group = m * WIDTH < ENTRIES_WORTH_SHARING ? count : 1;
        Cores.each((count + group - 1) / group, index -> {
            for (int strip = index * group; strip < Math.min(count, (index + 1) * group); strip++) {
                layOut(b, strip * WIDTH);
            }
        });
    }

    private void layOut(Operand b, int column) {
        int count = Math.min(WIDTH, b.columns() - column);
        for (int h = 0; h < b.rows(); h++) {
            b.copyRow(h, column, strips, column * b.rows() + h * WIDTH, count);
        }
    }

    @Override
    void multiply(Operand a, double[] c, int offset, int stride) {
        int m = rows();
        int tiles = Math.max(
                1, Math.min(VectorTiles.strips(a.rows(), TILE_ROWS), LEFT_ENTRIES / (Math.max(1, m) * TILE_ROWS)));
        Room room = ROOM.get();
        double[] left = room.left(tiles * TILE_ROWS * m);
        double[] tile = room.tile;
        for (int row = 0; row < a.rows(); row += tiles * TILE_ROWS) {
            int last = Math.min(row + tiles * TILE_ROWS, a.rows());
            layOut(a, row, last, left);
            for (int column = 0; column < columns(); column += WIDTH) {
                for (int h = 0; h < m; h += INNER) {
                    int count = Math.min(INNER, m - h);
                    for (int i = row; i < last; i += TILE_ROWS) {
                        int from = (i - row) * m + h * TILE_ROWS;
                        if (TILE_ROWS == 8) {
                            eight(left, from, strips, column * m + h * WIDTH, count, tile);
                        } else {
                            four(left, from, strips, column * m + h * WIDTH, count, tile);
                        }
                        int length = Math.min(WIDTH, columns() - column);
                        for (int of = i; of < Math.min(i + TILE_ROWS, last); of++) {
                            add(tile, (of - i) * WIDTH, c, offset + of * stride + column, length);
                        }
                    }
                }
            }
        }
    }

    @Override
    public void copyRow(int row, double[] target) {
        for (int column = 0; column < columns(); column += WIDTH) {
            System.arraycopy(
                    strips, column * rows() + row * WIDTH, target, column, Math.min(WIDTH, columns() - column));
        }
    }

    /** Rows {@code from .. to-1} of A, a tile's rows side by side; what is missing to a whole tile is 0. */
    private static void layOut(Operand a, int from, int to, double[] left) {
        int m = a.columns();
        for (int i = from; i < to; i += TILE_ROWS) {
            int count = Math.min(TILE_ROWS, to - i);
            int base = (i - from) * m;
            if (count < TILE_ROWS) {
                Arrays.fill(left, base, base + TILE_ROWS * m, 0.0);
            }
            if (a.rowStep() == 1) {
                // A transpose: a tile's rows lie side by side already, and a row at a time would read every line of it
                // again for each.
                for (int h = 0; h < m; h++) {
                    System.arraycopy(a.values(), a.index(i, h), left, base + h * TILE_ROWS, count);
                }
                continue;
            }
            for (int row = 0; row < count; row++) {
                int at = a.index(i + row, 0);
                for (int h = 0; h < m; h++) {
                    left[base + h * TILE_ROWS + row] = a.values()[at + h * a.columnStep()];
                }
            }
        }
    }

    private static void add(double[] tile, int from, double[] c, int at, int length) {
        int whole = SPECIES.loopBound(length);
        for (int j = 0; j < whole; j += LANES) {
            DoubleVector.fromArray(SPECIES, c, at + j)
                    .add(DoubleVector.fromArray(SPECIES, tile, from + j))
                    .intoArray(c, at + j);
        }
        for (int j = whole; j < length; j++) {
            c[at + j] += tile[from + j];
        }
    }

    /** {@code tile = A B}: a strip of 8 rows from {@code left} against the three vectors from {@code right}. */
    private static void eight(double[] x, int left, double[] y, int right, int count, double[] tile) {
        DoubleVector s00 = DoubleVector.zero(SPECIES);
        DoubleVector s01 = DoubleVector.zero(SPECIES);
        DoubleVector s02 = DoubleVector.zero(SPECIES);
        DoubleVector s10 = DoubleVector.zero(SPECIES);
        DoubleVector s11 = DoubleVector.zero(SPECIES);
        DoubleVector s12 = DoubleVector.zero(SPECIES);
        DoubleVector s20 = DoubleVector.zero(SPECIES);
        DoubleVector s21 = DoubleVector.zero(SPECIES);
        DoubleVector s22 = DoubleVector.zero(SPECIES);
        DoubleVector s30 = DoubleVector.zero(SPECIES);
        DoubleVector s31 = DoubleVector.zero(SPECIES);
        DoubleVector s32 = DoubleVector.zero(SPECIES);
        DoubleVector s40 = DoubleVector.zero(SPECIES);
        DoubleVector s41 = DoubleVector.zero(SPECIES);
        DoubleVector s42 = DoubleVector.zero(SPECIES);
        DoubleVector s50 = DoubleVector.zero(SPECIES);
        DoubleVector s51 = DoubleVector.zero(SPECIES);
        DoubleVector s52 = DoubleVector.zero(SPECIES);
        DoubleVector s60 = DoubleVector.zero(SPECIES);
        DoubleVector s61 = DoubleVector.zero(SPECIES);
        DoubleVector s62 = DoubleVector.zero(SPECIES);
        DoubleVector s70 = DoubleVector.zero(SPECIES);
        DoubleVector s71 = DoubleVector.zero(SPECIES);
        DoubleVector s72 = DoubleVector.zero(SPECIES);
        for (int h = 0; h < count; h++) {
            int a = left + h * TILE_ROWS;
            int b = right + h * WIDTH;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, y, b);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, y, b + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, y, b + 2 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, x[a]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, x[a + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, x[a + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, x[a + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            DoubleVector a4 = DoubleVector.broadcast(SPECIES, x[a + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            DoubleVector a5 = DoubleVector.broadcast(SPECIES, x[a + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            s52 = a5.fma(b2, s52);
            DoubleVector a6 = DoubleVector.broadcast(SPECIES, x[a + 6]);
            s60 = a6.fma(b0, s60);
            s61 = a6.fma(b1, s61);
            s62 = a6.fma(b2, s62);
            DoubleVector a7 = DoubleVector.broadcast(SPECIES, x[a + 7]);
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
    private static void four(double[] x, int left, double[] y, int right, int count, double[] tile) {
        DoubleVector s00 = DoubleVector.zero(SPECIES);
        DoubleVector s01 = DoubleVector.zero(SPECIES);
        DoubleVector s02 = DoubleVector.zero(SPECIES);
        DoubleVector s10 = DoubleVector.zero(SPECIES);
        DoubleVector s11 = DoubleVector.zero(SPECIES);
        DoubleVector s12 = DoubleVector.zero(SPECIES);
        DoubleVector s20 = DoubleVector.zero(SPECIES);
        DoubleVector s21 = DoubleVector.zero(SPECIES);
        DoubleVector s22 = DoubleVector.zero(SPECIES);
        DoubleVector s30 = DoubleVector.zero(SPECIES);
        DoubleVector s31 = DoubleVector.zero(SPECIES);
        DoubleVector s32 = DoubleVector.zero(SPECIES);
        for (int h = 0; h < count; h++) {
            int a = left + h * TILE_ROWS;
            int b = right + h * WIDTH;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, y, b);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, y, b + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, y, b + 2 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, x[a]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, x[a + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, x[a + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, x[a + 3]);
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
