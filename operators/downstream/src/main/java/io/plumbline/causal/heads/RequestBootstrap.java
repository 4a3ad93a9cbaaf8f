package io.plumbline.causal.heads;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;

/**
 * Percentile intervals over resamples of whole requests, whose rows are correlated. All figures of one object, and
 * differences between two decoders, are taken of the same resamples. 95 %, {@value #DRAWS} draws, a fixed seed.
 *
 * <p><b>Cost.</b> Draws times requests additions of {@link Sums}, once for each decoder. Immutable.
 */
public final class RequestBootstrap {

    public static final int DRAWS = 2_000;

    private static final long SEED = 2026;
    private static final double TAIL = 0.025;

    private final Sums whole;
    private final Sums[] drawn;

    private RequestBootstrap(Sums whole, Sums[] drawn) {
        this.whole = whole;
        this.drawn = drawn;
    }

    /**
     * Resamples requests.
     *
     * @param requests sums of each request, at least one; in the same order for decoders that are compared
     */
    public static RequestBootstrap of(List<Sums> requests) {
        if (requests.isEmpty()) {
            throw new IllegalArgumentException("no requests to draw from");
        }
        SplittableRandom random = new SplittableRandom(SEED);
        Sums[] drawn = new Sums[DRAWS];
        for (int draw = 0; draw < DRAWS; draw++) {
            Sums.Builder sum = new Sums.Builder();
            for (int i = 0; i < requests.size(); i++) {
                sum.add(requests.get(random.nextInt(requests.size())));
            }
            drawn[draw] = sum.build();
        }
        Sums.Builder whole = new Sums.Builder();
        requests.forEach(whole::add);
        return new RequestBootstrap(whole.build(), drawn);
    }

    /** Returns the sums over all requests. */
    public Sums whole() {
        return whole;
    }

    public Interval interval(ToDoubleFunction<Sums> figure) {
        double[] values = new double[DRAWS];
        for (int draw = 0; draw < DRAWS; draw++) {
            values[draw] = figure.applyAsDouble(drawn[draw]);
        }
        return interval(figure.applyAsDouble(whole), values);
    }

    /** Returns this figure less the other's, resample by resample. */
    public Interval difference(RequestBootstrap other, ToDoubleFunction<Sums> figure) {
        ToDoubleBiFunction<Sums, Sums> difference =
                (ours, theirs) -> figure.applyAsDouble(ours) - figure.applyAsDouble(theirs);
        double[] values = new double[DRAWS];
        for (int draw = 0; draw < DRAWS; draw++) {
            values[draw] = difference.applyAsDouble(drawn[draw], other.drawn[draw]);
        }
        return interval(difference.applyAsDouble(whole, other.whole), values);
    }

    private static Interval interval(double value, double[] values) {
        double[] defined =
                Arrays.stream(values).filter(Double::isFinite).sorted().toArray();
        if (defined.length == 0) {
            return new Interval(value, Double.NaN, Double.NaN);
        }
        return new Interval(value, quantile(defined, TAIL), quantile(defined, 1.0 - TAIL));
    }

    /** Returns a quantile, interpolated linearly between neighbours as NumPy does. */
    private static double quantile(double[] sorted, double share) {
        double place = share * (sorted.length - 1);
        int below = (int) place;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }
}
