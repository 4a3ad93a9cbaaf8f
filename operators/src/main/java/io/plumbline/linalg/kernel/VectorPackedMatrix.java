package io.plumbline.linalg.kernel;

import io.plumbline.parallel.Cores;
import java.util.Arrays;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * B in strips of {@value TileKernel#WIDTH} columns, which are read one after the other; A in strips of as many rows.
 * Some strips of A stay in the second-level cache. A square of C is summed in registers over {@value #INNER} entries.
 */
final class VectorPackedMatrix extends PackedMatrix {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = TileKernel.WIDTH;
    private static final int SQUARE = WIDTH * WIDTH;

    /** Entries of a row of A that are laid out together. */
    private static final int PIECE = 64;

    /** The number of rows of a strip of B that stay in a first-level cache of 32 KiB. */
    private static final int INNER = 128;

    /** Entries of A that are held together: 1 MiB. */
    private static final int LEFT_ENTRIES = 1 << 17;

    /** Entries of a strip from which on laying it out is worth another thread. */
    private static final int ENTRIES_WORTH_SHARING = 1 << 13;

    /**
     * The memory in which a thread lays A out and sums. Made anew for every product it would be zeroed and pass through
     * the caches each time, which took as long as a third of a product of few columns.
     */
    private static final ThreadLocal<Memory> MEMORY = ThreadLocal.withInitial(Memory::new);

    private static final class Memory {

        private double[] left = new double[0];
        private double[] sums = new double[0];
        private final double[] product = new double[SQUARE];

        /** Returns memory for A; what is larger than a whole block of it is not kept. */
        double[] left(int length) {
            if (length > LEFT_ENTRIES) {
                return new double[length];
            }
            if (left.length < length) {
                left = new double[LEFT_ENTRIES];
            }
            return left;
        }

        double[] sums(int length) {
            if (sums.length < length) {
                sums = new double[length];
            }
            return sums;
        }
    }

    private final VectorTileKernel kernel;

    private final double[] strips;

    /** Rows there is room for. */
    private final int room;

    VectorPackedMatrix(MatrixView b, VectorTileKernel kernel) {
        super(b);
        this.kernel = kernel;
        int m = b.rows();
        room = VectorTileKernel.even(m);
        strips = new double[Math.multiplyExact(VectorTiles.strips(b.columns(), WIDTH) * WIDTH, room)];
        int count = VectorTiles.strips(b.columns(), WIDTH);
        int group = m * WIDTH < ENTRIES_WORTH_SHARING ? count : 1;
        Cores.each((count + group - 1) / group, index -> {
            for (int strip = index * group; strip < Math.min(count, (index + 1) * group); strip++) {
                layOut(b, strip * WIDTH);
            }
        });
    }

    private void layOut(MatrixView b, int column) {
        int count = Math.min(WIDTH, b.columns() - column);
        for (int h = 0; h < b.rows(); h++) {
            for (int j = 0; j < count; j += kernel.stretch()) {
                b.copyRow(h, column + j, strips, index(h, column + j), Math.min(kernel.stretch(), count - j));
            }
        }
    }

    /** Returns where a row of the stretch that begins with {@code column} lies. */
    private int index(int row, int column) {
        return column * room + row * kernel.stretch();
    }

    @Override
    public void multiply(MatrixView a, double[] c, int offset, int stride) {
        int m = rows();
        if (m == 0) {
            return;
        }
        int most = Math.max(1, Math.min(VectorTiles.strips(a.rows(), WIDTH), LEFT_ENTRIES / kernel.leftSize(room)));
        Memory memory = MEMORY.get();
        double[] left = memory.left(most * kernel.leftSize(room));
        double[] sums = memory.sums(most * SQUARE);
        for (int row = 0; row < a.rows(); row += most * WIDTH) {
            int last = Math.min(row + most * WIDTH, a.rows());
            layOut(a, row, last, left);
            for (int column = 0; column < columns(); column += WIDTH) {
                int length = Math.min(WIDTH, columns() - column);
                for (int h = 0; h < m; h += INNER) {
                    int count = Math.min(INNER, m - h);
                    int right = index(h, column);
                    for (int i = row; i < last; i += WIDTH) {
                        int from = (i - row) / WIDTH * kernel.leftSize(room) + h * kernel.leftPitch();
                        int rows = Math.min(WIDTH, last - i);
                        int at = (i - row) * WIDTH;
                        if (h == 0) {
                            kernel.square(left, from, room, strips, right, room, count, rows, length, sums, at);
                        } else {
                            kernel.square(
                                    left, from, room, strips, right, room, count, rows, length, memory.product, 0);
                            add(memory.product, 0, sums, at, rows * WIDTH);
                        }
                    }
                }
                for (int of = row; of < last; of++) {
                    add(sums, (of - row) * WIDTH, c, offset + of * stride + column, length);
                }
            }
        }
    }

    /** Lays out rows {@code from .. to-1} of A as left factors; what is missing to a whole strip is 0. */
    private void layOut(MatrixView a, int from, int to, double[] left) {
        int m = a.columns();
        int size = kernel.leftSize(room);
        int pitch = kernel.leftPitch();
        int group = kernel.leftGroup();
        for (int i = from; i < to; i += WIDTH) {
            int count = Math.min(WIDTH, to - i);
            int base = (i - from) / WIDTH * size;
            if (count < WIDTH || room > m) {
                Arrays.fill(left, base, base + size, 0.0);
            }
            if (a.rowStep() == 1) {
                // A transpose: a strip's rows lie side by side already, and a row at a time would read every line of it
                // again for each.
                for (int row = 0; row < count; row += group) {
                    int side = Math.min(group, count - row);
                    int target = base + kernel.leftIndex(row, room);
                    for (int h = 0; h < m; h++) {
                        System.arraycopy(a.values(), a.index(i + row, h), left, target + h * pitch, side);
                    }
                }
                continue;
            }
            for (int piece = 0; piece < m; piece += PIECE) {
                for (int row = 0; row < count; row++) {
                    int at = a.index(i + row, 0);
                    int target = base + kernel.leftIndex(row, room);
                    for (int h = piece; h < Math.min(piece + PIECE, m); h++) {
                        left[target + h * pitch] = a.values()[at + h * a.columnStep()];
                    }
                }
            }
        }
    }

    private static void add(double[] sums, int from, double[] c, int at, int length) {
        int whole = SPECIES.loopBound(length);
        for (int j = 0; j < whole; j += LANES) {
            DoubleVector.fromArray(SPECIES, c, at + j)
                    .add(DoubleVector.fromArray(SPECIES, sums, from + j))
                    .intoArray(c, at + j);
        }
        for (int j = whole; j < length; j++) {
            c[at + j] += sums[from + j];
        }
    }
}
