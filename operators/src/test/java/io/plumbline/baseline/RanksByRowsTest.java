package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Requests that are all of one law, as those of a narrow service are: their FVU differ by the rows they happen to hold
 * alone, so that few rows scatter far wider than whole requests do.
 */
class RanksByRowsTest {

    private static final int ROWS = 48;
    private static final int D = 8;

    /** Rows whose length varies from one to the next, and their squared errors, a fifth of it on average. */
    private record Rows(Matrix targets, double[] squaredErrors) {
        static Rows drawn(Random random, int rows, double worse) {
            Matrix targets = Matrix.zeros(rows, D);
            double[] errors = new double[rows];
            for (int i = 0; i < rows; i++) {
                double length = Math.exp(random.nextGaussian());
                for (int j = 0; j < D; j++) {
                    double value = length * random.nextGaussian();
                    targets.set(i, j, 100.0 + value);
                    errors[i] += worse * 0.2 * value * value * (0.5 + random.nextDouble());
                }
            }
            return new Rows(targets, errors);
        }

        RequestError error() {
            return EncodedErrors.of(new long[squaredErrors.length], targets, squaredErrors)
                    .requests()
                    .get(0);
        }
    }

    private static RanksByRows ranks(long seed, int requests) {
        Random random = new Random(seed);
        List<double[]> cuts = new ArrayList<>();
        for (int g = 0; g < requests; g++) {
            Rows rows = Rows.drawn(random, ROWS, 1.0);
            cuts.add(RanksByRows.cut(g, rows.targets(), rows.squaredErrors()));
        }
        return Objects.requireNonNull(RanksByRows.of(cuts));
    }

    private static double[] pValues(RanksByRows ranks, long seed, int rows, double worse) {
        Random random = new Random(seed);
        double[] pValues = new double[2_000];
        for (int i = 0; i < pValues.length; i++) {
            RequestError error = Rows.drawn(random, rows, worse).error();
            pValues[i] = Objects.requireNonNull(ranks.of(error.rows())).pValue(error.fvu());
        }
        return pValues;
    }

    private static double shareBelow(double level, double[] pValues) {
        return Arrays.stream(pValues).filter(p -> p < level).count() / (double) pValues.length;
    }

    @Test
    void cleanRequestsAreNotFarHoweverFewOfTheirRowsAreEncoded() {
        RanksByRows ranks = ranks(1, 1_000);
        for (int rows : new int[] {2, 3, 4, 5, 7, 11, 23, 48}) {
            double[] pValues = pValues(ranks, 2, rows, 1.0);
            // A thousand requests leave a share of 0.05 uncertain by 0.007.
            assertTrue(shareBelow(0.05, pValues) < 0.08, () -> rows + " rows: " + shareBelow(0.05, pValues));
            double evidence =
                    Arrays.stream(pValues).map(p -> Math.pow(p, -0.3)).average().orElseThrow();
            assertTrue(Math.log(evidence) < 0.36 + 0.1, () -> rows + " rows: " + Math.log(evidence));
        }
    }

    @Test
    void requestsThatAreReconstructedWorseAreFarOnceThereAreRowsToSeeIt() {
        RanksByRows ranks = ranks(3, 1_000);
        assertTrue(shareBelow(0.05, pValues(ranks, 4, 2, 2.0)) > 0.1, "two rows say little, not nothing");
        assertTrue(shareBelow(0.05, pValues(ranks, 5, 24, 2.0)) > 0.9, "twenty-four say it");
    }

    /** Tests that a long request is ranked among many cut shorter, and not among the few that are as long. */
    @Test
    void noCutIsLongerThanHalfOfTheRequests() {
        Random random = new Random(8);
        List<double[]> cuts = new ArrayList<>();
        for (int g = 0; g < 90; g++) {
            Rows rows = Rows.drawn(random, g < 60 ? ROWS : 512, 1.0);
            cuts.add(RanksByRows.cut(g, rows.targets(), rows.squaredErrors()));
        }
        RanksByRows ranks = Objects.requireNonNull(RanksByRows.of(cuts));
        RanksByRows.Step longest = ranks.steps().get(ranks.steps().size() - 1);
        assertEquals(ROWS, longest.rows());
        assertEquals(90, longest.ranks().size());
    }

    @Test
    void aCutIsTheErrorOfItsRowsAndHoldsTheSmallerOnes() {
        Rows rows = Rows.drawn(new Random(6), 4, 1.0);
        double[] cut = RanksByRows.cut(7, rows.targets(), rows.squaredErrors());
        assertEquals(3, cut.length, "of 2, 3 and 4 rows");
        assertEquals(rows.error().fvu(), cut[2], 1e-12);
        List<List<Integer>> ofThree = new ArrayList<>();
        for (int left = 0; left < 4; left++) {
            int without = left;
            List<Integer> kept =
                    List.of(0, 1, 2, 3).stream().filter(row -> row != without).toList();
            if (Math.abs(fvu(rows, kept) - cut[1]) < 1e-12) {
                ofThree.add(kept);
            }
        }
        assertEquals(1, ofThree.size(), "the cut of three rows is three of them");
        List<Integer> three = ofThree.get(0);
        assertTrue(
                three.stream()
                        .anyMatch(left -> Math.abs(fvu(
                                                rows,
                                                three.stream()
                                                        .filter(row -> !row.equals(left))
                                                        .toList())
                                        - cut[0])
                                < 1e-12),
                "two of these three");
    }

    private static double fvu(Rows rows, List<Integer> kept) {
        Matrix targets = Matrix.zeros(kept.size(), D);
        double[] errors = new double[kept.size()];
        for (int i = 0; i < kept.size(); i++) {
            errors[i] = rows.squaredErrors()[kept.get(i)];
            for (int j = 0; j < D; j++) {
                targets.set(i, j, rows.targets().get(kept.get(i), j));
            }
        }
        return new Rows(targets, errors).error().fvu();
    }

    @Test
    void rowsThatDoNotVaryAreNotRankedAndTooFewRequestsRankNothing() {
        RanksByRows ranks = ranks(8, 25);
        assertNotNull(ranks.of(2));
        assertNull(ranks.of(1));
        assertFalse(new RequestError(1, 1, 0.1, 0.0).varies());
        assertFalse(new RequestError(1, ROWS, 0.1, 0.0).varies());
        List<double[]> still = new ArrayList<>();
        for (int g = 0; g < 25; g++) {
            still.add(RanksByRows.cut(g, Matrix.zeros(ROWS, D), new double[ROWS]));
        }
        assertNull(RanksByRows.of(still));
        assertNull(RanksByRows.of(still.subList(0, 19)));
    }
}
