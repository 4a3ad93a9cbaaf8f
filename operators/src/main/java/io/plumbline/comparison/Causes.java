package io.plumbline.comparison;

import io.plumbline.judgement.Amounts;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the mistakes that explain a change.
 *
 * <p>Rows are scaled where the lengths of all change by one factor, to a fiftieth, and hardly any turns. They are those
 * of another layer where that layer is given and nearer. Else they are no more than far: where the explainer leaves
 * more than all of their variance, and twice what it left before, or where 19 of 20 have a cosine below
 * {@value Pairs#FAR} to the same row before. On a small language model a neighbouring layer has a median of 0.95 and
 * weights of 3 bits one of 0.94, and 99 % of the rows of both are nearest to the same row before. So neither is named
 * without rows of the layers.
 */
final class Causes {

    private static final double SAME_FACTOR = 0.02;
    private static final double LEAST_FACTOR = 0.05;
    private static final double SAME_DIRECTION = 0.99;
    private static final double NEARLY_ALL = 0.95;

    private Causes() {}

    /**
     * Returns those that are found.
     *
     * @param pairs null where rows have no partner
     * @param template see {@link Prompts#missingTemplate}
     * @param layer what says that after's rows are those of another place; empty where none of those given is nearer,
     *     null where none is given
     */
    static List<Cause> of(
            Recording recordedBefore,
            Recording recordedAfter,
            Side before,
            Side after,
            @Nullable Pairs pairs,
            @Nullable String template,
            @Nullable String layer) {
        Map<String, String> causes = new LinkedHashMap<>();
        if (template != null) {
            causes.put("missing_template", template);
        }
        if (recordedAfter.notFinite() > recordedBefore.notFinite()) {
            causes.put(
                    "overflow",
                    "%s of after have Inf or NaN, %d of before; float16 ends at 65,504, the largest value before is %s"
                            .formatted(
                                    Amounts.count(recordedAfter.notFinite(), "row"),
                                    recordedBefore.notFinite(),
                                    Amounts.number(recordedBefore.precision().largest)));
        }
        String type = recordedAfter.precision().narrowerThan(recordedBefore.precision());
        if (!type.isEmpty()) {
            causes.put("wrong_dtype", "every value of after is exactly a %s, before's are not".formatted(type));
        }
        double fvu = after.fvuWithout(Estimate.NONE);
        double fvuBefore = before.fvuWithout(Estimate.NONE);
        if (layer != null && !layer.isEmpty()) {
            causes.put("another_layer", layer);
        } else if (pairs != null && isScaled(pairs)) {
            double percent = 100.0 * pairs.spreadOfRatio();
            String sentence =
                    "after's rows are before's times %.4f: the factor varies by %.2g %%, the mean cosine is %.4f";
            causes.put("scaled_rows", text(sentence, pairs.ratio(), percent, pairs.cosineWithout(Estimate.NONE)));
        } else if (template == null && fvu > 1.0 && fvu > 2.0 * fvuBefore) {
            String sentence = "the explainer leaves %.3g of the variance, %.3g before, ";
            causes.put("far_rows", text(sentence, fvu, fvuBefore) + likely(pairs));
        } else if (pairs != null && layer == null && pairs.farShare() >= NEARLY_ALL) {
            String sentence = "%.3g %% of the cosines to the row before are below %s, ";
            causes.put("far_rows", text(sentence, 100.0 * pairs.farShare(), Pairs.FAR) + likely(pairs));
        }
        return causes.entrySet().stream()
                .map(cause -> new Cause(cause.getKey(), cause.getValue()))
                .toList();
    }

    /** Returns what rows so far away may be, which their recordings cannot tell apart. */
    private static String likely(@Nullable Pairs pairs) {
        if (pairs == null) {
            return "as on another layer or another hook";
        }
        double nearest = pairs.nearest().share();
        String sentence = "as %s: %.3g %% of the rows are nearest to the same row before, with %.3f times its length";
        return text(
                sentence,
                nearest >= NEARLY_ALL
                        ? "on another layer or with weights of 3 bits"
                        : "on another layer, on another hook or with weights of 2 bits",
                100.0 * nearest,
                pairs.ratio());
    }

    private static String text(String sentence, Object... figures) {
        return String.format(Locale.ROOT, sentence, figures);
    }

    private static boolean isScaled(Pairs pairs) {
        return Math.abs(pairs.ratio() - 1.0) >= LEAST_FACTOR
                && pairs.spreadOfRatio() <= SAME_FACTOR
                && pairs.cosineWithout(Estimate.NONE) >= SAME_DIRECTION;
    }
}
