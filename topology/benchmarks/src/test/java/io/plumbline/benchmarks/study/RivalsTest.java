package io.plumbline.benchmarks.study;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests each rival against its definition written out. The clean rows are a grid, whose principal axes are x and y. */
class RivalsTest {

    private static final int MMD = Rivals.NAMES.indexOf("MMD");
    private static final int PSI = Rivals.NAMES.indexOf("PSI");
    private static final int PCA_ERROR = Rivals.NAMES.indexOf("PCA error");
    private static final int PCA_SHARE = Rivals.NAMES.indexOf("PCA share");
    private static final int HOTELLING = Rivals.NAMES.indexOf("Hotelling");
    private static final int CLASSIFIER = Rivals.NAMES.indexOf("classifier");

    private final Matrix clean = grid();
    private final Rivals rivals = new Rivals(clean, 1);

    /** Ten rows at x = 3 with y = 0 to 9. */
    private final Matrix window = rows(10, row -> 3.0, row -> row);

    private interface Coordinate {
        double of(int row);
    }

    private static Matrix rows(int count, Coordinate x, Coordinate y) {
        Matrix rows = Matrix.zeros(count, 2);
        for (int row = 0; row < count; row++) {
            rows.set(row, 0, x.of(row));
            rows.set(row, 1, y.of(row));
        }
        return rows;
    }

    /** Twenty values of x, ten apart, with each of five values of y, one apart; the means are 0. */
    private static Matrix grid() {
        return rows(100, row -> 10.0 * (Math.floor(row / 5.0) - 9.5), row -> row % 5 - 2.0);
    }

    private double score(int rival) {
        return rivals.scores(List.of(rivals.request(window)))[rival];
    }

    @Test
    void stabilityIndexIsTheSumOverTenBinsOfEqualCleanShare() {
        // All ten rows are in one bin of x; half a row is added to each.
        double one = 10.5 / 15.0;
        double other = 0.5 / 15.0;
        assertEquals((one - 0.1) * Math.log(one / 0.1) + 9.0 * (other - 0.1) * Math.log(other / 0.1), score(PSI), 1e-9);
    }

    @Test
    void errorOfTheComponentsIsTheMeanSquareOfTheOtherAxisAndTheShareWhatThatIsOfAll() {
        assertEquals(285.0 / 10.0, score(PCA_ERROR), 1e-9);
        assertEquals(285.0 / (285.0 + 90.0), score(PCA_SHARE), 1e-9);
    }

    @Test
    void hotellingIsTheSquaredMeanInUnitsOfItsVariance() {
        double varianceOfX = 100.0 * (20.0 * 20.0 - 1.0) / 12.0;
        double varianceOfY = 2.0;
        assertEquals(10.0 * (9.0 / varianceOfX + 4.5 * 4.5 / varianceOfY), score(HOTELLING), 1e-9);
    }

    @Test
    void discrepancyIsTheUnbiasedEstimateOverAllPairs() {
        List<Double> distances = new ArrayList<>();
        for (int i = 0; i < clean.rows(); i++) {
            for (int j = 0; j < i; j++) {
                distances.add(squaredDistance(clean, i, clean, j));
            }
        }
        Collections.sort(distances);
        double median = distances.get(distances.size() / 2);
        assertEquals(
                meanKernel(window, window, median)
                        + meanKernel(clean, clean, median)
                        - 2.0 * meanKernel(window, clean, median),
                score(MMD),
                1e-9);
    }

    /** Returns the mean over pairs of different rows. */
    private static double meanKernel(Matrix a, Matrix b, double median) {
        double sum = 0.0;
        int pairs = 0;
        for (int i = 0; i < a.rows(); i++) {
            for (int j = 0; j < b.rows(); j++) {
                if (!a.equals(b) || i != j) {
                    sum += Math.exp(-squaredDistance(a, i, b, j) / median);
                    pairs++;
                }
            }
        }
        return sum / pairs;
    }

    private static double squaredDistance(Matrix a, int i, Matrix b, int j) {
        return Math.pow(a.get(i, 0) - b.get(j, 0), 2) + Math.pow(a.get(i, 1) - b.get(j, 1), 2);
    }

    @Test
    void logisticRegressionIsWhereThePenalisedLossIsLevel() {
        double[] weights = Rivals.logistic(clean, window);
        double[] slope = weights.clone();
        Matrix all = Rivals.stack(List.of(clean, window));
        for (int row = 0; row < all.rows(); row++) {
            double[] x = {all.get(row, 0), all.get(row, 1), 1.0};
            double height = x[0] * weights[0] + x[1] * weights[1] + weights[2];
            double error = 1.0 / (1.0 + Math.exp(-height)) - (row < clean.rows() ? 0.0 : 1.0);
            for (int a = 0; a < x.length; a++) {
                slope[a] += error * x[a];
            }
        }
        assertArrayEquals(new double[3], slope, 1e-8);
    }

    @Test
    void areaUnderTheCurveIsTheShareOfPairsInOrder() {
        assertEquals(
                (0.0 + 1.5 + 3.0) / 9.0, Rivals.areaUnderCurve(new double[] {3, 1, 2}, new double[] {0, 2, 4}), 0.0);
    }

    @Test
    void theClassifierTellsRowsApartThatAreApartAndNoOthers() {
        Matrix apart = rows(40, row -> 200.0 + row, row -> 0.0);
        assertEquals(1.0, rivals.scores(List.of(rivals.request(apart)))[CLASSIFIER], 0.0);
        assertTrue(rivals.scores(List.of(rivals.request(clean)))[CLASSIFIER] < 0.6);
    }

    @Test
    void aWindowScoresTheSameHoweverItsRowsAreDividedIntoRequests() {
        Random random = new Random(1);
        Matrix all = rows(60, row -> 40.0 * random.nextGaussian(), row -> 2.0 * random.nextGaussian());
        assertArrayEquals(
                rivals.scores(List.of(rivals.request(all))),
                rivals.scores(List.of(
                        rivals.request(all.rowRange(0, 7)),
                        rivals.request(all.rowRange(7, 31)),
                        rivals.request(all.rowRange(31, 60)))),
                1e-9);
    }
}
