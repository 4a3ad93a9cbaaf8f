package io.plumbline.requests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.linalg.Matrix;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RequestProjectionTest {

    @Test
    void theProjectedSumIsThatOfTheProjectedRows() {
        for (int dimension : new int[] {1, 3, 4, 13, 64}) {
            Matrix basis = integers(dimension, 5, dimension);
            Matrix rows = integers(dimension + 1, 9, dimension);
            double[] expected = {100, 0, 0, 0, -1};
            for (int row = 0; row < rows.rows(); row++) {
                for (int i = 0; i < basis.rows(); i++) {
                    for (int j = 0; j < dimension; j++) {
                        expected[i] += basis.get(i, j) * rows.get(row, j);
                    }
                }
            }
            RequestProjection projection = RequestProjection.of(basis);
            double[] decoded = {100, 0, 0, 0, -1};
            projection.add(rows, decoded);
            assertArrayEquals(expected, decoded, "width " + dimension);
        }
    }

    /** Tests that sums, like moments, have the same bits however rows are cut into records and partitions. */
    @Test
    void sumsOverIntegerRowsAreExactUnderAnyBasis() {
        SplittableRandom random = new SplittableRandom(9);
        for (double scale : new double[] {1e-30, 0.01, 1, 1e20}) {
            Matrix basis = Matrix.zeros(6, 200);
            for (int i = 0; i < basis.values().length; i++) {
                basis.values()[i] = scale * random.nextDouble(-1, 1);
            }
            RequestProjection projection = RequestProjection.of(basis);
            Matrix rows = integers(4, 300, 200);
            double[] whole = new double[6];
            projection.add(rows, whole);
            double[] pieces = new double[6];
            for (int to = 300; to > 0; to -= 4) {
                projection.add(rows.rowRange(Math.max(0, to - 4), to), pieces);
            }
            assertArrayEquals(whole, pieces, "scale " + scale);
            for (int i = 0; i < 6; i++) {
                double expected = 0;
                for (int row = 0; row < 300; row++) {
                    for (int j = 0; j < 200; j++) {
                        expected += basis.get(i, j) * rows.get(row, j);
                    }
                }
                assertEquals(expected, whole[i], 300 * 200 * 8 * scale * 0x1p-24, "scale " + scale);
            }
        }
    }

    @Test
    void aComponentWithoutEntriesGivesNothing() {
        double[] sum = new double[2];
        RequestProjection.of(new Matrix(2, 2, new double[] {0, 0, 1, 2}))
                .add(new Matrix(1, 2, new double[] {3, 4}), sum);
        assertArrayEquals(new double[] {0, 11}, sum);
    }

    @Test
    void theIdSaysWhichBasisItIs() {
        Matrix basis = integers(3, 2, 6);
        RequestProjection.Id id = RequestProjection.of(basis).id();
        assertEquals(id, RequestProjection.of(basis.copy()).id());
        assertEquals(2, id.components());
        Matrix other = basis.copy();
        other.set(1, 5, Math.nextUp(other.get(1, 5)));
        assertNotEquals(id.hash(), RequestProjection.of(other).id().hash());
        assertNotEquals(
                id.hash(),
                RequestProjection.of(new Matrix(3, 4, basis.values())).id().hash());
    }

    @Test
    void aLaterChangeOfTheMatrixDoesNotShow() {
        Matrix basis = new Matrix(1, 1, new double[] {2});
        RequestProjection projection = RequestProjection.of(basis);
        basis.set(0, 0, 5);
        double[] sum = new double[1];
        projection.add(new Matrix(1, 1, new double[] {1}), sum);
        assertEquals(2, sum[0]);
    }

    @Test
    void whatDoesNotFitIsRefused() {
        RequestProjection projection = RequestProjection.of(Matrix.identity(3));
        assertThrows(IllegalArgumentException.class, () -> projection.add(Matrix.zeros(2, 4), new double[3]));
        assertThrows(IllegalArgumentException.class, () -> projection.add(Matrix.zeros(2, 3), new double[2]));
        assertThrows(IllegalArgumentException.class, () -> RequestProjection.of(Matrix.zeros(1_025, 1)));
        assertThrows(
                IllegalArgumentException.class,
                () -> RequestProjection.of(new Matrix(1, 2, new double[] {1, Double.NaN})));
        assertThrows(
                IllegalArgumentException.class, () -> RequestProjection.of(new Matrix(1, 1, new double[] {1e101})));
    }

    private static Matrix integers(long seed, int rows, int columns) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextInt(-8, 9);
        }
        return matrix;
    }
}
