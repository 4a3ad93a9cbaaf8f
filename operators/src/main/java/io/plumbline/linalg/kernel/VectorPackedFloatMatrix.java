package io.plumbline.linalg.kernel;

import io.plumbline.parallel.Cores;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * B in strips of {@value FloatTileKernel#WIDTH} columns, which are read one after the other while the block of A stays
 * in the second-level cache. A square of the product is summed in registers over {@value #INNER} entries and then added
 * to what was summed before. For every second strip that begins with the last entries and rows: where the block of A is
 * larger than the cache, those are still there.
 */
final class VectorPackedFloatMatrix extends PackedFloatMatrix {

    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = FloatTileKernel.WIDTH;
    private static final int SQUARE = WIDTH * WIDTH;

    /** Entries of a row of A that are laid out together. */
    private static final int PIECE = 64;

    private final VectorFloatTileKernel kernel;

    /** Rows there is room for. */
    private final int room;

    private final float[] strips;

    VectorPackedFloatMatrix(MatrixRows b, VectorFloatTileKernel kernel) {
        super(b.rows(), b.columns());
        this.kernel = kernel;
        int m = b.rows();
        room = VectorFloatTileKernel.even(m);
        strips = new float[Math.multiplyExact(VectorTiles.strips(b.columns(), WIDTH) * WIDTH, room)];
        Cores.each(VectorTiles.strips(b.columns(), WIDTH), strip -> {
            int column = strip * WIDTH;
            double[] row = new double[Math.min(WIDTH, b.columns() - column)];
            for (int h = 0; h < m; h++) {
                b.copyRow(h, column, row, 0, row.length);
                for (int from = 0; from < row.length; from += kernel.stretch()) {
                    int target = index(h, column + from) - from;
                    for (int j = from; j < Math.min(from + kernel.stretch(), row.length); j++) {
                        strips[target + j] = (float) row[j];
                    }
                }
            }
        });
    }

    /** Returns where a row of the stretch that begins with {@code column} lies. */
    private int index(int row, int column) {
        return column * room + row * kernel.stretch();
    }

    @Override
    void tiles(MatrixView a, float[] bias, Sink sink) {
        int m = rows();
        int squares = VectorTiles.strips(a.rows(), WIDTH);
        float[] left = layOut(a, squares);
        float[] sums = new float[squares * SQUARE];
        float[] product = new float[SQUARE];
        int pieces = (m + INNER - 1) / INNER;
        for (int column = 0; column < columns(); column += WIDTH) {
            int length = Math.min(WIDTH, columns() - column);
            for (int row = 0; row < a.rows(); row++) {
                System.arraycopy(bias, column, sums, row * WIDTH, length);
            }
            boolean backwards = column / WIDTH % 2 > 0;
            for (int turn = 0; turn < pieces * squares; turn++) {
                int place = backwards ? pieces * squares - 1 - turn : turn;
                int h = place / squares * INNER;
                int i = place % squares;
                int rows = Math.min(WIDTH, a.rows() - i * WIDTH);
                int from = i * kernel.leftSize(room) + h * kernel.leftPitch();
                kernel.square(
                        left,
                        from,
                        room,
                        strips,
                        index(h, column),
                        room,
                        Math.min(INNER, m - h),
                        rows,
                        length,
                        product,
                        0);
                addTo(sums, i * SQUARE, product, rows * WIDTH);
            }
            for (int row = 0; row < a.rows(); row++) {
                handOver(row, column, sums, length, sink);
            }
        }
    }

    /** Hands over those vectors of a row that have a value above its level, neighbours together. */
    private static void handOver(int row, int column, float[] sums, int length, Sink sink) {
        float level = sink.level(row);
        int at = row * WIDTH;
        int start = 0;
        for (int j = 0; j < length; j += LANES) {
            // What lies beyond the row in its last vector may be above, and is not handed over.
            boolean above = FloatVector.fromArray(SPECIES, sums, at + j)
                    .compare(VectorOperators.GT, level)
                    .anyTrue();
            if (!above) {
                if (start < j) {
                    sink.take(row, column + start, sums, at + start, j - start);
                }
                start = j + LANES;
            }
        }
        if (start < length) {
            sink.take(row, column + start, sums, at + start, length - start);
        }
    }

    private static void addTo(float[] sums, int at, float[] product, int length) {
        for (int j = 0; j < length; j += LANES) {
            FloatVector.fromArray(SPECIES, sums, at + j)
                    .add(FloatVector.fromArray(SPECIES, product, j))
                    .intoArray(sums, at + j);
        }
    }

    /** Lays out strips of rows as left factors, in floats; what is missing to a whole strip is 0. */
    private float[] layOut(MatrixView a, int squares) {
        int m = a.columns();
        int pitch = kernel.leftPitch();
        float[] left = new float[squares * kernel.leftSize(room)];
        for (int row = 0; row < a.rows(); row += WIDTH) {
            for (int from = 0; from < m; from += PIECE) {
                for (int i = row; i < Math.min(row + WIDTH, a.rows()); i++) {
                    int at = a.index(i, 0);
                    int to = row / WIDTH * kernel.leftSize(room) + kernel.leftIndex(i - row, room);
                    for (int h = from; h < Math.min(from + PIECE, m); h++) {
                        left[to + h * pitch] = (float) a.values()[at + h * a.columnStep()];
                    }
                }
            }
        }
        return left;
    }
}
