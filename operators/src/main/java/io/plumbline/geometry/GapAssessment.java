package io.plumbline.geometry;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Every number of one window by {@link Statistic}, and for one that does not exist here the reason.
 *
 * <p>Gaps, ratios, shares and overlaps are dimensionless; shifts, eigengaps and losses are in the units of the moment
 * (squared activations); angles are in radians. Immutable.
 *
 * @param rows rows in the window
 * @param dimension d, of the target space
 * @param rank r
 * @param values by statistic; one that is absent was not known to the version that made the assessment
 * @param davisKahanCertified whether the printed Davis-Kahan number is a bound in this window; null where it is
 *     undefined
 * @param principalAngles between explainer and active subspace, ascending; null where the faithfulness gap is undefined
 */
public record GapAssessment(
        long rows,
        int dimension,
        int rank,
        Map<Statistic, Value> values,
        @Nullable Boolean davisKahanCertified,
        @Nullable List<Double> principalAngles) {

    /** The names, outside Java, of the two that are no real number. */
    public static final String DAVIS_KAHAN_CERTIFIED = "davis_kahan_certified";

    public static final String PRINCIPAL_ANGLES = "principal_angles";

    private static final double VIOLATION = 1e-6;

    public GapAssessment {
        Map<Statistic, Value> ordered = new EnumMap<>(Statistic.class);
        ordered.putAll(values);
        values = Collections.unmodifiableMap(ordered);
        principalAngles = principalAngles == null ? null : List.copyOf(principalAngles);
    }

    /** Returns this assessment with one value more, or another. */
    public GapAssessment with(Statistic statistic, Value value) {
        Map<Statistic, Value> more = new EnumMap<>(Statistic.class);
        more.putAll(values);
        more.put(statistic, value);
        return new GapAssessment(rows, dimension, rank, more, davisKahanCertified, principalAngles);
    }

    /** Returns this assessment with a number more, or another; null is undefined because its source is missing. */
    public GapAssessment with(Statistic statistic, @Nullable Double number) {
        return with(
                statistic,
                number == null ? new Value.Undefined(statistic.source().missing()) : new Value.Known(number));
    }

    /** The number, empty where it is undefined in this window. */
    public OptionalDouble value(Statistic statistic) {
        return values.get(statistic) instanceof Value.Known known
                ? OptionalDouble.of(known.number())
                : OptionalDouble.empty();
    }

    /** The numbers that exist, by label, in the order of {@link Statistic}. */
    public Map<String, Double> statistics() {
        Map<String, Double> statistics = new LinkedHashMap<>();
        values.forEach((statistic, value) -> {
            if (value instanceof Value.Known known) {
                statistics.put(statistic.label(), known.number());
            }
        });
        return statistics;
    }

    /**
     * The number with this label, empty where it is undefined in this window.
     *
     * @throws IllegalArgumentException if no statistic has this label
     */
    public OptionalDouble statistic(String label) {
        return value(Statistic.find(label)
                .orElseThrow(
                        () -> new IllegalArgumentException("\"%s\" is not a statistic of a window: expected one of %s"
                                .formatted(label, statisticNames()))));
    }

    /** The labels {@link #statistic} knows, in order. */
    public static List<String> statisticNames() {
        return Arrays.stream(Statistic.values()).map(Statistic::label).toList();
    }

    /** The reasons of what does not exist, by name. */
    public Map<String, String> undefined() {
        Map<String, String> undefined = new LinkedHashMap<>();
        values.forEach((statistic, value) -> {
            if (value instanceof Value.Undefined missing) {
                undefined.put(statistic.label(), missing.reason());
            }
        });
        because(undefined, Statistic.DAVIS_KAHAN_AS_PRINTED, DAVIS_KAHAN_CERTIFIED);
        because(undefined, Statistic.FAITHFULNESS_GAP, PRINCIPAL_ANGLES);
        return undefined;
    }

    /** Makes undefined what follows from a statistic that is undefined, for the same reason. */
    private static void because(Map<String, String> undefined, Statistic statistic, String follows) {
        String reason = undefined.get(statistic.label());
        if (reason != null) {
            undefined.put(follows, reason);
        }
    }

    /**
     * Returns for each upper bound of a gap that exists, by label, whether it says nothing: it is not below the largest
     * possible gap.
     */
    public Map<String, Boolean> vacuous() {
        Map<String, Boolean> vacuous = new LinkedHashMap<>();
        for (Statistic statistic : values.keySet()) {
            Boolean saysNothing = isVacuous(statistic);
            if (saysNothing != null) {
                vacuous.put(statistic.label(), saysNothing);
            }
        }
        return vacuous;
    }

    /**
     * Returns whether an upper bound of a gap says nothing; null where it does not exist and of what is no such bound.
     */
    public @Nullable Boolean isVacuous(Statistic bound) {
        OptionalDouble number = value(bound);
        if (number.isEmpty() || !bound.bound().map(Statistic.Bound::upper).orElse(false)) {
            return null;
        }
        return !(number.getAsDouble() < largestGap());
    }

    /** Returns whether a bound is a theorem in this window; null where it does not exist and of what is no bound. */
    public @Nullable Boolean isCertified(Statistic bound) {
        if (value(bound).isEmpty() || bound.bound().isEmpty()) {
            return null;
        }
        return bound.bound().get().always() ? Boolean.TRUE : davisKahanCertified;
    }

    /**
     * The bounds that the measured gaps break by more than 1e-6 of the largest possible gap, beyond what
     * {@link Statistic#SUBSPACE_SINE_BOUND} leaves open: always empty, in every window, unless the arithmetic (or a
     * faster twin of it) is wrong. The printed Davis-Kahan number counts only where it is certified.
     */
    public List<String> violatedBounds() {
        double open = Math.sqrt(2.0) * value(Statistic.SUBSPACE_SINE_BOUND).orElse(0.0)
                + VIOLATION * Math.max(largestGap(), 1.0);
        List<String> violated = new ArrayList<>();
        for (Statistic statistic : Statistic.values()) {
            if (Boolean.TRUE.equals(isCertified(statistic))) {
                Statistic.Bound bound = statistic.bound().orElseThrow();
                double beyond =
                        value(bound.gap()).orElse(Double.NaN) - value(statistic).orElseThrow();
                if ((bound.upper() ? beyond : -beyond) > open) {
                    violated.add(statistic.label());
                }
            }
        }
        return violated;
    }

    private double largestGap() {
        return value(Statistic.LARGEST_GAP).orElseGet(() -> FaithfulnessGap.largest(rank, dimension));
    }
}
