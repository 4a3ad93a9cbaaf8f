package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoundedProductTwinsTest {

    private static final Random RANDOM = new Random(5);

    @ParameterizedTest(name = "{0} x {1} by {1} x {2}")
    @CsvSource({
        "128, 768, 32",
        "128, 32, 768",
        "3, 5, 7",
        "4, 8, 16",
        "1, 1, 1",
        "5, 33, 17",
        "9, 2, 65",
        "6, 0, 0",
        "0, 4, 4"
    })
    void everyStepIsRoundedInItsOrder(int rows, int inner, int columns) {
        double[][] a = numbers(rows, inner);
        double[][] b = numbers(inner, columns);
        double[][] expected = inOrder(a, b, columns);
        double[] byRows = Arrays.stream(b).flatMapToDouble(Arrays::stream).toArray();
        MatrixView right = new MatrixView(byRows, 0, inner, columns, columns, 1);
        PanelTwinsTest.kernels().forEach(kernel -> {
            double[][] c = numbers(rows, columns);
            kernel.roundedProduct(right).multiply(a, c);
            for (int i = 0; i < rows; i++) {
                assertArrayEquals(bits(expected[i]), bits(c[i]), kernel + ", row " + i);
            }
        });
    }

    /** Returns numbers of sizes so different that any other order or a fused step shows, and zeros of both signs. */
    private static double[][] numbers(int rows, int columns) {
        double[][] numbers = new double[rows][columns];
        for (double[] row : numbers) {
            for (int j = 0; j < columns; j++) {
                double size = Math.scalb(RANDOM.nextGaussian(), RANDOM.nextInt(20));
                row[j] = RANDOM.nextInt(10) == 0 ? Math.copySign(0.0, size) : size;
            }
        }
        return numbers;
    }

    private static double[][] inOrder(double[][] a, double[][] b, int columns) {
        double[][] c = new double[a.length][columns];
        for (int i = 0; i < a.length; i++) {
            for (int j = 0; j < columns; j++) {
                double sum = 0.0;
                for (int h = 0; h < b.length; h++) {
                    double product = a[i][h] * b[h][j];
                    sum += product;
                }
                c[i][j] = sum;
            }
        }
        return c;
    }

    private static long[] bits(double[] row) {
        long[] bits = new long[row.length];
        for (int j = 0; j < bits.length; j++) {
            bits[j] = Double.doubleToRawLongBits(row[j]);
        }
        return bits;
    }
}
