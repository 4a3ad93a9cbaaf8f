package io.plumbline.topology.console;

import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the console knows of one site. Immutable: whoever holds one sees one moment.
 *
 * @param windows by end and start in event time, the newest last
 * @param newest the whole report of the last of them
 * @param newestDrifted the newest report of a drifted window, which names failing features and farthest requests; it is
 *     still read when the site is aligned again
 * @param adaptations what the adapter said, oldest first
 * @param account what became of the site's rows
 * @param inService manifest of the decoder published last
 * @param swaps what the adapter has committed itself to
 * @param refusals versions of decoders this process did not trust, with the reason
 * @param heardMs wall clock of the last report
 */
record SiteHistory(
        String site,
        List<WindowPoint> windows,
        @Nullable WindowReport newest,
        @Nullable WindowReport newestDrifted,
        List<AdaptationReport> adaptations,
        @Nullable RowAccount account,
        @Nullable Published inService,
        @Nullable SwapState swaps,
        List<Refusal> refusals,
        long heardMs) {

    private static final int REFUSALS = 20;

    /** The part of a manifest that people ask for. */
    record Published(
            long version,
            String kind,
            String sha256,
            String parentSha256,
            long bytes,
            int chunks,
            Map<String, String> lineage) {}

    /** A version that was not trusted. */
    record Refusal(long version, String reason) {}

    static SiteHistory of(String site) {
        return new SiteHistory(site, List.of(), null, null, List.of(), null, null, null, List.of(), 0);
    }

    /** Returns the history with a window more, or the same object where it is known and unchanged. */
    SiteHistory with(WindowReport report, int most, long nowMs) {
        WindowPoint point = WindowPoint.of(report);
        int at = windows.size();
        while (at > 0 && isLater(windows.get(at - 1), point)) {
            at--;
        }
        boolean known = at > 0 && windows.get(at - 1).isSameWindow(point);
        if (known && windows.get(at - 1).equals(point)) {
            return this;
        }
        List<WindowPoint> all = new ArrayList<>(windows);
        if (known) {
            all.set(at - 1, point);
        } else {
            all.add(at, point);
        }
        if (all.size() > most) {
            all.remove(0);
        }
        return new SiteHistory(
                site,
                List.copyOf(all),
                newer(newest, report),
                report.section(Sections.FAILING_FEATURES) == null ? newestDrifted : newer(newestDrifted, report),
                adaptations,
                account,
                inService,
                swaps,
                refusals,
                nowMs);
    }

    private static boolean isLater(WindowPoint one, WindowPoint than) {
        return one.header().windowEndMs() > than.header().windowEndMs()
                || (one.header().windowEndMs() == than.header().windowEndMs()
                        && one.header().windowStartMs() > than.header().windowStartMs());
    }

    private static WindowReport newer(@Nullable WindowReport known, WindowReport report) {
        return known == null || report.header().windowEndMs() >= known.header().windowEndMs() ? report : known;
    }

    /** Returns the history with one more of the adapter's reports, or the same object where it is known. */
    SiteHistory with(AdaptationReport report, int most) {
        if (adaptations.contains(report)) {
            return this;
        }
        List<AdaptationReport> all = new ArrayList<>(adaptations);
        all.add(report);
        List<AdaptationReport> kept = List.copyOf(all.subList(Math.max(0, all.size() - most), all.size()));
        return new SiteHistory(
                site, windows, newest, newestDrifted, kept, account, inService, swaps, refusals, heardMs);
    }

    SiteHistory with(@Nullable RowAccount newAccount) {
        return Objects.equals(account, newAccount)
                ? this
                : new SiteHistory(
                        site,
                        windows,
                        newest,
                        newestDrifted,
                        adaptations,
                        newAccount,
                        inService,
                        swaps,
                        refusals,
                        heardMs);
    }

    SiteHistory with(Published published) {
        return new SiteHistory(
                site, windows, newest, newestDrifted, adaptations, account, published, swaps, refusals, heardMs);
    }

    SiteHistory with(SwapState told) {
        return new SiteHistory(
                site, windows, newest, newestDrifted, adaptations, account, inService, told, refusals, heardMs);
    }

    SiteHistory with(Refusal refusal) {
        List<Refusal> all = new ArrayList<>(refusals);
        all.add(refusal);
        List<Refusal> kept = List.copyOf(all.subList(Math.max(0, all.size() - REFUSALS), all.size()));
        return new SiteHistory(
                site, windows, newest, newestDrifted, adaptations, account, inService, swaps, kept, heardMs);
    }
}
