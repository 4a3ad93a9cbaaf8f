package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WeightsTest {

    private static final int ROWS = 300;
    private static final int COLUMNS = 7;

    private final Matrix floats = random(true);
    private final Matrix doubles = random(false);

    @Test
    void theyAreHeldAsFloatsWhereEveryValueIsOne() {
        assertTrue(Weights.of(floats).areFloats());
        assertFalse(Weights.of(doubles).areFloats());
        Matrix one = floats.copy();
        one.values()[ROWS * COLUMNS - 1] = 0.1;
        assertFalse(Weights.of(one).areFloats());
        one.values()[ROWS * COLUMNS - 1] = 1e39;
        assertFalse(Weights.of(one).areFloats(), "beyond the largest float");
        one.values()[ROWS * COLUMNS - 1] = -0.0;
        assertTrue(Weights.of(one).areFloats());
        assertEquals(one, Weights.of(one).toMatrix(), "-0.0 stays what it is");
    }

    @Test
    void theFirstValueThatIsNotFiniteIsFound() {
        for (Matrix matrix : List.of(floats, doubles)) {
            assertEquals(-1, Weights.of(matrix).firstNotFinite());
            for (double value : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
                Matrix one = matrix.copy();
                one.set(ROWS - 1, COLUMNS - 1, value);
                assertEquals(ROWS * COLUMNS - 1, Weights.of(one).firstNotFinite(), "the last, " + value);
                one.set(ROWS - 30, 2, value);
                assertEquals((ROWS - 30) * COLUMNS + 2, Weights.of(one).firstNotFinite(), "of the same thread's");
                one.set(0, 0, value);
                assertEquals(0, Weights.of(one).firstNotFinite(), "the first, " + value);
            }
        }
        Matrix largest = doubles.copy();
        largest.set(1, 1, -Double.MAX_VALUE);
        assertEquals(-1, Weights.of(largest).firstNotFinite(), "beyond floats and finite");
    }

    @Test
    void whateverTheyAreHeldAsTheValuesAreTheSame() {
        for (Matrix matrix : List.of(floats, doubles)) {
            Weights weights = Weights.of(matrix);
            assertEquals(matrix, weights.toMatrix());
            assertEquals(matrix.transpose(), weights.transpose().toMatrix());
            assertEquals(matrix.rowRange(3, 9), weights.rowRange(3, 9));
            assertEquals(matrix.get(4, 5), weights.get(4, 5));
            double[] sum = new double[COLUMNS + 2];
            weights.addRow(-2.5, 6, sum, 1);
            double[] expected = new double[COLUMNS + 2];
            Kernels.addScaled(-2.5, matrix.values(), 6 * COLUMNS, expected, 1, COLUMNS);
            assertArrayEquals(expected, sum);
            weights.addRow(0.5, 9, 2, 3, sum, 4);
            Kernels.addScaled(0.5, matrix.values(), 9 * COLUMNS + 2, expected, 4, 3);
            assertArrayEquals(expected, sum, "columns 2 to 4 alone");
            for (Matrix other : List.of(floats, doubles)) {
                assertEquals(
                        Kernels.dot(matrix.values(), 8 * COLUMNS, other.values(), 2 * COLUMNS, COLUMNS),
                        weights.dot(8, Weights.of(other), 2));
            }
        }
    }

    @Test
    void productsAreThoseOfTheMatrix() {
        Matrix right = random(false).rowRange(0, COLUMNS);
        for (Matrix matrix : List.of(floats, doubles)) {
            Matrix expected = Kernels.multiply(matrix, right);
            Matrix found = Weights.of(matrix).multiply(right);
            assertEquals(0.0, expected.minus(found).frobeniusNorm(), 1e-14 * expected.frobeniusNorm());
        }
        assertThrows(IllegalArgumentException.class, () -> Weights.of(floats).multiply(Matrix.zeros(COLUMNS + 1, 1)));
    }

    @Test
    void bytesAreTheNearestFloats() {
        for (Matrix matrix : List.of(floats, doubles)) {
            ByteBuffer bytes = ByteBuffer.allocate(4 * COLUMNS + 4).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putInt(1);
            Weights.of(matrix).putFloats(COLUMNS, COLUMNS, bytes);
            assertFalse(bytes.hasRemaining());
            for (int j = 0; j < COLUMNS; j++) {
                assertEquals((float) matrix.get(1, j), bytes.getFloat(4 + 4 * j));
            }
        }
    }

    @Test
    void theyAreEqualWhereTheirValuesAre() {
        assertEquals(Weights.of(floats), Weights.of(floats.copy()));
        assertEquals(Weights.of(floats).hashCode(), Weights.of(floats.copy()).hashCode());
        assertEquals(Weights.of(doubles), Weights.of(doubles.copy()));
        assertNotEquals(Weights.of(floats), Weights.of(doubles));
        assertNotEquals(Weights.of(new Matrix(1, 2, new double[2])), Weights.of(new Matrix(2, 1, new double[2])));
        assertThrows(IllegalArgumentException.class, () -> Weights.ofFloats(2, 3, new float[5]));
    }

    private static Matrix random(boolean floats) {
        SplittableRandom random = new SplittableRandom(7);
        Matrix matrix = Matrix.zeros(ROWS, COLUMNS);
        for (int i = 0; i < matrix.values().length; i++) {
            double value = random.nextDouble(-1, 1);
            matrix.values()[i] = floats ? (float) value : value;
        }
        return matrix;
    }
}
