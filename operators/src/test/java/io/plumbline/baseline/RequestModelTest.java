package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.RequestMeans.Mean;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.requests.RequestTotal;
import io.plumbline.requests.RequestTotals;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Requests with a mean of their own each, drawn from a normal law whose variances fall with the direction. */
class RequestModelTest {

    private static final int ROWS = 40;
    private static final double[] ERRORS = new double[ROWS];

    /** Rows of one request. */
    private static Matrix request(Random random, int rows, int dimension) {
        double[] mean = new double[dimension];
        for (int j = 0; j < dimension; j++) {
            mean[j] = 5.0 + random.nextGaussian() / (1 + j);
        }
        Matrix matrix = Matrix.zeros(rows, dimension);
        for (int i = 0; i < matrix.values().length; i++) {
            int j = i % dimension;
            matrix.values()[i] = mean[j] + random.nextGaussian() / (1 + j);
        }
        return matrix;
    }

    private static double[] mean(Matrix rows) {
        double[] mean = new double[rows.columns()];
        for (int i = 0; i < rows.values().length; i++) {
            mean[i % mean.length] += rows.values()[i] / rows.rows();
        }
        return mean;
    }

    private static void add(RequestMeans means, Matrix rows) {
        means.add(mean(rows), rows, ERRORS);
    }

    private static CrossFit fit(long seed, int requests, int dimension) {
        Random random = new Random(seed);
        RequestMeans means = new RequestMeans();
        for (int g = 0; g < requests; g++) {
            add(means, request(random, ROWS, dimension));
        }
        return Objects.requireNonNull(CrossFit.of(means));
    }

    private static double pValue(RequestModel model, Matrix rows) {
        double[] sum = new double[model.projection().components()];
        model.projection().add(rows, sum);
        return model.score(List.of(new RequestTotal(1, null, rows.rows(), sum)))
                .get(0)
                .pValue();
    }

    private static double shareBelow(double level, RequestModel model, long seed, int rows, int dimension) {
        Random random = new Random(seed);
        int below = 0;
        for (int g = 0; g < 1_000; g++) {
            below += pValue(model, request(random, rows, dimension)) < level ? 1 : 0;
        }
        return below / 1_000.0;
    }

    @Test
    void pValuesOfLaterCleanRequestsAreUniform() {
        // Of 100 requests in 64 directions, the scores they had under their own fit would be half of what later ones
        // have.
        RequestModel model = fit(1, 100, 64).model();
        // B requests leave the share itself uncertain by sqrt(share (1 - share) / B).
        assertEquals(0.5, shareBelow(0.5, model, 2, ROWS, 64), 3 * 0.05);
        assertEquals(0.1, shareBelow(0.1, model, 3, ROWS, 64), 3 * 0.03);
        assertTrue(shareBelow(0.001, model, 4, ROWS, 64) < 0.02);
    }

    @Test
    void theBaselinesOwnScoresAreThoseUnderTheRequestsOfOtherStretches() {
        Random random = new Random(5);
        RequestMeans means = new RequestMeans();
        for (int g = 0; g < 45; g++) {
            add(means, request(random, ROWS, 6));
        }
        CrossFit fit = Objects.requireNonNull(CrossFit.of(means));
        List<Mean> all = means.kept();
        assertEquals(45, fit.scores().size());
        for (int g : new int[] {0, 4, 5, 44}) {
            int stretch = g / 5;
            List<Mean> others =
                    all.stream().filter(one -> one.number() / 5 != stretch).toList();
            WhitenedMeans without = Objects.requireNonNull(WhitenedMeans.of(others, ROWS, 128));
            assertEquals(without.score(all.get(g), ROWS), fit.scores().get(g), 1e-9);
        }
    }

    @Test
    void inAllDirectionsTheScoreIsTheDistanceUnderTheShrunkCovariance() {
        int d = 4;
        Random random = new Random(6);
        List<Mean> requests = new ArrayList<>();
        Matrix means = Matrix.zeros(30, d);
        for (int g = 0; g < 30; g++) {
            double[] mean = mean(request(random, ROWS, d));
            requests.add(new Mean(g, mean, ROWS, new double[0]));
            System.arraycopy(mean, 0, means.values(), g * d, d);
        }
        double[] centre = mean(means);
        Matrix deviations = means.copy();
        for (int i = 0; i < deviations.values().length; i++) {
            deviations.values()[i] -= centre[i % d];
        }
        Matrix s = Matrix.zeros(d, d).plus(1.0 / 30, Kernels.transposeMultiply(deviations, deviations));
        double mu = s.trace() / d;
        double distance = Math.pow(s.minus(identity(d, mu)).frobeniusNorm(), 2) / d;
        double error = 0.0;
        for (int g = 0; g < 30; g++) {
            Matrix row = deviations.rowRange(g, g + 1);
            error += Math.pow(Kernels.transposeMultiply(row, row).minus(s).frobeniusNorm(), 2) / d / 30 / 30;
        }
        Matrix shrunk = identity(d, mu * error / distance).plus(1.0 - error / distance, s);

        WhitenedMeans whitened = Objects.requireNonNull(WhitenedMeans.of(requests, ROWS, 128));
        Matrix precision = Kernels.transposeMultiply(whitened.basis(), whitened.basis());
        assertEquals(
                0.0,
                Kernels.multiply(precision, shrunk).minus(Matrix.identity(d)).frobeniusNorm(),
                1e-9);
    }

