package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.judgement.Verdict;
import java.util.Comparator;
import java.util.Optional;
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

        @JsonPropertyDescription("whether it does; null where that cannot be said") @Nullable
        Boolean exceeded,

        @JsonPropertyDescription("false alarms a day that its threshold rests on, of all sites together, at most")
        @Nullable
        Double alarmsPerDay) {

    /** Orders sites by how many times its threshold the deciding statistic is, the undecided ones first. */
    static final Comparator<SiteStanding> BADNESS = Comparator.comparingDouble(SiteStanding::height);

    /** Returns how a site stands by the report of its window. */
    public static SiteStanding of(WindowReport report) {
        WindowReport.Judged judged = report.judged();
        Optional<StatisticReport> deciding = report.evidence().statistics().stream()
                .filter(one -> one.role().equals(StatisticReport.TRIGGER))
                .filter(one -> one.statistic().equals(judged.trigger()))
                .findFirst();
        return new SiteStanding(
                report.header().site(),
                judged.verdict(),
                judged.trigger(),
                judged.triggerValue(),
                judged.threshold(),
                deciding.map(StatisticReport::exceeded).orElse(null),
                deciding.map(StatisticReport::alarmsPerDay).orElse(null));
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
        return height() > 1.0;
    }

    /**
     * Returns how many times its threshold the site is: just above 1 where it is above a threshold that is not above 0,
     * below 0 where it could not be judged.
     */
    public double height() {
        Double over = overThreshold();
        return over != null
                ? over
                : verdict != Verdict.UNDECIDED && Boolean.TRUE.equals(exceeded) ? Math.nextUp(1.0) : -1.0;
    }
}
