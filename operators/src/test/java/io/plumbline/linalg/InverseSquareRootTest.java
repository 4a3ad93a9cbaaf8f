package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InverseSquareRootTest {

    @ParameterizedTest
    @CsvSource({"1, 9", "0.5, 11", "1e-2, 23", "0.0025, 27", "1e-4, 36", "1e-6, 50"})
    void theFractionsAddUpToTheInverseRoot(double b, int fractions) {
        InverseSquareRoot root = InverseSquareRoot.above(b);
        assertEquals(fractions, root.shifts().length, 1);
        for (int i = 0; i <= 1000; i++) {
            double x = Math.pow(b * b, i / 1000.0);
            double sum = 0.0;
            for (int j = 0; j < root.shifts().length; j++) {
                assertTrue(root.shifts()[j] > 0.0 && root.weights()[j] > 0.0);
                sum += root.weights()[j] / (x + root.shifts()[j]);
            }
            assertEquals(1.0, sum * Math.sqrt(x), 3e-12, "x = " + x);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.0, -1.0, 1.5, Double.NaN})
    void aBoundThatIsNoneIsRefused(double b) {
        assertThrows(IllegalArgumentException.class, () -> InverseSquareRoot.above(b));
    }

    @Test
    void theWholeLineTakesFewFractions() {
        assertTrue(InverseSquareRoot.above(1e-12).shifts().length < 100);
    }
}
