package io.plumbline.comparison;

import io.plumbline.judgement.Amounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The limits that a change must keep.
 *
 * <p>A limit is kept where the worse end of the figure's interval keeps it: a change passes where its harmlessness is
 * shown, not where its harm is not. A figure that cannot be measured keeps no limit. A cause that is not allowed fails.
 *
 * @param limits by key, one of {@link #KEYS}
 * @param allowed kinds of causes that are meant, such as a new dtype
 */
public record Policy(Map<String, Double> limits, List<String> allowed) {

    /** The end of the keys of limits from below; others end in {@code _max}. */
    public static final String AT_LEAST = "_min";

    /** The keys of limits: a figure and the side on which it is bounded. */
    public static final List<String> KEYS =
            List.of(("survival_min fvu_max fvu_rise_max gap_max gap_to_before_max shift_max row_error_max"
                            + " row_cosine_min probe_flips_max kl_max")
                    .split(" "));

    /** Returns whether a figure has a limit. */
    public boolean limits(String figure) {
        return limits.keySet().stream().anyMatch(key -> key.startsWith(figure + "_m"));
    }

    /** The outcome of one rule, or of one cause. */
    public record Outcome(String rule, boolean passed, String sentence) {}

    /** Returns what becomes of each limit and of each cause that was found. */
    public List<Outcome> judge(ExplainerComparison comparison) {
        List<Outcome> outcomes = new ArrayList<>();
        limits.forEach((key, limit) -> {
            String figure = key.substring(0, key.length() - AT_LEAST.length());
            Estimate estimate = comparison.figures().get(figure);
            boolean low = key.endsWith(AT_LEAST);
            double end = estimate == null ? Double.NaN : low ? estimate.low() : estimate.high();
            String sentence = "the %s end of the interval of %s is %s, the limit %s"
                    .formatted(
                            low ? "low" : "high", figure, Amounts.apart(end, limit, 3), Amounts.apart(limit, end, 3));
            outcomes.add(new Outcome(
                    key,
                    low ? end >= limit : end <= limit,
                    estimate == null ? figure + " was not measured: " + comparison.notMeasured(figure) : sentence));
        });
        comparison
                .causes()
                .forEach(cause ->
                        outcomes.add(new Outcome(cause.kind(), allowed.contains(cause.kind()), cause.sentence())));
        return outcomes;
    }
}
