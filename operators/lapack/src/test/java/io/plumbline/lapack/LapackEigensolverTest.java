package io.plumbline.lapack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.linalg.SymmetricEigensolver;
import java.util.Random;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.TestAbortedException;

class LapackEigensolverTest {

    private static LapackEigensolver solver;

    @BeforeAll
    static void findTheLibrary() {
        try {
            solver = new LapackEigensolver();
        } catch (IllegalStateException missing) {
            throw new TestAbortedException(missing.getMessage(), missing);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 31, 200, 300})
    void theFactorsMultiplyBack(int d) {
        Matrix symmetric = symmetric(d);
        double[] before = symmetric.values().clone();
        SymmetricEigen eigen = solver.decompose(symmetric);
        assertArrayEquals(before, symmetric.values(), "the argument is not changed");
        double tolerance = 4 * d * Math.ulp(symmetric.frobeniusNorm());
        for (int j = 0; j < d; j++) {
            assertTrue(j == 0 || eigen.values()[j] <= eigen.values()[j - 1], "descending at " + j);
            for (int i = 0; i < d; i++) {
                double image = 0;
                for (int p = 0; p < d; p++) {
                    image += symmetric.get(i, p) * eigen.vectors().get(p, j);
                }
                assertEquals(
                        eigen.values()[j] * eigen.vectors().get(i, j),
                        image,
                        tolerance,
                        "seed %d, (%d, %d)".formatted(d, i, j));
            }
        }
    }

    @Test
    void eigenvaluesAreThoseOfOjAlgo() {
        Matrix symmetric = symmetric(120);
        // Smaller than what is handed to a native library.
        double[] expected = SymmetricEigen.of(symmetric).values();
        assertArrayEquals(expected, solver.decompose(symmetric).values(), 1e-11);
    }

    @Test
    void itIsFoundAsAService() {
        assertInstanceOf(
                LapackEigensolver.class,
                ServiceLoader.load(SymmetricEigensolver.class).findFirst().orElseThrow());
    }

    private static Matrix symmetric(int d) {
        Random random = new Random(d);
        Matrix matrix = Matrix.zeros(d, d);
        for (int i = 0; i < d; i++) {
            for (int j = 0; j <= i; j++) {
                double value = random.nextGaussian();
                matrix.set(i, j, value);
                matrix.set(j, i, value);
            }
        }
        return matrix;
    }
}
