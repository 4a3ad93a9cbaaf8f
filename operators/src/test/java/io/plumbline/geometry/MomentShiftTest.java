package io.plumbline.geometry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.Matrix;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MomentShiftTest {

    /** Takes sizes whose squares vanish or overflow too. */
    @ParameterizedTest
    @CsvSource({"1.0, 150", "1.0, 1", "1e-170, 70", "1e150, 70"})
    void bothNormsAreThoseOfTheDifferenceOnceItIsMade(double size, int d) {
        Matrix before = symmetric(d, size, 1);
        Matrix after = symmetric(d, size, 2);
        Matrix difference = after.minus(before);
        MomentShift shift = MomentShift.between(before, after);
        double norm = difference.frobeniusNorm();
        assertEquals(norm, shift.norm(), 1e-13 * norm);
        double mean = difference.trace() / d;
        for (int i = 0; i < d; i++) {
            difference.set(i, i, difference.get(i, i) - mean);
        }
        assertEquals(difference.frobeniusNorm(), shift.traceless(), 1e-13 * norm);
    }

    /** Tests that a small rest is not lost beside a large multiple of the identity. */
    @ParameterizedTest
    @CsvSource({"0", "1"})
    void ofAMultipleOfTheIdentityOnlyTheRestIsLeft(int rest) {
        Matrix before = symmetric(64, 1.0, 3);
        for (int i = 0; i < before.values().length; i++) {
            before.values()[i] = Math.rint(8 * before.values()[i]);
        }
        Matrix after = before.copy();
        for (int i = 0; i < 64; i++) {
            after.set(i, i, after.get(i, i) + 0x1p40);
        }
        after.set(5, 2, after.get(5, 2) + rest);
        after.set(2, 5, after.get(2, 5) + rest);
        assertEquals(rest * Math.sqrt(2.0), MomentShift.between(before, after).traceless(), 1e-15);
    }

    private static Matrix symmetric(int d, double size, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix matrix = Matrix.zeros(d, d);
        for (int i = 0; i < d; i++) {
            for (int j = 0; j <= i; j++) {
                double value = size * random.nextDouble(-1, 1);
                matrix.set(i, j, value);
                matrix.set(j, i, value);
            }
        }
        return matrix;
    }
}
