package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.judgement.Verdict;
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
 * @param header the window and its site
 * @param counts records and requests of the window
 * @param judged what the window says about the site
 * @param evidence the statistics that trigger, warn or add up over windows
 * @param inService the decoder in service, and what the window asked the adapter for
 * @param masked the rows that were taken out before everything else
 * @param baseline the baseline that the site is judged by
 * @param sections what else the report says about the window, each under its key: {@link Sections}
 * @param geometry the numbers of the window, undefined ones as null
 */
public record WindowReport(
        @JsonUnwrapped Header header,
        @JsonUnwrapped Counts counts,
        @JsonUnwrapped Judged judged,
        @JsonUnwrapped Evidence evidence,
        @JsonUnwrapped InService inService,

        @JsonPropertyDescription("names of valid bounds that the measured gaps break; empty unless there is a defect")
        List<String> violatedBounds,

        @JsonUnwrapped(prefix = "masked_") Masked masked,
        @JsonUnwrapped(prefix = "baseline_") Baseline baseline,
        @JsonUnwrapped Sections sections,
        @JsonUnwrapped GapAssessment geometry) {

    /** Names a window. */
    public record Header(
            @JsonPropertyDescription("the site") String site,

            @JsonPropertyDescription("event time at which the window begins")
            long windowStartMs,

            @JsonPropertyDescription("event time at which the window ends, exclusive")
            long windowEndMs,

            @JsonPropertyDescription("what closed the window: `event_time`, `idle` or `max_hold`")
            String closedBy) {}

    /** Counts what came. */
    public record Counts(
            @JsonPropertyDescription("records that contributed rows")
            long requests,

            @JsonPropertyDescription("requests that were scored one by one")
            long requestsScored,

            @JsonPropertyDescription("records of other requests, beyond the number that is kept")
            long recordsNotScored,

            @JsonPropertyDescription("records that brought [moments instead of rows](moment-records.md)")
            long momentRecords) {}

    /** Holds the verdict and the number it rests on. */
    public record Judged(
            @JsonPropertyDescription("`aligned`, `drifted` or `undecided`")
            Verdict verdict,

            @JsonPropertyDescription("one clause for the verdict; what goes with it is in `worst_requests`, "
                    + "`coverage.moved` and `cause.sentence`, and what the threshold rests on is `basis` of "
                    + "its statistic")
            String reason,

            @JsonPropertyDescription(
                    "the statistic that the verdict rests on; of several the one farthest above its threshold")
            String trigger,

            @JsonPropertyDescription("its value") @Nullable Double triggerValue,

            @JsonPropertyDescription("the value it must exceed") @Nullable
            Double threshold) {

        /** Returns the number that stands for the window; null where it is undecided, since no number decides it. */
        public @Nullable Headline headline() {
            return verdict == Verdict.UNDECIDED ? null : Headline.of(trigger, triggerValue, threshold);
        }
    }

    /** Holds the statistics that the site is watched by. */
    public record Evidence(
            @JsonPropertyDescription("every statistic that triggers or warns, with its own threshold")
            List<StatisticReport> statistics,

            @JsonPropertyDescription("the verdict of the statistics that warn; null without any") @Nullable
            Verdict warning,

            @JsonPropertyDescription("a sentence for it") @Nullable
            String warningReason,

            @JsonPropertyDescription("evidence added up over windows, for each statistic under `sequential`")
            List<SequentialReport> sequential) {}

    /** Says how the decoder in service does, and what the window asked the adapter for. */
    public record InService(
            @JsonPropertyDescription("FVU of the decoder in service, on the rows that the trained one is measured on")
            @Nullable
            Double reconstructionFvu,

            @JsonPropertyDescription("faithfulness gap of the decoder in service; null for some seconds after a swap")
            @Nullable
            Double activeFaithfulnessGap,

            @JsonPropertyDescription("version of the decoder in service, 0 for the trained one")
            long decoderVersion,

            @JsonPropertyDescription("whether the window sent its sampled rows to the adapter")
            boolean adaptationRequested,

            @JsonPropertyDescription(
                    "whether the window asked for the trained decoder because the one in service does worse")
            boolean rollbackRequested) {}

    /** Counts the rows that were taken out before everything else. */
    public record Masked(
            @JsonPropertyDescription("rows taken out for their token")
            long byToken,

            @JsonPropertyDescription("rows taken out for their norm")
            long byNorm,

            @JsonPropertyDescription("both, as a share of the rows that came")
            double share) {}

    /** Names a baseline. */
    public record Baseline(
            @JsonPropertyDescription("when the site's baseline was made") @Nullable
            Long createdMs,

            @JsonPropertyDescription("1 for a baseline that replaced none") @Nullable
            Long revision,

            @JsonPropertyDescription("checksum of its content, `content_sha256` in its file") @Nullable
            String sha256) {}

    /**
     * The header of a report that holds the account of its rows: JSON of what became of every row of the site up to
     * this window, a {@link io.plumbline.topology.panes.RowAccount} with its keys in snake case.
     */
    public static final String ACCOUNT_HEADER = "plumbline.account";

    /** Returns what {@link Headline#overThreshold} is here; in JSON beside the threshold's key. */
    @JsonProperty("over_threshold")
    @JsonPropertyDescription(
            "`trigger_value` / `threshold`: above 1 the window counts towards a drift; null where either is missing, "
                    + "the threshold is not above 0, or the verdict is `undecided`")
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
