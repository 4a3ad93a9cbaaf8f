package io.plumbline.comparison;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.probes.Probe;
import io.plumbline.probes.WatchedProbes;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.math3.distribution.BetaDistribution;

/**
 * The share of requests that a probe reads otherwise on the same rows after a change.
 *
 * <p>A request is above where the score of a pooling probe is above its threshold, or the mean score of its rows.
 *
 * @param flips its interval is the wider of that over groups of requests and the exact one of a share (Clopper and
 *     Pearson), which alone is wider than zero where no request flips; zero where all rows are the same to the bit
 * @param rateBefore share of requests that are above before
 */
public record ProbeFlips(String name, Estimate flips, double rateBefore, double rateAfter) {

    private static final double TAIL = 0.025;

    /** Sums of one probe over requests, by group. Not thread-safe. */
    static final class Counts {

        private final Probe probe;
        private final double[] requests;
        private final double[] flips;
        private double before;
        private double after;

        Counts(Probe probe, int groups) {
            this.probe = probe;
            requests = new double[groups];
            flips = new double[groups];
        }

        void add(int group, Matrix rowsBefore, Matrix rowsAfter) {
            boolean wasAbove = isAbove(rowsBefore);
            boolean isAbove = isAbove(rowsAfter);
            requests[group]++;
            flips[group] += wasAbove == isAbove ? 0.0 : 1.0;
            before += wasAbove ? 1.0 : 0.0;
            after += isAbove ? 1.0 : 0.0;
        }

        private boolean isAbove(Matrix rows) {
            List<SampledRow> sampled = new ArrayList<>();
            for (int i = 0; i < rows.rows(); i++) {
                float[] row = new float[rows.columns()];
                for (int j = 0; j < row.length; j++) {
                    row[j] = (float) rows.get(i, j);
                }
                sampled.add(new SampledRow(i, 0, SampledRow.NO_TIME, row, null));
            }
            return WatchedProbes.score(probe, sampled) > probe.threshold();
        }

        ProbeFlips result(boolean identical) {
            double all = Estimate.without(requests, Estimate.NONE);
            double flipped = Estimate.without(flips, Estimate.NONE);
            Estimate overGroups = Estimate.of(
                    requests.length,
                    0.0,
                    1.0,
                    group -> Estimate.without(flips, group) / Estimate.without(requests, group));
            double low = flipped == 0.0
                    ? 0.0
                    : new BetaDistribution(null, flipped, all - flipped + 1.0).inverseCumulativeProbability(TAIL);
            double high = flipped == all
                    ? 1.0
                    : new BetaDistribution(null, flipped + 1.0, all - flipped).inverseCumulativeProbability(1.0 - TAIL);
            return new ProbeFlips(
                    probe.name(),
                    identical
                            ? overGroups
                            : new Estimate(
                                    overGroups.value(),
                                    Math.min(low, overGroups.low()),
                                    Math.max(high, overGroups.high())),
                    before / all,
                    after / all);
        }
    }
}
