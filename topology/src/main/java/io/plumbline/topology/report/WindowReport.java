package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.plumbline.calibration.Verdict;
import io.plumbline.geometry.GapAssessment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says everything that Plumbline says about one window of one site. On the {@code window-reports} topic: one flat JSON
 * object with snake-case keys, a key for every {@link io.plumbline.geometry.Statistic} among them.
 *
 * <p>The same however the rows are spread over partitions and instances. What is not the same, the account of the
 * site's rows at that moment, is a header of the record: {@link #ACCOUNT_HEADER}.
 *
 * <p>The components are groups of keys; in JSON there are no groups.
 *
 * @param header which window of which site it is
 * @param counts records and requests of the window
 * @param judged what the window says about the site
 * @param evidence the statistics that trigger, warn or add up over windows
 * @param inService the decoder in service, and what the window asked the adapter for
 * @param violatedBounds names of valid bounds the measured gaps break; empty unless there is a defect
 * @param masked the rows that were taken out before everything else
 * @param baseline the baseline that the site is judged by
 * @param sections what else is told of the window, each under its key: {@link Sections}
 * @param geometry the numbers of the window, undefined ones as null
 */
public record WindowReport(
        @JsonUnwrapped Header header,
        @JsonUnwrapped Counts counts,
        @JsonUnwrapped Judged judged,
        @JsonUnwrapped Evidence evidence,
        @JsonUnwrapped InService inService,
        List<String> violatedBounds,
        @JsonUnwrapped(prefix = "masked_") Masked masked,
        @JsonUnwrapped(prefix = "baseline_") Baseline baseline,
        @JsonUnwrapped Sections sections,
        @JsonUnwrapped GapAssessment geometry) {

    /**
     * Names a window.
     *
     * @param site the site
     * @param windowStartMs event time, inclusive, milliseconds since 1970 UTC
     * @param windowEndMs event time, exclusive
     * @param closedBy {@code event_time}, {@code idle} or {@code max_hold}
     */
    public record Header(String site, long windowStartMs, long windowEndMs, String closedBy) {}

    /**
     * Counts what came.
     *
     * @param requests records that contributed; several may be of one request
     * @param requestsScored requests that were scored one by one
     * @param recordsNotScored records of other requests, beyond the number that is kept
     * @param momentRecords records that brought moments instead of rows; their requests cannot be scored
     */
    public record Counts(long requests, long requestsScored, long recordsNotScored, long momentRecords) {}

    /**
     * Holds the verdict and the number it rests on.
     *
     * @param verdict what the window says about the site
     * @param reason one clause for the verdict; {@link WindowReport#details} go with it
     * @param trigger name of the statistic the verdict rests on: of several the one farthest above its threshold
     * @param triggerValue its value; null where undefined
     * @param threshold the value it must exceed
     */
    public record Judged(
            Verdict verdict,
            String reason,
            String trigger,
            @Nullable Double triggerValue,
            @Nullable Double threshold) {

        /** Returns the number that stands for the window; null where it is undecided, since no number decides it. */
        public @Nullable Headline headline() {
            return verdict == Verdict.UNDECIDED ? null : Headline.of(trigger, triggerValue, threshold);
        }
    }

    /**
     * Holds the statistics that the site is watched by.
     *
     * @param statistics every statistic that triggers or warns, with its own threshold
     * @param warning the verdict of those that warn; null without any
     * @param warningReason a sentence for it
     * @param sequential evidence added up over windows, of every statistic of {@code sequential}; empty without any
     */
    public record Evidence(
            List<StatisticReport> statistics,
            @Nullable Verdict warning,
            @Nullable String warningReason,
            List<SequentialReport> sequential) {}

    /**
     * Says how the decoder in service does, and what the window asked the adapter for.
     *
     * @param reconstructionFvu FVU of the active decoder on the rows of the window's sample that the trained one is
     *     measured on
     * @param activeFaithfulnessGap faithfulness gap of the active decoder, beside that of the trained one; null where
     *     undefined, and for some seconds after a swap
     * @param decoderVersion version of the active decoder, 0 while it is the trained one as it came
     * @param adaptationRequested whether this window sent its sampled rows to the adapter, which makes a refit when one
     *     is due
     * @param rollbackRequested whether this window asked for the trained decoder because the active one does worse
     */
    public record InService(
            @Nullable Double reconstructionFvu,
            @Nullable Double activeFaithfulnessGap,
            long decoderVersion,
            boolean adaptationRequested,
            boolean rollbackRequested) {}

    /**
     * Counts the rows that were taken out before everything else.
     *
     * @param byToken for their token
     * @param byNorm for their norm
     * @param share both as a share of the rows that came
     */
    public record Masked(long byToken, long byNorm, double share) {}

    /**
     * Names a baseline.
     *
     * @param createdMs when it was made, milliseconds since 1970 UTC; null where its file does not say
     * @param revision which one it is, 1 for a first baseline; null where its file does not say
     */
    public record Baseline(
            @Nullable Long createdMs, @Nullable Long revision) {}

    /**
     * The header of a report that holds the account of its rows: JSON of what became of every row of the site up to
     * this window, a {@link io.plumbline.topology.windows.RowAccount} with its keys in snake case.
     */
    public static final String ACCOUNT_HEADER = "plumbline.account";

    /** Returns what {@link Headline#overThreshold} is here; in JSON beside the threshold's key. */
    @JsonProperty("over_threshold")
    public @Nullable Double overThreshold() {
        Headline headline = judged.headline();
        return headline == null ? null : headline.overThreshold();
    }

    /** Returns what a section holds; null where the window does not have it. */
    public <V> @Nullable V section(SectionKind<V> kind) {
        return sections.get(kind);
    }

    /** Returns the entries of a section that lists; none where the window does not have it. */
    public <E> List<E> listed(SectionKind<List<E>> kind) {
        List<E> entries = section(kind);
        return entries == null ? List.of() : entries;
    }

    /** Returns sentences on what came with the drift, for people; empty while the site is not drifted. */
    public List<String> details() {
        DriftCause cause = section(Sections.CAUSE);
        if (cause == null) {
            return List.of();
        }
        List<String> details = new ArrayList<>();
        List<WorstRequest> worst = listed(Sections.WORST_REQUESTS);
        if (!worst.isEmpty()) {
            details.add(WorstRequest.sentence(worst));
        }
        if (cause.isKnown()) {
            details.add(cause.sentence());
        }
        return details;
    }
}
