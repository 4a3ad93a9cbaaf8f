package io.plumbline.geometry;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Every geometric number of one window. A number that does not exist here is null, and {@link #undefined()} says why.
 * Outside Java (reports, configuration, metrics, the keys of {@link #undefined()} and {@link #vacuous()}) a component goes
 * by its name in snake case, {@code faithfulness_gap}: see {@link #statisticNames()}.
 *
 * <p>Gaps, ratios, shares and overlaps are dimensionless; shifts, eigengaps and losses are
 * in the units of the moment (squared activations); angles are in radians.
 *
 * @param rows rows in the window
 * @param dimension d, of the target space
 * @param rank r
 * @param secondMomentShift {@code ‖M_OOD − M_ID‖_F}
 * @param secondMomentShiftRatio the same divided by {@code ‖M_ID‖_F}
 * @param eigengapBaseline {@code λ_r − λ_{r+1}} of M_ID
 * @param eigengapWindow the same of M_OOD
 * @param faithfulnessGap {@code ‖Π_OOD − Π_dec‖_F}
 * @param baselineGap {@code ‖Π_OOD − Π_ID‖_F}, what the Davis-Kahan bounds speak about
 * @param explainerBaselineGap {@code ‖Π_dec − Π_ID‖_F}, a constant of the site
 * @param largestGap {@code √(2 min(r, d−r))}
 * @param gapShare faithfulness gap / largest gap
 * @param chanceNormalisedGap 1 = two random subspaces
 * @param subspaceOverlap {@code ‖U_decᵀ U_OOD‖_F² / r}
 * @param explainerDependentLoss {@code L(Π_dec) − L(Π_OOD)}
 * @param projectionLoss {@code L(Π_dec) = tr((I − Π_dec) M_OOD)}
 * @param irreducibleLoss {@code L(Π_OOD)}
 * @param eta explainer-dependent loss / projection loss
 * @param davisKahanAsPrinted of the baseline gap; not a bound unless certified, see {@link DavisKahanBounds}
 * @param davisKahanCertified whether the printed number is a bound in this window
 * @param davisKahanValid of the baseline gap
 * @param davisKahanBothSpectra of the baseline gap
 * @param davisKahanWaterFilling of the baseline gap
 * @param gapLowerBound of the faithfulness gap, see {@link FaithfulnessGapBounds}
 * @param gapUpperBound of the faithfulness gap
 * @param topEigenvalueShare {@code λ_1 / tr M_OOD}; near 1 one direction (often one special token) is everything
 * @param principalAngles between explainer and active subspace, ascending
 * @param reconstructionGap the faithfulness gap with the leading eigenspace of the baseline's reconstructions as the
 *     explainer's subspace
 * @param explainerDependentShare explainer-dependent loss / tr M_OOD
 * @param residualEnergy {@code tr((I − Π_ID) M_OOD) / tr M_OOD}
 * @param whitenedMeanShift {@code ‖(M_ID + ridge I)^(−1/2) (mean − mean_ID)‖}, ridge = 1e-6 of the mean eigenvalue
 * @param reconstructionFvuTrained fraction of variance the trained decoder leaves unexplained on the head of the window's row
 *     sample; measured on codes, and so handed in
 * @param subspaceSineBound proven upper bound of {@code ‖sin ∠‖_F} between the computed and the true active subspace of the window,
 *     see {@link ActiveSubspace#sineBound}; the gaps above are right within {@code √2} times it
 * @param vacuous for each bound that exists, whether it says nothing
 * @param undefined for each number that does not exist, the reason
 */
public record GapAssessment(
        long rows,
        int dimension,
        int rank,
        @Nullable Double secondMomentShift,
        @Nullable Double secondMomentShiftRatio,
        @Nullable Double eigengapBaseline,
        @Nullable Double eigengapWindow,
        @Nullable Double faithfulnessGap,
        @Nullable Double baselineGap,
        @Nullable Double explainerBaselineGap,
        double largestGap,
        @Nullable Double gapShare,
        @Nullable Double chanceNormalisedGap,
        @Nullable Double subspaceOverlap,
        @Nullable Double explainerDependentLoss,
        @Nullable Double projectionLoss,
        @Nullable Double irreducibleLoss,
        @Nullable Double eta,
        @Nullable Double davisKahanAsPrinted,
        @Nullable Boolean davisKahanCertified,
        @Nullable Double davisKahanValid,
        @Nullable Double davisKahanBothSpectra,
        @Nullable Double davisKahanWaterFilling,
        @Nullable Double gapLowerBound,
        @Nullable Double gapUpperBound,
        @Nullable Double topEigenvalueShare,
        @Nullable List<Double> principalAngles,
        @Nullable Double reconstructionGap,
        @Nullable Double explainerDependentShare,
        @Nullable Double residualEnergy,
        @Nullable Double whitenedMeanShift,
        @Nullable Double reconstructionFvuTrained,
        @Nullable Double subspaceSineBound,
        Map<String, Boolean> vacuous,
        Map<String, String> undefined) {

    private static final Pattern UPPER_CASE = Pattern.compile("[A-Z]");
    private static final double VIOLATION = 1e-6;
    private static final RecordComponent[] COMPONENTS = GapAssessment.class.getRecordComponents();

    public GapAssessment {
        principalAngles = principalAngles == null ? null : List.copyOf(principalAngles);
        vacuous = Map.copyOf(vacuous);
        undefined = Map.copyOf(undefined);
    }

    /**
     * Every component that is a single real number and exists, by name, in the order above: what is calibrated, exported
     * or made a trigger.
     */
    public Map<String, Double> statistics() {
        Map<String, Double> statistics = new LinkedHashMap<>();
        for (RecordComponent component : COMPONENTS) {
            if (valueOf(component) instanceof Double number) {
                statistics.put(nameOf(component), number);
            }
        }
        return statistics;
    }

    /**
     * One of {@link #statistics()}, empty where it is undefined in this window.
     *
     * @throws IllegalArgumentException if no real number of an assessment has this name
     */
    public OptionalDouble statistic(String name) {
        if (!statisticNames().contains(name)) {
            throw new IllegalArgumentException(
                    "\"%s\" is not a statistic of a window: expected one of %s".formatted(name, statisticNames()));
        }
        Double value = statistics().get(name);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** The names {@link #statistic} knows, in order. */
    public static List<String> statisticNames() {
        List<String> names = new ArrayList<>();
        for (RecordComponent component : COMPONENTS) {
            if (component.getType() == Double.class || component.getType() == double.class) {
                names.add(nameOf(component));
            }
        }
        return names;
    }

    /**
     * The valid bounds that the measured gaps break by more than 1e-6 of the largest possible gap, beyond what
     * {@link #subspaceSineBound} leaves open: always empty, in every window, unless the arithmetic (or a faster twin of it) is wrong. The printed Davis-Kahan number counts only where it
     * is certified.
     */
    public List<String> violatedBounds() {
        List<String> violated = new ArrayList<>();
        for (String bound : List.of("davis_kahan_valid", "davis_kahan_both_spectra", "davis_kahan_water_filling")) {
            noteIfAbove("baseline_gap", bound, bound, violated);
        }
        if (Boolean.TRUE.equals(davisKahanCertified)) {
            noteIfAbove("baseline_gap", "davis_kahan_as_printed", "davis_kahan_as_printed", violated);
        }
        noteIfAbove("faithfulness_gap", "gap_upper_bound", "gap_upper_bound", violated);
        noteIfAbove("gap_lower_bound", "faithfulness_gap", "gap_lower_bound", violated);
        return violated;
    }

    private void noteIfAbove(String smaller, String larger, String bound, List<String> violated) {
        OptionalDouble low = statistic(smaller);
        OptionalDouble high = statistic(larger);
        double inexact = subspaceSineBound == null ? 0.0 : Math.sqrt(2.0) * subspaceSineBound;
        if (low.isPresent()
                && high.isPresent()
                && low.getAsDouble() > high.getAsDouble() + inexact + VIOLATION * Math.max(largestGap, 1.0)) {
            violated.add(bound);
        }
    }

    private static String nameOf(RecordComponent component) {
        return UPPER_CASE
                .matcher(component.getName())
                .replaceAll(match -> "_" + match.group().toLowerCase(Locale.ROOT));
    }

    private @Nullable Object valueOf(RecordComponent component) {
        try {
            return component.getAccessor().invoke(this);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException("cannot read " + component.getName(), impossible);
        }
    }
}
