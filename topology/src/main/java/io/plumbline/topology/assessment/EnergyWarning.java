package io.plumbline.topology.assessment;

import io.plumbline.geometry.SiteGeometry;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Says so where one direction holds most of a window: the subspaces are then about that direction. */
public final class EnergyWarning {

    /** Above this share of {@code tr M} the first eigenvalue outweighs all others together. */
    private static final double LARGEST_SHARE = 0.5;

    private EnergyWarning() {}

    /**
     * The sentence for a window, or null.
     *
     * @param topEigenvalueShare {@code lambda_1 / tr M} of the window; null where undefined
     */
    public static @Nullable String of(@Nullable Double topEigenvalueShare, SiteGeometry geometry) {
        if (topEigenvalueShare == null || topEigenvalueShare <= LARGEST_SHARE) {
            return null;
        }
        double baseline = geometry.baselineSubspace().largestEigenvalue()
                / geometry.baselineMoment().trace();
        return String.format(
                Locale.ROOT,
                "one eigenvalue holds %.0f %% of the window's energy, %.0f %% in the baseline: %s",
                100.0 * topEigenvalueShare,
                100.0 * baseline,
                baseline > LARGEST_SHARE
                        ? "a mean far from 0, or special tokens in both; see deploy/MASKING.md"
                        : "look for special tokens or rows far longer than the others, and mask them; see deploy/MASKING.md");
    }
}
