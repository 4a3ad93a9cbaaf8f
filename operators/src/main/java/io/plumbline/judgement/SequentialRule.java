package io.plumbline.judgement;

import java.time.Duration;
import java.util.List;

/**
 * The rule by which a site is watched for drift that grows over many windows.
 *
 * @param statistics each with a {@link SequentialDetector} of its own; they share the promise
 * @param windowsPerAlarm average run length of each of them, in windows that are taken: that of all times their number
 * @param stride event time between windows that are taken: overlapping windows are not exchangeable, so of hopping ones
 *     those that share no rows
 */
public record SequentialRule(List<String> statistics, double windowsPerAlarm, Duration stride) {

    public SequentialRule {
        statistics = List.copyOf(statistics);
        if (statistics.isEmpty() || stride.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "%d statistics every %s: expected 1 or more of both".formatted(statistics.size(), stride));
        }
    }

    /**
     * Returns the rule for windows of this size and advance, with one false alarm in {@code averageRunLength} of all
     * statistics together.
     */
    public static SequentialRule of(
            List<String> statistics, Duration averageRunLength, Duration size, Duration advance) {
        long overlapping = (size.toMillis() + advance.toMillis() - 1) / advance.toMillis();
        Duration stride = advance.multipliedBy(overlapping);
        return new SequentialRule(
                statistics, (double) statistics.size() * averageRunLength.toMillis() / stride.toMillis(), stride);
    }
}
