package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MatrixTest {

    /** Takes sizes whose squares vanish or overflow too. */
    @ParameterizedTest
    @CsvSource({"1.0, 150, 37", "1.0, 1, 1", "1e-170, 70, 5", "1e170, 70, 5", "1.0, 2048, 768"})
    void aDistanceIsTheNormOfTheDifference(double size, int rows, int columns) {
        Matrix one = random(rows, columns, size, 1);
        Matrix other = random(rows, columns, size, 2);
        double expected = one.minus(other).frobeniusNorm();
        assertTrue(expected > 0.0 && Double.isFinite(expected));
        assertEquals(expected, one.distance(other), 1e-13 * expected);
        double[] row = random(1, columns, size, 3).values();
        Matrix left = one.copy();
        for (int i = 0; i < rows * columns; i++) {
            left.values()[i] -= row[i % columns];
        }
        double ofRow = left.frobeniusNorm();
        assertEquals(ofRow, one.distanceToRow(row), 1e-13 * ofRow);
        assertEquals(0.0, one.distance(one.copy()));
        Matrix below = one.minus(other);
        for (int i = 0; i < rows; i++) {
            for (int j = i; j < columns; j++) {
                below.set(i, j, 0.0);
            }
        }
        double ofBelow = below.frobeniusNorm();
        assertEquals(ofBelow, one.distanceBelowDiagonal(other), 1e-13 * ofBelow);
    }

    @ParameterizedTest
    @CsvSource({"3, 4", "4, 3"})
    void aDistanceNeedsTheSameShape(int rows, int columns) {
        Matrix square = Matrix.zeros(3, 3);
        Matrix other = Matrix.zeros(rows, columns);
        assertThrows(IllegalArgumentException.class, () -> square.distance(other));
        assertThrows(IllegalArgumentException.class, () -> square.distanceBelowDiagonal(other));
    }

    private static Matrix random(int rows, int columns, double size, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = size * random.nextDouble(-1, 1);
        }
        return matrix;
    }
}
