package io.plumbline.probes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.features.ByRequest;
import io.plumbline.features.MeanTest;
import io.plumbline.features.WatchedChange;
import io.plumbline.geometry.Subspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Rows of four dimensions that vary in the first two, in requests of thirty. */
class WatchedProbesTest {

    private static final int ROWS_OF_REQUEST = 30;
    private static final MeanTest TEST = MeanTest.resolving(1e-3);
    private static final Probe LINEAR = new Probe("linear", new double[] {1, 0.5, 0, 0}, 0.25, 1.0, null);
    private static final Probe POOLING =
            new Probe("pooling", new double[] {1, 0.5, 0, 0}, 0.25, 1.0, new double[] {0, 400, 0, 0});

    @Test
    void aLinearProbeScoresRowsAndAPoolingOneRequests() {
        List<SampledRow> window = rows(6, 1, 0);
        double[] above = new double[6];
        double[] means = new double[6];
        double[] pooled = new double[6];
        for (int g = 0; g < 6; g++) {
            double largest = Double.NEGATIVE_INFINITY;
            for (int i = g * ROWS_OF_REQUEST; i < (g + 1) * ROWS_OF_REQUEST; i++) {
                float[] row = window.get(i).activation();
                double score = row[0] + 0.5 * row[1] + 0.25;
                above[g] += score > 1.0 ? 1.0 / ROWS_OF_REQUEST : 0.0;
                means[g] += score / ROWS_OF_REQUEST;
                largest = Math.max(largest, 400.0 * row[1]);
            }
            double total = 0.0;
            for (int i = g * ROWS_OF_REQUEST; i < (g + 1) * ROWS_OF_REQUEST; i++) {
                float[] row = window.get(i).activation();
                double weight = Math.exp(400.0 * row[1] - largest);
                total += weight;
                pooled[g] += weight * (row[0] + 0.5 * row[1] + 0.25);
            }
            pooled[g] /= total;
        }
        List<WatchedProbes.Scores> scores =
                new WatchedProbes(List.of(LINEAR, POOLING), rows(40, 2, 0)).scores(TEST, window, 1.0);
        assertEquals(mean(above), change(scores, 0, 0).window(), 1e-6);
        assertEquals(mean(means), change(scores, 0, 1).window(), 1e-6);
        assertEquals(mean(pooled), change(scores, 1, 1).window(), 1e-5);
        double share = 0.0;
        for (double one : pooled) {
            share += one > 1.0 ? 1.0 / 6.0 : 0.0;
        }
        assertEquals(share, change(scores, 1, 0).window(), 1e-12);
        assertTrue(scores.get(0).quantiles().get(0) < scores.get(0).quantiles().get(1));
    }

    @Test
    void aProbeWhoseRowsTurnedAwayIsFoundAndOneOfCleanTrafficIsNot() {
        WatchedProbes probes = new WatchedProbes(List.of(LINEAR, POOLING), rows(40, 2, 0));
        for (WatchedProbes.Scores clean : probes.scores(TEST, rows(20, 3, 0), 1.0)) {
            clean.numbers()
                    .changes()
                    .forEach(change -> assertTrue(Objects.requireNonNull(change.pValue()) > 0.01, change::toString));
        }
        for (WatchedProbes.Scores turned : probes.scores(TEST, rows(20, 3, 2), 1.0)) {
            WatchedChange score = turned.numbers().changes().get(1);
            assertTrue(Objects.requireNonNull(score.pValue()) < 0.01, score.toString());
            assertEquals(0.25, score.window(), 1e-6);
        }
        assertEquals(0.0, WatchedProbes.outside(LINEAR, leading(0)), 1e-12);
        assertEquals(1.0, WatchedProbes.outside(LINEAR, leading(2)), 1e-12);
        Probe half = new Probe("half", new double[] {1, 0, 0, 1}, 0.0, 0.0, null);
        assertEquals(0.5, WatchedProbes.outside(half, leading(0)), 1e-12);
    }

