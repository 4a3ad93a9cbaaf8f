package io.plumbline.topology.cli;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.Grouping;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RequestModel;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.Basis;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Threshold;
import io.plumbline.moments.SampledRow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;

/** Answers with what a new baseline was measured of, how far its clean windows stray and what they promise. */
public final class BaselineAnswer {

    private static final List<DriftPolicy> DEBOUNCES =
            List.of(DriftPolicy.immediate(), DriftPolicy.STANDARD, new DriftPolicy(3, 3));
    private static final double DAY_MS = 86_400_000.0;

    private BaselineAnswer() {}

    /**
     * Returns the answer.
     *
     * @param builder that the baseline was made by
     * @param file where the baseline lies in the end
     * @param size of the windows that it is to judge
     */
    public static Answer of(Baseline baseline, BaselineBuilder builder, Path file, Duration size) {
        Answer answer = numbers(baseline, file, size);
        sayPromises(answer, baseline, size);
        sayContents(answer, baseline, builder);
        return answer;
    }

    /** Says for each size what its clean windows promise, and how far the standard promise is. */
    private static void sayPromises(Answer answer, Baseline baseline, Duration size) {
        Threshold standard =
                new Threshold.FalseAlarms(AlarmBudget.standard(), AlarmLaw.tumbling(DriftPolicy.STANDARD, size));
        if (baseline.samples().isEmpty()) {
            answer.say("no clean window: nothing is promised about false alarms; record more rows, or set a number");
        }
        for (NullSample sample : baseline.samples()) {
            List<String> together = DriftJudge.together(baseline, DriftJudge.DEFAULT_TRIGGERS, sample.rank());
            Threshold.Level level = together.isEmpty()
                    ? new Threshold.Level.Unknown("no clean window has the statistics that decide")
                    : sample.level(together, together.get(0), standard, baseline.dimension());
            Basis basis = level instanceof Threshold.Level.Known known ? known.basis() : null;
            String promise = level instanceof Threshold.Level.Unknown unknown
                    ? unknown.reason()
                    : basis == null
                            ? "nothing"
                            : "at most " + basis.promise()
                                    + (basis.shortfall() == null ? "" : "; " + basis.shortfall());
            answer.say("promise, windows of %s, rank %d: %s"
                    .formatted(Amounts.count(sample.rowsPerWindow(), "row"), sample.rank(), promise));
            DriftJudge judge =
                    new DriftJudge(baseline, DriftJudge.DEFAULT_TRIGGERS, standard, standard, DriftPolicy.STANDARD, 1);
            judge.byRequests(sample)
                    .ifPresent(requests -> answer.say("promise, by requests beside them, about %s a window: at most %s"
                            .formatted(
                                    Amounts.number((double) requests.requests()),
                                    Objects.requireNonNull(requests.level().basis())
                                            .promise())));
            judge.byGroups(sample)
                    .ifPresent(groups -> answer.say("promise of new groups, more than %s of %s pooled: at most %s"
                            .formatted(
                                    Amounts.number(groups.level().value()),
                                    Amounts.count(groups.requests(), "request"),
                                    Objects.requireNonNull(groups.level().basis())
                                            .promise())));
        }
        baseline.samples().stream()
                .mapToInt(NullSample::rank)
                .distinct()
                .boxed()
                .flatMap(rank -> baseline.otherSizes(rank, 0).stream())
                .distinct()
                .forEach(answer::say);
    }

    private static void sayContents(Answer answer, Baseline baseline, BaselineBuilder builder) {
        answer.say("measured: %s, FVU %s"
                .formatted(Amounts.count(baseline.rowCount(), "row"), Amounts.number(baseline.reconstructionFvu())));
        if (builder.repeatedRequests() > 0) {
            answer.say("counted once: %s with %s that the recording holds again, bit for bit"
                    .formatted(
                            Amounts.count(builder.repeatedRequests(), "request"),
                            Amounts.count(builder.repeatedRows(), "row")));
        }
    }

