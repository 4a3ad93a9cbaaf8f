package io.plumbline.topology.assessment;

import io.plumbline.topology.assessment.SiteSettings.CoverageRule;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.report.CoverageReport;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what share of a site's tokens usually comes as rows, and what share a prefix cache keeps: sums over the
 * first {@value #LEARNT} windows whose producers said so. A new baseline begins anew.
 *
 * <p>Shares are of the tokens that the producers did not leave out by sampling: another sampling rate moves nothing,
 * because sampled rows are like all others. Cached positions are not: they are the shared beginnings of prompts.
 *
 * @param baselineMs when the baseline was made that the windows were judged by; 0 where it does not say
 * @param windows in the sums
 */
record CoverageWatch(long baselineMs, int windows, double delivered, double cached) {

    /** The number of windows that the expected shares are the mean of. */
    static final int LEARNT = 8;

    static final CoverageWatch NONE = new CoverageWatch(0, 0, 0.0, 0.0);

    CoverageWatch {
        if (windows < 0 || windows > LEARNT || !isSum(delivered, windows) || !isSum(cached, windows)) {
            throw new IllegalArgumentException(
                    "%d windows with %s delivered and %s cached".formatted(windows, delivered, cached));
        }
    }

    private static boolean isSum(double share, int windows) {
        return share >= 0.0 && share <= windows + 1e-9;
    }

    /** Returns what is remembered after a window. */
    CoverageWatch after(Coverage coverage, @Nullable Long newBaselineMs) {
        long baseline = newBaselineMs == null ? 0 : newBaselineMs;
        CoverageWatch before = baseline == baselineMs ? this : new CoverageWatch(baseline, 0, 0.0, 0.0);
        if (wanted(coverage) <= 0 || before.windows == LEARNT) {
            return before;
        }
        return new CoverageWatch(
                baseline,
                before.windows + 1,
                before.delivered + deliveredShare(coverage),
                before.cached + cachedShare(coverage));
    }

    /** Returns what a window's report says, or null where no producer said how many tokens were served. */
    @Nullable
    CoverageReport report(Coverage coverage, CoverageRule rule) {
        if (!coverage.isKnown()) {
            return null;
        }
        Double expectedDelivered = expected(rule.delivered(), delivered);
        Double expectedCached = expected(rule.cached(), cached);
        return new CoverageReport(
                coverage.served(),
                coverage.share(coverage.delivered()),
                coverage.share(coverage.cached()),
                coverage.share(coverage.notSampled()),
                coverage.share(coverage.dropped()),
                expectedDelivered,
                expectedCached,
                wanted(coverage) == 0
                        ? null
                        : CoverageReport.moved(
                                deliveredShare(coverage),
                                expectedDelivered,
                                cachedShare(coverage),
                                expectedCached,
                                rule.limit()));
    }

    private @Nullable Double expected(@Nullable Double written, double sum) {
        return written != null || windows < LEARNT ? written : Double.valueOf(sum / windows);
    }

    private static long wanted(Coverage coverage) {
        return coverage.served() - coverage.notSampled();
    }

    private static double deliveredShare(Coverage coverage) {
        return Math.min(1.0, (double) coverage.delivered() / wanted(coverage));
    }

    private static double cachedShare(Coverage coverage) {
        return Math.min(1.0, (double) coverage.cached() / wanted(coverage));
    }
}
