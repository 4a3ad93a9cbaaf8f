package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Ranks of requests among the baseline's requests, by the number of their rows that are looked at.
 *
 * <p>FVU of few rows scatters widely, and how widely depends on the model and on the traffic. Of a large window few
 * rows of each request are encoded, so a request of n rows is ranked among the baseline's requests cut to as many: to
 * the largest number of {@link #ROWS} that is not above n, which scatters no less. The rows of a request come in an
 * order that is drawn for it, and each cut holds the smaller ones.
 *
 * <p><b>Longest cut.</b> Half of the requests or more have as many rows. The few that are longer may be of another kind
 * and are too few to tell how far a tail reaches; among shorter cuts, which scatter more, a long request looks less far
 * than it is, never farther.
 *
 * <p><b>Size.</b> A number for each request and step: 0.6 MB at most. Immutable; any number of threads.
 *
 * @param steps by ascending rows, at least one
 */
record RanksByRows(List<Step> steps) {

    /** Numbers of rows the baseline's requests are cut to: powers of two, and one and a half times those. */
    static final List<Integer> ROWS =
            List.of(2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024);

    /** The number that separates this order of rows from the orders of samples. */
    private static final long ORDER = 0x4572726f7252616eL;

    /** The ranks among the baseline's requests by their first {@code rows} rows. */
    record Step(int rows, ScoreRanks ranks) {}

    RanksByRows {
        steps = List.copyOf(steps);
        if (steps.isEmpty()) {
            throw new IllegalArgumentException("no number of rows that requests are cut to: expected at least one");
        }
    }

    /**
     * Ranks among these requests; null where too few of them have rows that vary.
     *
     * @param requests scores of each by its first 2, 3, 4, ... rows, as {@link #cut} gives them; not finite where there
     *     is none
     */
    static @Nullable RanksByRows of(List<double[]> requests) {
        List<Step> steps = new ArrayList<>();
        long all = requests.stream().filter(cut -> cut.length > 0).count();
        for (int i = 0; i < ROWS.size(); i++) {
            int step = i;
            double[] scores = requests.stream()
                    .filter(cut -> cut.length > step)
                    .mapToDouble(cut -> cut[step])
                    .filter(Double::isFinite)
                    .toArray();
            if (scores.length >= ScoreRanks.FEWEST && 2L * scores.length >= all) {
                steps.add(new Step(ROWS.get(step), ScoreRanks.of(scores)));
            }
        }
        return steps.isEmpty() ? null : new RanksByRows(steps);
    }

    /**
     * Returns FVU of the first 2, 3, 4, ... rows of a request, as many of {@link #ROWS} as it has rows for; NaN where
     * they do not vary.
     *
     * @param request number by which the order of its rows is drawn
     * @param targets n x d
     * @param squaredErrors {@code |y - yhat|^2} of each row
     */
    static double[] cut(int request, Matrix targets, double[] squaredErrors) {
        int n = targets.rows();
        int d = targets.columns();
        long drawn = RowSample.hash(ORDER, request);
        int[] order = IntStream.range(0, n)
                .boxed()
                .sorted(Comparator.comparingLong(row -> RowSample.hash(drawn, row)))
                .mapToInt(Integer::intValue)
                .toArray();
        double[] cut = new double[(int) ROWS.stream().filter(rows -> rows <= n).count()];
        double[] mean = new double[d];
        double squaredError = 0.0;
        double spread = 0.0;
        int step = 0;
        for (int seen = 1; step < cut.length; seen++) {
            int row = order[seen - 1];
            squaredError += squaredErrors[row];
            // The spread about the mean of the rows so far: sums of squares would lose digits where the mean is large.
            double distance = 0.0;
            for (int j = 0; j < d; j++) {
                double difference = targets.values()[row * d + j] - mean[j];
                distance += difference * difference;
                mean[j] += difference / seen;
            }
            spread += distance * (seen - 1) / seen;
            if (seen == ROWS.get(step)) {
                cut[step++] = RequestError.fvu(seen, squaredError, spread);
            }
        }
        return cut;
    }

    /**
     * Returns the ranks among the baseline's requests, cut alike; null for fewer rows than the shortest cut has.
     *
     * @param rows of the request that is ranked
     */
    @Nullable
    ScoreRanks of(long rows) {
        Step fitting = step(rows);
        return fitting == null ? null : fitting.ranks();
    }

    private @Nullable Step step(long rows) {
        Step fitting = null;
        for (Step step : steps) {
            if (step.rows() <= rows) {
                fitting = step;
            }
        }
        return fitting;
    }

    /**
     * Ranks one of these requests among the others, by the cut that another request of as many rows is ranked by.
     *
     * @param cuts of the request, as {@link #cut} gives them
     * @param request its hash
     * @param rows of it that are looked at
     * @return null where it is not among those cut alike
     */
    @Nullable
    RequestScore ofOwn(double[] cuts, long request, long rows) {
        Step step = step(rows);
        int at = step == null ? cuts.length : ROWS.indexOf(step.rows());
        return step == null || at >= cuts.length || !Double.isFinite(cuts[at])
                ? null
                : RequestScore.ofOwn(step.ranks(), request, rows, cuts[at]);
    }

    /** Returns the fewest requests that another one is ranked among. */
    int fewestRequests() {
        return steps.stream().mapToInt(step -> step.ranks().size()).min().orElseThrow();
    }
}
