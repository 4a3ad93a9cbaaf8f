package io.plumbline.linalg.kernel;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/** The twin of {@link VectorFloatPanel} in float64. */
final class VectorDoublePanel extends DoublePanel {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int WIDTH = TileKernel.WIDTH;

    private final TileKernel kernel;
    private final int strip;
    private final double[] values;
    private final double[] square = new double[WIDTH * WIDTH];

    VectorDoublePanel(int dimension, int capacity, TileKernel kernel) {
        super(dimension, capacity, WIDTH);
        this.kernel = kernel;
        strip = capacity * WIDTH;
        values = new double[VectorTiles.strips(dimension, WIDTH) * strip];
    }

    @Override
    public double[] array(int row) {
        return values;
    }

    @Override
    public int index(int row, int column) {
        return column / WIDTH * strip + row * WIDTH;
    }

    @Override
    void addProducts(double[] packed, int offset, int count) {
        int d = dimension();
        int group = VectorTiles.STRIPS_IN_CACHE * WIDTH;
        for (int start = 0; start < d; start += group) {
            for (int i = start; i < d; i += WIDTH) {
                int rows = Math.min(WIDTH, d - i);
                for (int j = start; j < Math.min(start + group, i); j += WIDTH) {
                    kernel.square(values, index(0, i), values, index(0, j), count, rows, WIDTH, square, 0);
                    for (int row = 0; row < rows; row++) {
                        fold(square, row * WIDTH, packed, offset + VectorTiles.startOfRow(i + row) + j);
                    }
                }
                if (i < start + group) {
                    kernel.lowerTriangle(values, index(0, i), count, rows, square, 0);
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
