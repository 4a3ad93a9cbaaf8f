package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SymmetricProductTest {

    /** Tests with whole numbers, since every sum is exact in any order. */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 191, 192, 193, 430})
    void aHalfAndItsTransposeAreTheWholeProduct(int columns) {
        int rows = 37;
        Matrix a = integers(rows, columns, 1);
        Matrix any = integers(rows, rows, 2);
        Matrix symmetric = any.plus(1.0, any.transpose());
        Matrix b = Kernels.multiply(symmetric, a);
        Matrix half = Kernels.halfOfSymmetricProduct(a, b);
        Matrix base = integers(columns, columns, 3);
        Matrix sum = base.copy();
        sum.addWithTranspose(half);
        assertEquals(base.plus(1.0, Kernels.transposeMultiply(a, b)), sum, "columns " + columns);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 192, 193, 400})
    void sumsOfSymmetricProductsAreWholeOnceMirrored(int size) {
        Matrix sum = Matrix.zeros(size, size);
        Matrix expected = Matrix.zeros(size, size);
        for (int seed = 5; seed < 8; seed++) {
            Matrix left = integers(size, 20, seed);
            Matrix right = left.transpose();
            Kernels.addSymmetricProduct(left, right, sum);
            expected = expected.plus(1.0, Kernels.multiply(left, right));
        }
        Kernels.mirror(sum);
        assertEquals(expected, sum, "size " + size);
        assertThrows(
                IllegalArgumentException.class,
                () -> Kernels.addSymmetricProduct(Matrix.zeros(size, 2), Matrix.zeros(2, size + 1), sum));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void otherSizesAreRefused(int columns) {
        Matrix a = Matrix.zeros(5, 3);
        assertThrows(IllegalArgumentException.class, () -> Kernels.halfOfSymmetricProduct(a, Matrix.zeros(5, columns)));
        assertThrows(IllegalArgumentException.class, () -> a.addWithTranspose(a));
    }

    private static Matrix integers(int rows, int columns, long seed) {
        Random random = new Random(seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextInt(-9, 10);
        }
        return matrix;
    }
}