    private static Matrix identity(int size, double scale) {
        return Matrix.zeros(size, size).plus(scale, Matrix.identity(size));
    }

    @Test
    void aRequestThatIsFarOnlyWhereCleanOnesHardlyDifferIsSeen() {
        int d = 300;
        RequestModel model = fit(7, 200, d).model();
        assertEquals(RequestModel.COMPONENTS, model.projection().components());
        Matrix foreign = request(new Random(8), ROWS, d);
        double usual = pValue(model, foreign);
        Random random = new Random(9);
        for (int j = d / 2; j < d; j++) {
            double apart = 0.05 * random.nextGaussian();
            for (int i = 0; i < ROWS; i++) {
                foreign.values()[i * d + j] += apart;
            }
        }
        assertTrue(usual > 0.05, () -> "before: " + usual);
        assertTrue(pValue(model, foreign) < 1e-6, () -> "after: " + pValue(model, foreign));
    }

    @Test
    void shortAndLongCleanRequestsAreNotFarForTheirLength() {
        RequestModel model = fit(10, 200, 20).model();
        for (int rows : new int[] {1, 3, 10, 200}) {
            assertTrue(shareBelow(0.05, model, 11 + rows, rows, 20) < 0.12, rows + " rows");
        }
    }

    @Test
    void totalsOfAnySplitGiveTheSameScores() {
        RequestModel model = fit(12, 60, 8).model();
        Random random = new Random(13);
        RequestTotals whole = totals(model);
        RequestTotals first = totals(model);
        RequestTotals second = totals(model);
        for (int g = 0; g < 30; g++) {
            Matrix rows = request(random, ROWS, 8);
            double[] sum = new double[model.projection().components()];
            model.projection().add(rows, sum);
            whole.add(g, "request " + g, ROWS, sum);
            int cut = random.nextInt(ROWS + 1);
            add(first, model, g, rows.rowRange(0, cut));
            add(second, model, g, rows.rowRange(cut, ROWS));
        }
        List<RequestScore> expected = model.score(whole.totals());
        List<RequestScore> merged = model.score(second.merge(first).totals());
        assertEquals(expected.size(), merged.size());
        for (int g = 0; g < expected.size(); g++) {
            assertEquals(expected.get(g).label(), merged.get(g).label());
            assertEquals(
                    expected.get(g).score(),
                    merged.get(g).score(),
                    1e-9 * expected.get(g).score());
            assertEquals(expected.get(g).pValue(), merged.get(g).pValue(), 1e-9);
        }
    }

    private static RequestTotals totals(RequestModel model) {
        return RequestTotals.ofCapacity(model.projection().id(), RequestTotals.DEFAULT_CAPACITY);
    }

    private static void add(RequestTotals totals, RequestModel model, int request, Matrix rows) {
        if (rows.rows() > 0) {
            double[] sum = new double[model.projection().components()];
            model.projection().add(rows, sum);
            totals.add(request, "request " + request, rows.rows(), sum);
        }
    }

    @Test
    void fewRequestsOrRequestsThatDoNotDifferGiveNoModel() {
        RequestMeans few = new RequestMeans();
        RequestMeans equal = new RequestMeans();
        Random random = new Random(14);
        for (int g = 0; g < RequestModel.FEWEST_REQUESTS - 1; g++) {
            add(few, request(random, ROWS, 4));
        }
        for (int g = 0; g < 50; g++) {
            add(equal, Matrix.zeros(ROWS, 4));
        }
        assertNull(CrossFit.of(few));
        assertNull(CrossFit.of(equal));
        add(few, request(random, ROWS, 4));
        assertNotNull(CrossFit.of(few));
    }

    @Test
    void ofManyRequestsAUniformSampleIsKeptThatIsTheSameEachTime() {
        RequestMeans means = new RequestMeans(100);
        RequestMeans again = new RequestMeans(100);
        for (int g = 0; g < 1_000; g++) {
            means.add(new double[] {g}, Matrix.zeros(ROWS, 1), ERRORS);
            again.add(new double[] {g}, Matrix.zeros(ROWS, 1), ERRORS);
        }
        List<Mean> kept = means.kept();
        assertEquals(100, kept.size());
        assertEquals(
                kept.stream().map(Mean::number).toList(),
                again.kept().stream().map(Mean::number).toList());
        double average = kept.stream().mapToInt(Mean::number).average().orElseThrow();
        assertEquals(500.0, average, 4 * 29.0, "29 is the standard error");
    }
}
