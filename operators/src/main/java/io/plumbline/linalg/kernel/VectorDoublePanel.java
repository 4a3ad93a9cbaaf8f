package io.plumbline.linalg.kernel;

import java.util.Arrays;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/** The twin of {@link VectorFloatPanel} in float64. */
final class VectorDoublePanel extends DoublePanel {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = TileKernel.WIDTH;

    private final VectorTileKernel kernel;
    private final int capacity;
    private final double[] values;

    /** A strip as a left factor, where it does not lie as one. */
    private final double[] left;

    private final double[] square = new double[WIDTH * WIDTH];

    VectorDoublePanel(int dimension, int capacity, VectorTileKernel kernel) {
        super(dimension, capacity, kernel.stretch());
        this.kernel = kernel;
        this.capacity = VectorTileKernel.even(capacity);
        values = new double[VectorTiles.strips(dimension, WIDTH) * WIDTH * this.capacity];
        left = kernel.rightIsLeft() ? values : new double[kernel.leftSize(this.capacity)];
    }

    @Override
    public double[] array(int row) {
        return values;
    }

    @Override
    public int index(int row, int column) {
        return column * capacity + row * kernel.stretch();
    }

    @Override
    void addProducts(double[] packed, int offset, int count) {
        int d = dimension();
        if (count % 2 > 0) {
            // A row that was begun and not taken may hold what is no number.
            for (int j = 0; j < d; j += kernel.stretch()) {
                int at = index(count, j);
                Arrays.fill(values, at, at + kernel.stretch(), 0.0);
            }
        }
        int group = VectorTiles.STRIPS_IN_CACHE * WIDTH;
        for (int start = 0; start < d; start += group) {
            for (int i = start; i < d; i += WIDTH) {
                int rows = Math.min(WIDTH, d - i);
                int a = index(0, i);
                if (!kernel.rightIsLeft()) {
                    kernel.layOutLeft(values, a, kernel.stretch(), capacity, count, left, 0, capacity);
                    a = 0;
                }
                for (int j = start; j < Math.min(start + group, i); j += WIDTH) {
                    int b = index(0, j);
                    kernel.square(left, a, capacity, values, b, capacity, count, rows, WIDTH, square, 0);
                    for (int row = 0; row < rows; row++) {
                        fold(square, row * WIDTH, packed, offset + VectorTiles.startOfRow(i + row) + j);
                    }
                }
                if (i < start + group) {
                    int b = index(0, i);
                    kernel.lowerTriangle(left, a, capacity, values, b, capacity, count, rows, square, 0);
                    for (int row = 0; row < rows; row++) {
                        foldFirst(row + 1, square, row * WIDTH, packed, offset + VectorTiles.startOfRow(i + row) + i);
                    }
                }
            }
        }
    }

    /** Folds a whole row of a square: as a plain loop of so few it was a tenth of the time of 128 rows. */
    private static void fold(double[] square, int from, double[] packed, int at) {
        for (int j = 0; j < WIDTH; j += LANES) {
            DoubleVector.fromArray(SPECIES, packed, at + j)
                    .add(DoubleVector.fromArray(SPECIES, square, from + j))
                    .intoArray(packed, at + j);
        }
    }

    /**
     * Folds the first {@code count} entries of a row of a square on the diagonal, by single values as those of floats.
     */
    private static void foldFirst(int count, double[] square, int from, double[] packed, int at) {
        for (int j = 0; j < count; j++) {
            packed[at + j] += square[from + j];
        }
    }
}
