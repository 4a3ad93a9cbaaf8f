package io.plumbline.adaptation;

import io.plumbline.refit.Reconstruction;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Passes candidates over for what they cost on rows of the baseline. */
final class CostInDistribution {

    /**
     * The share of the FVU that the weakest ridge costs more in distribution which it must gain on the window. The
     * price is paid for a while only. On the recordings where it helped the share was .4 and 1.2, on five others -1.5
     * to 0.
     */
    private static final double WORTH = 0.25;

    private CostInDistribution() {}

    /** Passes a candidate over that costs more than the gate allows. */
    static SearchReport.Figures within(
            GateLimits limits, SearchReport.Figures figures, @Nullable Reconstruction trained) {
        if (trained == null || figures.inDistribution() == null) {
            return figures;
        }
        return figures.inDistribution().fvu() - trained.fvu() <= limits.maximumIdCost()
                ? figures
                : figures.passedOver("costs more than %s of FVU in distribution".formatted(limits.maximumIdCost()));
    }

    /**
     * Passes the weakest ridge over where it gains little on the rows to choose by for what it forgets.
     *
     * @param next the figures of a ridge of 1; null where that was not tried
     */
    static SearchReport.Figures worth(SearchReport.Figures figures, SearchReport.@Nullable Figures next) {
        if (!isWeakest(figures.candidate())
                || figures.refusal() != null
                || next == null
                || next.validation() == null
                || next.inDistribution() == null
                || figures.validation() == null
                || figures.inDistribution() == null) {
            return figures;
        }
        double gain = next.validation().fvu() - figures.validation().fvu();
        double cost = figures.inDistribution().fvu() - next.inDistribution().fvu();
        return gain >= WORTH * cost
                ? figures
                : figures.passedOver(String.format(
                        Locale.ROOT,
                        "gains %.4f of FVU over a ridge of 1, and costs %.4f more in distribution",
                        gain,
                        cost));
    }

    private static boolean isWeakest(Candidate candidate) {
        return candidate instanceof Candidate.Gae refit
                && refit.settings().regularisation().preservation() == CandidateSearch.WEAKEST;
    }
}
