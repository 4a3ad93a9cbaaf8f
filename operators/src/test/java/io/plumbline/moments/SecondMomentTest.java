package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecondMomentTest {

    /** Sums of moments of any rows, which round: whoever adds them in the same order gets the same bits. */
    @ParameterizedTest
    @ValueSource(ints = {1, 44, 45, 101})
    void aSumInOnePassHasTheBitsOfMergesOneAfterTheOther(int d) {
        Random random = new Random(d);
        SecondMomentAccumulator merged = SecondMomentAccumulator.ofDimension(d);
        List<SecondMomentAccumulator> parts = new ArrayList<>();
        for (int part = 0; part < 12; part++) {
            parts.add(SecondMomentAccumulator.ofDimension(d).addFloats(floats(random, 3 + part, d)));
            merged.merge(parts.get(part));
        }
        SecondMoment sum = SecondMomentAccumulator.sum(d, parts);
        assertEquals(merged.rows(), sum.rows());
        assertArrayEquals(merged.state(), sum.state(), "d = " + d);
        assertEquals(0, SecondMomentAccumulator.sum(d, List.of()).rows());
        assertThrows(IllegalArgumentException.class, () -> SecondMomentAccumulator.sum(d + 1, parts));
    }

    /** Twin of the difference of the unfolded matrices, whose sums have another order: of d² terms, all positive. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4, 13})
    void theShiftIsThatOfTheUnfoldedMatrices(int d) {
        Random random = new Random(d);
        SecondMoment old = SecondMoment.of(floats(random, 40, d));
        SecondMoment next = SecondMoment.of(floats(random, 25, d));
        double expected =
                next.matrix().minus(old.matrix()).frobeniusNorm() / old.matrix().frobeniusNorm();
        assertEquals(expected, next.shiftFrom(old), 2 * (d * d + 4) * 0x1p-53 * expected, "d = " + d);
        SecondMoment wider = SecondMoment.of(floats(random, 3, d + 1));
        assertThrows(IllegalArgumentException.class, () -> next.shiftFrom(wider));
    }

    /**
     * Products of floats are exact in double; a sum of N terms errs by at most (N + 1) 2^-53 of the sum of their sizes.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void everyEntryAgreesWithExactArithmetic(long seed) {
        int n = 203;
        int d = 6;
        Matrix rows = floats(new Random(seed), n, d);
        SecondMoment moment = SecondMoment.of(rows);
        Matrix matrix = moment.matrix();
        double unit = (n + 1) * 0x1p-53;
        for (int i = 0; i < d; i++) {
            BigDecimal sum = BigDecimal.ZERO;
            double sizes = 0.0;
            for (int row = 0; row < n; row++) {
                sum = sum.add(new BigDecimal(rows.get(row, i)));
                sizes += Math.abs(rows.get(row, i));
            }
            assertEquals(divided(sum, n), moment.mean()[i], unit * sizes / n, "mean " + i + ", seed " + seed);
            for (int j = 0; j < d; j++) {
                BigDecimal products = BigDecimal.ZERO;
                double productSizes = 0.0;
                for (int row = 0; row < n; row++) {
                    BigDecimal product = new BigDecimal(rows.get(row, i)).multiply(new BigDecimal(rows.get(row, j)));
                    products = products.add(product);
                    productSizes += product.abs().doubleValue();
                }
                String entry = "entry (%d, %d), seed %d".formatted(i, j, seed);
                assertEquals(divided(products, n), matrix.get(i, j), unit * productSizes / n, entry);
                double centred = divided(products, n) - divided(sum, n) * moment.mean()[j];
                assertEquals(centred, moment.covariance().get(i, j), 8 * unit * productSizes / n, entry);
            }
        }
        assertEquals(matrix.trace(), moment.trace(), d * Math.ulp(moment.trace()));
    }

    @Test
    void theStateIsTheSumsThenTheLowerTriangleByRows() {
        SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(2);
        accumulator.add(new Matrix(2, 2, new double[] {1, 2, 3, 5}));
        assertArrayEquals(new double[] {4, 7, 10, 17, 29}, accumulator.state());
        assertEquals(2, accumulator.rows());
    }

    @Test
    void aStateThatArrivesInPiecesIsTheSameMoment() {
        SecondMomentAccumulator whole = SecondMomentAccumulator.ofDimension(4);
        whole.add(floats(new Random(5), 30, 4));
        SecondMomentAccumulator assembled = SecondMomentAccumulator.ofDimension(4);
        for (int from = 0; from < whole.state().length; from += 5) {
            int to = Math.min(from + 5, whole.state().length);
            assembled.addState(from == 0 ? whole.rows() : 0, Arrays.copyOfRange(whole.state(), from, to), from);
        }
        assertArrayEquals(whole.state(), assembled.state());
        assertEquals(30, assembled.rows());
    }

    @Test
    void aStoredStateGoesOnWhereItStopped() {
        Matrix rows = new Matrix(4, 1, new double[] {1, 2, 3, 4});
        SecondMomentAccumulator first = SecondMomentAccumulator.ofDimension(1).add(rows.rowRange(0, 2));
        SecondMomentAccumulator resumed =
                SecondMomentAccumulator.ofState(1, first.rows(), first.state().clone());
        resumed.add(rows.rowRange(2, 4));
        assertArrayEquals(new double[] {10, 30}, resumed.state());
        assertEquals(7.5, resumed.snapshot().trace());
    }

    @Test
    void aWindowTakenOutLeavesTheMomentOfTheRest() {
        Matrix rows = new Matrix(3, 2, new double[] {1, 2, 3, 4, 5, 6});
        SecondMoment rest = SecondMoment.of(rows).minus(SecondMoment.of(rows.rowRange(1, 2)));
        SecondMoment expected = SecondMoment.of(new Matrix(2, 2, new double[] {1, 2, 5, 6}));
        assertEquals(2, rest.rows());
        assertArrayEquals(expected.state(), rest.state());
        assertThrows(IllegalArgumentException.class, () -> rest.minus(SecondMoment.of(rows)));
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1e200})
    void aRowThatIsNotFiniteIsRefusedWithItsPlaceAndNothingIsAdded(double bad) {
        SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(2);
        accumulator.add(new Matrix(1, 2, new double[] {1, 2}));
        double[] before = accumulator.state().clone();
        Matrix batch = new Matrix(2, 2, new double[] {1, 2, 3, bad});
        NonFiniteRowException refusal = assertThrows(NonFiniteRowException.class, () -> accumulator.add(batch));
        assertEquals(1, refusal.row());
        assertEquals(1, refusal.column());
        String message = String.valueOf(refusal.getMessage());
        assertTrue(message.startsWith("row 1, column 1 is " + bad), message);
        assertTrue(message.endsWith("; the batch was not added"), message);
        assertArrayEquals(before, accumulator.state());
        assertEquals(1, accumulator.rows());
    }

    @Test
    void whatDoesNotFitIsRefused() {
        SecondMomentAccumulator two = SecondMomentAccumulator.ofDimension(2);
        SecondMomentAccumulator three = SecondMomentAccumulator.ofDimension(3);
        assertThrows(IllegalArgumentException.class, () -> two.add(Matrix.zeros(1, 3)));
        assertThrows(IllegalArgumentException.class, () -> two.merge(three));
        assertThrows(IllegalArgumentException.class, () -> two.merge(three.snapshot()));
        assertThrows(IllegalArgumentException.class, () -> two.addState(1, new double[2], 4));
        assertThrows(IllegalArgumentException.class, () -> two.addState(1, new double[2], -1));
        assertThrows(IllegalArgumentException.class, () -> SecondMomentAccumulator.ofState(2, 1, new double[4]));
        assertThrows(IllegalArgumentException.class, () -> SecondMomentAccumulator.ofState(2, -1, new double[5]));
        assertThrows(IllegalArgumentException.class, () -> SecondMomentAccumulator.ofDimension(0));
        assertThrows(IllegalArgumentException.class, () -> SecondMomentAccumulator.ofDimension(100_000));
        assertThrows(IllegalStateException.class, () -> two.snapshot().matrix());
        assertEquals(0, two.rows());
    }

    @Test
    void arraysThatLeaveTheValueAreCopies() {
        SecondMoment moment = SecondMoment.of(new Matrix(1, 1, new double[] {3}));
        moment.state()[0] = 99;
        moment.mean()[0] = 99;
        moment.matrix().set(0, 0, 99);
        assertEquals(3.0, moment.mean()[0]);
        assertEquals(9.0, moment.matrix().get(0, 0));
    }

    private static double divided(BigDecimal sum, int n) {
        return sum.divide(BigDecimal.valueOf(n), MathContext.DECIMAL128).doubleValue();
    }

    private static Matrix floats(Random random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = (float) (3.0 + random.nextGaussian() * Math.pow(10, random.nextInt(4)));
        }
        return matrix;
    }
}
