package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.ActivationBlob;
import io.plumbline.wire.DType;
import io.plumbline.wire.EncodedRows;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RequestProjectionTest {

    @ParameterizedTest
    @EnumSource(names = {"F64", "F32", "F16", "BF16"})
    void theProjectedSumIsThatOfTheProjectedRows(DType type) {
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
            double[] encoded = {100, 0, 0, 0, -1};
            projection.add(encoded(rows, type), encoded);
            assertArrayEquals(expected, encoded, type + " of width " + dimension);
            double[] decoded = {100, 0, 0, 0, -1};
            projection.add(rows, decoded);
            assertArrayEquals(expected, decoded, "width " + dimension);
        }
    }

    @Test
    void onlyRowsThatAreKeptAreAdded() {
        Matrix rows = integers(1, 6, 4);
        RequestProjection projection = RequestProjection.of(Matrix.identity(4));
        double[] sum = new double[4];
        ActivationBlob blob = ActivationBlob.parse(
                SafetensorsWriter.create().add("activations", DType.F32, rows).toBytes(), new KnownHeaders());
        projection.add(blob.keep(new int[] {1, 4}).activations(), sum);
        for (int j = 0; j < 4; j++) {
            assertEquals(rows.get(1, j) + rows.get(4, j), sum[j]);
        }
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

    private static EncodedRows encoded(Matrix rows, DType type) {
        return ActivationBlob.parse(
                        SafetensorsWriter.create()
                                .add("activations", type, rows)
                                .toBytes(),
                        new KnownHeaders())
                .activations();
    }
}
