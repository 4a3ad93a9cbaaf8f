package io.plumbline.topology.config;

import io.plumbline.baseline.DriftJudge;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.Threshold;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads {@code threshold}, {@code clear} and {@code warn_threshold} of a site. */
final class ThresholdReader {

    private static final List<String> FORMS = List.of("false_alarms", "false_alarm_rate", "share", "quantile");
    private static final String EXPECTED =
            "takes one of {false_alarms: 1 per 30d}, {false_alarm_rate: 0.01}, {share: 0.6} and {quantile: 0.95}";

    private final List<String> statistics;
    private final int rank;
    private final AlarmLaw law;

    ThresholdReader(List<String> statistics, int rank, AlarmLaw law) {
        this.statistics = statistics;
        this.rank = rank;
        this.law = law;
    }

    /** Returns the threshold, or the standard promise about false alarms where the key is absent. */
    Threshold threshold(ConfigNode site, String key) {
        if (site.has(key)) {
            return read(site, key);
        }
        return statistics.isEmpty()
                ? new Threshold.FalseAlarms(AlarmBudget.standard(), law)
                : calibrated(site.child(key), FORMS.get(0));
    }

    /** Returns the threshold of the key, or null where it is absent. */
    @Nullable
    Threshold clear(ConfigNode site, Threshold threshold) {
        if (!site.has("clear")) {
            return null;
        }
        Threshold clear = read(site, "clear");
        if (clear instanceof Threshold.FalseAlarms) {
            site.problem(
                    "clear",
                    "is a level to come back below, which raises no alarm: expected {quantile: 0.9} or a number, or"
                            + " nothing for the threshold itself");
        } else if (clear.getClass() != threshold.getClass() && !threshold.isCalibrated()) {
            site.problem("clear", "has another form than threshold: expected both as numbers, shares or quantiles");
        } else if (clear.getClass() == threshold.getClass() && level(clear) > level(threshold)) {
            site.problem("clear", level(clear), "expected at most the threshold, " + level(threshold));
        }
        return clear;
    }

    private Threshold read(ConfigNode node, String key) {
        if (!node.isMapping(key)) {
            return number(node, key);
        }
        ConfigNode form = node.child(key);
        List<String> given = FORMS.stream().filter(form::has).toList();
        Threshold read = given.size() == 1
                ? calibrated(form, given.get(0))
                : new Threshold.FalseAlarms(AlarmBudget.standard(), law);
        if (given.size() != 1) {
            node.problem(key, EXPECTED);
        }
        form.refuseUnknownKeys();
        return read;
    }

    private Threshold calibrated(ConfigNode form, String kind) {
        return switch (kind) {
            case "false_alarms" ->
                new Threshold.FalseAlarms(
                        form.parsed(kind, AlarmBudget.standard(), text -> AlarmText.budget(text, law.advance())), law);
            case "false_alarm_rate" ->
                new Threshold.FalseAlarms(
                        new AlarmBudget.PerWindow(form.parsed(
                                kind, 0.01, text -> openUnit(text, "0.01 is passed by 1 % of clean windows"))),
                        law);
            case "share" -> {
                for (String statistic : statistics) {
                    if (!DriftJudge.isGap(statistic)) {
                        form.problem(
                                kind,
                                "is a share of the largest possible gap: expected it with a gap as trigger, not "
                                        + statistic);
                    }
                }
                yield new Threshold.ShareOfLargestGap(form.parsed(
                        kind, 0.5, text -> openUnit(text, "0.6 alerts at 60 % of the largest possible gap")));
            }
            default ->
                new Threshold.QuantileOfCleanWindows(
                        form.parsed(kind, 0.95, text -> openUnit(text, "0.95 is passed by 5 % of clean windows")));
        };
    }

    private Threshold number(ConfigNode node, String key) {
        double value = node.real(key, 1.0, 0.0, Double.MAX_VALUE);
        double ceiling = Math.sqrt(2.0 * rank);
        if (statistics.size() > 1) {
            node.problem(
                    key,
                    value,
                    "is in one statistic's own units, but there are %d: expected {false_alarms: 1 per 30d}"
                            .formatted(statistics.size()));
        } else if (statistics.stream().anyMatch(DriftJudge::isGap) && value >= ceiling) {
            node.problem(
                    key,
                    value,
                    "expected less than sqrt(2 rank) = %.4g: no gap of rank %d exceeds that, so this never fires"
                            .formatted(ceiling, rank));
        }
        return new Threshold.Fixed(value);
    }

    private static double level(Threshold threshold) {
        if (threshold instanceof Threshold.Fixed fixed) {
            return fixed.value();
        }
        if (threshold instanceof Threshold.ShareOfLargestGap share) {
            return share.share();
        }
        return ((Threshold.QuantileOfCleanWindows) threshold).quantile();
    }

    private static double openUnit(String text, String meaning) {
        double number = ConfigNode.inRange(text, -Double.MAX_VALUE, Double.MAX_VALUE);
        if (!(number > 0.0 && number < 1.0)) {
            throw new IllegalArgumentException("expected a number between 0 and 1; " + meaning);
        }
        return number;
    }
}