    /** A softmax over a fifth of a request's rows is another number than over all of them. */
    @Test
    void aWindowOfWhichAFifthIsSampledIsComparedWithAFifthOfTheBaseline() {
        Probe sharp = new Probe("sharp", new double[] {0, 1, 0, 0}, 0.0, 0.0, new double[] {0, 10, 0, 0});
        WatchedProbes probes = new WatchedProbes(List.of(sharp), rows(40, 2, 0));
        List<SampledRow> sampled = new ArrayList<>();
        List<SampledRow> all = rows(40, 5, 0);
        for (int i = 0; i < all.size(); i += 5) {
            sampled.add(all.get(i));
        }
        double thinned = Objects.requireNonNull(
                change(probes.scores(TEST, sampled, 0.2), 0, 1).pValue());
        double whole = Objects.requireNonNull(
                change(probes.scores(TEST, sampled, 1.0), 0, 1).pValue());
        assertTrue(thinned > 0.05, "thinned: " + thinned);
        assertTrue(whole < 0.01, "not thinned: " + whole);
    }

    /** A sample has the long requests rather than the short ones, whatever a probe makes of their rows. */
    @Test
    void aLinearProbeOfALongRequestsRowsIsNotHurtByTheirShareInASample() {
        WatchedProbes probes = new WatchedProbes(List.of(LINEAR), lengths(200, 11));
        List<SampledRow> all = lengths(400, 12);
        List<SampledRow> sampled = Arrays.stream(ByRequest.thinned(all.size(), 0.01))
                .mapToObj(all::get)
                .toList();
        for (int what = 0; what < 2; what++) {
            double thinned = Objects.requireNonNull(
                    change(probes.scores(TEST, sampled, 0.01), 0, what).pValue());
            assertTrue(thinned > 0.05, "thinned: " + thinned);
            double whole = Objects.requireNonNull(
                    change(probes.scores(TEST, sampled, 1.0), 0, what).pValue());
            assertTrue(whole < 0.01, "not thinned: " + whole);
        }
    }

    /** Requests of 200 rows and of four in turn; the rows of short ones score less. */
    private static List<SampledRow> lengths(int requests, long seed) {
        Random random = new Random(seed);
        List<SampledRow> rows = new ArrayList<>();
        for (int g = 0; g < requests; g++) {
            for (int i = 0; i < (g % 2 == 0 ? 200 : 4); i++) {
                float[] row = {(float) (random.nextGaussian() + (g % 2 == 0 ? 2.0 : -2.0)), 0, 0, 0};
                rows.add(new SampledRow(RowSample.hash(g, i), g, SampledRow.NO_TIME, row, null));
            }
        }
        return rows;
    }

    @Test
    void withoutABaselineNothingIsTestedAndWithoutRowsThereIsNothing() {
        WatchedProbes probes = new WatchedProbes(List.of(LINEAR), List.of());
        WatchedProbes.Scores alone = probes.scores(TEST, rows(6, 1, 0), 1.0).get(0);
        assertNull(alone.quantilesBaseline());
        alone.numbers().changes().forEach(change -> assertNull(change.pValue(), change::toString));
        assertEquals(List.of(), probes.scores(TEST, List.of(), 1.0));
    }

    private static WatchedChange change(List<WatchedProbes.Scores> scores, int probe, int which) {
        return scores.get(probe).numbers().changes().get(which);
    }

    private static double mean(double[] values) {
        double sum = 0.0;
        for (double value : values) {
            sum += value / values.length;
        }
        return sum;
    }

    /** @param first of the two dimensions in which the rows vary */
    private static List<SampledRow> rows(int requests, long seed, int first) {
        Random random = new Random(seed);
        List<SampledRow> rows = new ArrayList<>();
        for (int g = 0; g < requests; g++) {
            double common = random.nextGaussian();
            for (int i = 0; i < ROWS_OF_REQUEST; i++) {
                float[] row = new float[4];
                row[first] = (float) (2.0 + common + random.nextGaussian());
                row[first + 1] = (float) random.nextGaussian();
                rows.add(new SampledRow(RowSample.hash(g, i), g, SampledRow.NO_TIME, row, null));
            }
        }
        return rows;
    }

    private static Subspace leading(int first) {
        Matrix basis = Matrix.zeros(4, 2);
        basis.set(first, 0, 1.0);
        basis.set(first + 1, 1, 1.0);
        return new Subspace(basis);
    }
}
