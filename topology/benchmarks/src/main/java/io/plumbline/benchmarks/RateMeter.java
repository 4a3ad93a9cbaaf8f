package io.plumbline.benchmarks;

import java.util.ArrayList;
import java.util.List;

/**
 * Measures rows a second once everything is warm: from the last look before {@value #WARM_UP} of the time were over to
 * the end.
 *
 * <p>Not thread-safe.
 */
final class RateMeter {

    private static final double WARM_UP = 0.3;

    /** @param othersNanos processor time of others by then */
    private record Sample(long nanos, double rows, long othersNanos) {}

    private final List<Sample> samples = new ArrayList<>();

    /** Takes how many rows were done by now. It begins when there were none for the last time. */
    void at(long nanos, double rows) {
        at(nanos, rows, 0);
    }

    /** Takes beside that the processor time which another process on the same cores has used by now. */
    void at(long nanos, double rows, long othersNanos) {
        if (rows <= 0.0) {
            samples.clear();
        }
        samples.add(new Sample(nanos, rows, othersNanos));
    }

    /** Returns the seconds since it began. */
    double seconds() {
        return samples.isEmpty() ? 0.0 : (last().nanos - samples.get(0).nanos) / 1e9;
    }

    private Sample last() {
        return samples.get(samples.size() - 1);
    }

    /**
     * Rows a second.
     *
     * @throws IllegalStateException when there are not two points in time to compare
     */
    double hotRate() {
        Sample from = warm();
        return (last().rows - from.rows) * 1e9 / Math.max(1, last().nanos - from.nanos);
    }

    /**
     * Rows a second if the other process had run elsewhere: the share of all cores' time that it took counts as time
     * not had. An estimate: it says nothing of caches and memory that both use.
     *
     * @throws IllegalStateException as {@link #hotRate()} does
     */
    double hotRateWithoutOthers(int cores) {
        Sample from = warm();
        double others = (last().othersNanos - from.othersNanos) / (double) cores;
        return (last().rows - from.rows) * 1e9 / Math.max(1.0, last().nanos - from.nanos - others);
    }

    private Sample warm() {
        if (samples.size() < 2) {
            throw new IllegalStateException("no rate can be told from %d looks".formatted(samples.size()));
        }
        long begin = samples.get(0).nanos;
        long warm = begin + (long) (WARM_UP * (last().nanos - begin));
        Sample from = samples.get(0);
        for (Sample sample : samples.subList(0, samples.size() - 1)) {
            from = sample.nanos <= warm ? sample : from;
        }
        return from;
    }
}
