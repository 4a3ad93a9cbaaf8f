package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.judgement.Verdict;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** How one site of a model stands in a window. */
public record SiteStanding(
        @JsonPropertyDescription("the site") String site,

        @JsonPropertyDescription("its own, after its own debounce")
        Verdict verdict,

        @JsonPropertyDescription("the statistic that it rests on")
        String trigger,

        @JsonPropertyDescription("its value") @Nullable Double triggerValue,

        @JsonPropertyDescription("the value it must exceed for the model's window to be above") @Nullable
        Double threshold,

        @JsonPropertyDescription("false alarms a day that its threshold rests on, of all sites together, at most")
        @Nullable
        Double alarmsPerDay) {

    /** Orders sites by how many times its threshold the deciding statistic is, the undecided ones first. */
    static final Comparator<SiteStanding> BADNESS = Comparator.comparingDouble(SiteStanding::orBelow);

    /** Returns how a site stands by the report of its window. */
    public static SiteStanding of(WindowReport report) {
        WindowReport.Judged judged = report.judged();
        return new SiteStanding(
                report.header().site(),
                judged.verdict(),
                judged.trigger(),
                judged.triggerValue(),
                judged.threshold(),
                report.evidence().statistics().stream()
                        .filter(one -> one.statistic().equals(judged.trigger()))
                        .map(StatisticReport::alarmsPerDay)
                        .filter(one -> one != null)
                        .findFirst()
                        .orElse(null));
    }

    /** Returns what {@link Headline#overThreshold} is here; in JSON beside the threshold's key. */
    @JsonProperty("over_threshold")
    @JsonPropertyDescription("`trigger_value` / `threshold`; null where the window of the site is `undecided`")
    public @Nullable Double overThreshold() {
        return verdict == Verdict.UNDECIDED
                ? null
                : Headline.of(trigger, triggerValue, threshold).overThreshold();
    }

    /** Returns whether the window of the site is above its threshold. */
    public boolean isAbove() {
        return orBelow() > 1.0;
    }

    private double orBelow() {
        Double over = overThreshold();
        return over == null ? -1.0 : over;
    }
}
