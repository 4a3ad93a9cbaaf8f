package io.plumbline.topology.report;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Says so where one direction holds most of a window: the subspaces are then about that direction. */
public final class EnergyWarning {

    /** The share of {@code tr M} above which the first eigenvalue outweighs all others together. */
    private static final double LARGEST_SHARE = 0.5;

    private EnergyWarning() {}

    /** The sentence for a window of the site, or null. */
    public static @Nullable String of(GapAssessment window, SiteGeometry site) {
        double share = window.value(Statistic.TOP_EIGENVALUE_SHARE).orElse(0.0);
        if (share <= LARGEST_SHARE) {
            return null;
        }
        double baseline = site.baselineSubspace().largestEigenvalue()
                / site.baselineMoment().trace();
        return String.format(
                Locale.ROOT,
                "one eigenvalue holds %.0f %% of the window's energy, %.0f %% in the baseline: %s",
                100.0 * share,
                100.0 * baseline,
                baseline > LARGEST_SHARE
                        ? "a mean far from 0, or special tokens in both; see docs/concepts/masking.md"
                        : "look for special tokens or rows far longer than the others, and mask them; see"
                                + " docs/concepts/masking.md");
    }
}
