package io.plumbline.causal;

import java.time.Duration;

/**
 * Settings of the rest of a site's model, and of what measuring with it may cost a window.
 *
 * @param head where what turns the rows that the explainer models into logits answers
 * @param requests at most so many requests of a window are kept whole and run
 * @param ablations in so many of them features are removed one by one; 0: in none
 * @param budget after so long no further request is begun
 * @param timeout longest time of one run of the head, a worker's way there and back included
 * @param share largest share of the time that measuring may take, in (0, 1]: after a window that took it t, those that
 *     close within {@code t (1 / share - 1)} are not measured
 * @param threads of one run; a worker has its own
 * @param largestBytes a larger file, or a larger answer of a worker, is refused
 * @param gate whether a refit goes into service only if the model is nearer to itself with it
 * @param maximumGrowth share by which the KL on normal traffic may then exceed the trained decoder's, 0 or more
 */
public record DownstreamSettings(
        HeadLocation head,
        int requests,
        int ablations,
        Duration budget,
        Duration timeout,
        double share,
        int threads,
        long largestBytes,
        boolean gate,
        double maximumGrowth) {

    public static final int DEFAULT_REQUESTS = 32;
    public static final int MOST_REQUESTS = 1_024;
    public static final Duration DEFAULT_BUDGET = Duration.ofSeconds(2);
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);
    public static final double DEFAULT_SHARE = 0.25;
    public static final int DEFAULT_THREADS = 1;
    public static final int MOST_THREADS = 1_024;

    /**
     * The growth of the KL that is let pass: up to twice the trained decoder's. Refits by {@code auto} had .9 to 1.4
     * times it, those to refuse 1.5 to 25.
     */
    public static final double DEFAULT_MAXIMUM_GROWTH = 1.0;

    /** The most that one ONNX file can hold. */
    public static final int MOST_MEGABYTES = 2_048;

    public DownstreamSettings {
        if (requests < 1
                || requests > MOST_REQUESTS
                || ablations < 0
                || ablations > requests
                || budget.isZero()
                || budget.isNegative()
                || timeout.isZero()
                || timeout.isNegative()
                || !(share > 0.0 && share <= 1.0)
                || threads < 1
                || threads > MOST_THREADS
                || largestBytes < 1
                || !(maximumGrowth >= 0.0)) {
            throw new IllegalArgumentException(
                    ("downstream of %d requests, %d ablated, in %s, %s a run, a share of %s, %d threads, "
                                    + "at most %d bytes, growth %s: expected positive numbers, "
                                    + "no more ablated than there are, a share of at most 1, and a growth of 0 or more")
                            .formatted(
                                    requests, ablations, budget, timeout, share, threads, largestBytes, maximumGrowth));
        }
    }
}
