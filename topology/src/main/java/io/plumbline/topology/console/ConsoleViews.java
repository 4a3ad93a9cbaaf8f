package io.plumbline.topology.console;

import io.plumbline.judgement.Verdict;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.baselines.BaselineVersion;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.report.WindowReport;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds the answers of {@code /api}: JSON with snake-case keys. {@link #SCHEMA} grows when a key changes its meaning or
 * goes; keys are added without it.
 */
final class ConsoleViews {

    static final int SCHEMA = 1;

    private ConsoleViews() {}

    /**
     * The answer of {@code /api/sites}.
     *
     * @param reader who asks, where {@code http.forwarded_user} believes a proxy; null otherwise
     * @param sections where the page shows each section of a report
     */
    record Overview(
            int schema,
            long nowMs,
            String place,
            String application,
            @Nullable String reader,
            Windowing window,
            long staleAfterMs,
            ConsoleModel.Past past,
            Map<String, Long> deadLetters,
            String deadLettersCommand,
            List<Named> statistics,
            Map<String, String> sections,
            List<ModelHistory> models,
            List<Summary> sites) {}

    /** A statistic a window has a value of, and what it is. */
    record Named(String statistic, String help) {}

    /** The way in which event time is cut. */
    record Windowing(
            long sizeMs,
            long advanceMs,
            long graceMs,
            @Nullable Long idleCloseMs) {}

    /**
     * The line of a site in the list, and the answer of {@code /api/sites/SITE}.
     *
     * @param versionInService of the decoder published last, before which the newest window may have been judged; that
     *     of the newest window where none has been heard of
     * @param sinceMs end of the first window of the run of windows with the newest verdict
     * @param recent the last windows, for a sparkline
     */
    record Summary(
            String site,
            String mode,
            int rank,
            boolean pinned,
            long versionInService,
            @Nullable Long waitingCandidate,
            @Nullable WindowPoint newest,
            @Nullable Long sinceMs,
            int windows,
            long heardMs,
            @Nullable RowAccount rows,
            List<Spark> recent) {}

    /** A point of a sparkline: how many times its threshold the statistic is that the verdict rests on. */
    record Spark(long windowEndMs, @Nullable Double overThreshold, Verdict verdict) {}

    /** The answer of {@code /api/sites/SITE/windows}. */
    record Windows(int schema, String site, List<WindowPoint> windows) {}

    /**
     * The answer of {@code /api/sites/SITE/reports}: whole reports, whose sections the parts of the page show.
     *
     * @param newestDrifted of the newest window that names failing features; null before a site has drifted
     */
    record Reports(
            int schema,
            String site,
            @Nullable WindowReport newest,
            @Nullable WindowReport newestDrifted) {}

    /**
     * The answer of {@code /api/sites/SITE/decoders}.
     *
     * @param swappedAs the configured site whose target layers, this one among them, are fitted and swapped together;
     *     null where the site is swapped by itself
     */
    record Decoders(
            int schema,
            String site,
            @Nullable String swappedAs,
            String mode,
            SiteHistory.@Nullable Published inService,
            @Nullable SwapState swaps,
            Commands commands,
            List<AdaptationReport> adaptations,
            List<SiteHistory.Refusal> refusals) {}

    /**
     * The answer of {@code /api/sites/SITE/baselines}.
     *
     * @param judgedBySha256 checksum of the content of the baseline that the newest window was judged by; null without
     * @param taken into service, oldest first
     * @param proposed the newest proposal, until it is taken over; null: none
     */
    record Baselines(
            int schema,
            String site,
            @Nullable String judgedBySha256,
            List<BaselineVersion> taken,
            @Nullable BaselineVersion proposed,
            String approveCommand) {}

    /**
     * The answer of {@code /api/ready}.
     *
     * @param complaint what {@code /readyz} complains of; null where it says {@code ok}
     */
    record Ready(int schema, @Nullable String complaint) {}

    /** The answer where there is nothing else to answer. */
    record Problem(int schema, String problem) {}
}