    private static Answer numbers(Baseline baseline, Path file, Duration size) {
        Answer answer = new Answer()
                .put("out", file.toString())
                .put("explainer_sha256", baseline.explainerSha256())
                .put("rows", baseline.rowCount())
                .put("dimension", baseline.dimension())
                .put("sample_rows", baseline.rows().size())
                .put(
                        "sample_requests",
                        baseline.rows().stream()
                                .mapToLong(SampledRow::request)
                                .distinct()
                                .count())
                .put("second_moment_trace", baseline.moment().trace())
                .put("reconstruction_fvu", baseline.reconstructionFvu());
        Grouping grouping = baseline.grouping();
        if (grouping == null) {
            answer.putUndefined("design_effect_second_moment", "one request only, or rows that do not vary");
        } else if (grouping.requests() < Grouping.FEWEST_REQUESTS) {
            answer.put("requests", grouping.requests())
                    .putUndefined(
                            "effective_rows",
                            "%s: how alike rows of one request are shows in %d or more"
                                    .formatted(
                                            Amounts.count(grouping.requests(), "request"), Grouping.FEWEST_REQUESTS));
        } else {
            answer.put("requests", grouping.requests())
                    .put("design_effect_second_moment", grouping.momentDesignEffect())
                    .put("design_effect_mean", grouping.meanDesignEffect())
                    .put("effective_rows", grouping.effectiveRows(baseline.rowCount()));
        }
        answer.put("encoded_rows", baseline.encodedRows());
        if (baseline.requests() == null) {
            answer.putUndefined("request_scores", RequestModel.MISSING);
        } else {
            answer.put("request_scores", baseline.requests().requests());
        }
        if (!baseline.wholeRequests().isEmpty()) {
            answer.put("whole_requests", baseline.wholeRequests().size());
        }
        for (NullSample sample : baseline.samples()) {
            putSpread(answer, sample);
            DriftJudge.JUDGED_AS_ONE.stream()
                    .filter(statistic -> !statistic.equals(DriftJudge.DEFAULT_TRIGGER))
                    .forEach(statistic -> putSpread(answer, sample, statistic));
            if (sample.values(Statistic.KL.label()).length > 0) {
                putSpread(answer, sample, Statistic.KL.label());
            }
            putSupport(answer, sample, size);
        }
        return answer;
    }

    /** Adds how far the gap strays by itself: what a threshold written as a number is chosen by. */
    private static void putSpread(Answer answer, NullSample sample) {
        String of = "_rank_%d_rows_%d".formatted(sample.rank(), sample.rowsPerWindow());
        DescriptiveStatistics clean = new DescriptiveStatistics(sample.values(DriftJudge.DEFAULT_TRIGGER));
        answer.put("clean_windows" + of, clean.getN());
        Map<String, Double> spread = new LinkedHashMap<>();
        spread.put("minimum", clean.getMin());
        spread.put("median", clean.getPercentile(50.0));
        spread.put("maximum", clean.getMax());
        spread.put("standard_deviation", clean.getN() < 2 ? Double.NaN : clean.getStandardDeviation());
        spread.forEach((name, value) -> {
            String key = DriftJudge.DEFAULT_TRIGGER + "_" + name + of;
            if (value.isNaN()) {
                answer.putUndefined(key, "%d clean windows of that size".formatted(clean.getN()));
            } else {
                answer.put(key, value);
            }
        });
    }

    /**
     * Adds how far another statistic strays by itself, in one line: minimum, median and maximum of the clean windows.
     */
    private static void putSpread(Answer answer, NullSample sample, String statistic) {
        String key = "%s_min_median_max_rank_%d_rows_%d".formatted(statistic, sample.rank(), sample.rowsPerWindow());
        DescriptiveStatistics clean = new DescriptiveStatistics(sample.values(statistic));
        if (clean.getN() == 0) {
            answer.putUndefined(key, "no clean window of that size has it");
        } else {
            answer.put(key, List.of(clean.getMin(), clean.getPercentile(50.0), clean.getMax()));
        }
    }

    /** Adds what a threshold taken from these windows can promise at best: one at the largest clean value. */
    private static void putSupport(Answer answer, NullSample sample, Duration size) {
        String of = "_rank_%d_rows_%d".formatted(sample.rank(), sample.rowsPerWindow());
        int windows = sample.values(DriftJudge.DEFAULT_TRIGGER).length;
        if (windows == 0) {
            answer.putUndefined("smallest_false_alarm_rate" + of, "no clean windows of that size");
            return;
        }
        answer.put("mean_rows" + of, sample.meanRows());
        answer.put(
                "smallest_false_alarm_rate" + of,
                AlarmLaw.tumbling(DriftPolicy.immediate(), size).perWindow(windows, 1));
        for (DriftPolicy debounce : DEBOUNCES) {
            AlarmLaw law = AlarmLaw.tumbling(debounce, size);
            answer.put(
                    "days_per_false_alarm_%d_of_%d".formatted(debounce.needed(), debounce.memory()) + of,
                    law.millisecondsBetween(law.alarmsPerWindow(windows, 1)) / DAY_MS);
        }
    }
}
