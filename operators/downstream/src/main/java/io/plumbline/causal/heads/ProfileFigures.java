package io.plumbline.causal.heads;

import io.plumbline.causal.heads.Sums.Of;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleBiFunction;

/** The figures of each {@link Profile} by name, as functions of sums and of the width of the rows. */
final class ProfileFigures {

    private static final Map<Profile, Map<String, ToDoubleBiFunction<Sums, Integer>>> ALL = Map.of(
            Profile.GAE_PAPER, paper(),
            Profile.GAE_CODE, code(),
            Profile.SAELENS, library((sums, width) -> Metric.EXPLAINED_VARIANCE.of(sums)),
            Profile.SAEBENCH, library(ProfileFigures::explainedVarianceOfSaeBench));

    private ProfileFigures() {}

    static Map<String, ToDoubleBiFunction<Sums, Integer>> of(Profile profile) {
        return ALL.getOrDefault(profile, Map.of());
    }

    private static Map<String, ToDoubleBiFunction<Sums, Integer>> paper() {
        Map<String, ToDoubleBiFunction<Sums, Integer>> figures = new LinkedHashMap<>();
        for (Metric metric : List.of(
                Metric.FVU,
                Metric.KL,
                Metric.DELTA_CE,
                Metric.ABS_DELTA_CE,
                Metric.MEAN_ABS_DELTA_CE_BY_REQUEST,
                Metric.CE_ORIGINAL,
                Metric.CE_PATCHED,
                Metric.CE_ZERO,
                Metric.LOSS_RECOVERED,
                Metric.TOP1_AGREEMENT,
                Metric.NAOPC,
                Metric.NCOMP,
                Metric.NCOMP8,
                Metric.NCOMP4,
                Metric.L0)) {
            figures.put(metric.key(), of(metric));
        }
        return figures;
    }

    private static Map<String, ToDoubleBiFunction<Sums, Integer>> code() {
        Map<String, ToDoubleBiFunction<Sums, Integer>> figures = paper();
        figures.put("naopc", of(Metric.NAOPC_CLIPPED));
        figures.put("ncomp", of(Metric.NAOPC));
        figures.remove("ncomp8");
        figures.remove("ncomp4");
        return figures;
    }

    private static Map<String, ToDoubleBiFunction<Sums, Integer>> library(
            ToDoubleBiFunction<Sums, Integer> explainedVariance) {
        Map<String, ToDoubleBiFunction<Sums, Integer>> figures = new LinkedHashMap<>();
        figures.put("explained_variance", explainedVariance);
        figures.put("ce_loss_without_sae", of(Metric.CE_ORIGINAL));
        figures.put("ce_loss_with_sae", of(Metric.CE_PATCHED));
        figures.put("ce_loss_with_ablation", of(Metric.CE_ZERO));
        figures.put("ce_loss_score", of(Metric.LOSS_RECOVERED));
        figures.put("kl_div_with_sae", of(Metric.KL));
        figures.put("kl_div_with_ablation", of(Metric.KL_ZERO));
        figures.put("kl_div_score", of(Metric.KL_SCORE));
        figures.put("l0", of(Metric.L0));
        return figures;
    }

    private static ToDoubleBiFunction<Sums, Integer> of(Metric metric) {
        return (sums, width) -> metric.of(sums);
    }

    /**
     * Returns {@code 1 - E|x - xhat|^2 / (E|x|^2 - (mean over dimensions of E x_i^2)^2)}, which is what the code of
     * SAEBench computes.
     */
    private static double explainedVarianceOfSaeBench(Sums sums, Integer width) {
        double squares = sums.ratio(Of.SQUARES, Of.ROWS);
        double meanSquare = squares / width;
        return 1.0 - sums.ratio(Of.ERROR, Of.ROWS) / (squares - meanSquare * meanSquare);
    }
}
