package io.plumbline.topology.config;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RequestModel;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.Statistic;
import io.plumbline.groups.NewGroups;
import io.plumbline.judgement.RequestDetector;
import io.plumbline.judgement.SequentialDetector;
import io.plumbline.judgement.SequentialRule;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Holds what a site asks of its baseline against what the baseline has. */
final class BaselineCheck {

    private BaselineCheck() {}

    /** Refuses a baseline that was made of another explainer, or of other rows. */
    static void checkBelongTogether(
            SiteSettings settings, Explainer explainer, Baseline baseline, List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        if (baseline.dimension() != explainer.targetWidth()) {
            problems.add("baseline: of dimension %d, but the explainer writes %d"
                    .formatted(baseline.dimension(), explainer.targetWidth()));
        } else if (!baseline.explainerSha256().equals(explainer.decoder().sha256())) {
            problems.add("baseline: made with decoder %s, but %s holds %s; run `plumbline baseline` again"
                    .formatted(
                            baseline.explainerSha256(),
                            explained.explainer(),
                            explainer.decoder().sha256()));
        }
        String otherFeatures = WatchedSite.otherFeatures(explainer, baseline);
        if (otherFeatures != null) {
            problems.add(otherFeatures);
        }
        String otherRows = WatchedSite.otherRows(settings, baseline);
        if (otherRows != null) {
            problems.add(otherRows);
        }
        String fewerEncodedRows = WatchedSite.fewerEncodedRows(settings, baseline);
        if (fewerEncodedRows != null) {
            problems.add(fewerEncodedRows);
        }
        if (baseline.rowCount() < explained.rank()) {
            problems.add("baseline: %d rows do not span a subspace of rank %d"
                    .formatted(baseline.rowCount(), explained.rank()));
        }
    }

    /** Refuses what no window of any number of rows could be judged by. */
    static void checkCalibration(SiteSettings settings, Baseline baseline, List<String> problems) {
        SiteSettings.Alarms alarms = settings.alarms();
        List<Threshold> ofTriggers = new ArrayList<>(List.of(alarms.threshold()));
        Threshold clear = alarms.clear();
        if (clear != null) {
            ofTriggers.add(clear);
        }
        for (Threshold threshold : ofTriggers) {
            checkCleanWindows(settings, baseline, alarms.triggers(), threshold, problems);
        }
        SequentialRule sequential = alarms.sequential();
        if (sequential != null) {
            checkSequential(settings, baseline, sequential, problems);
        }
        if (!alarms.warn().isEmpty()) {
            checkCleanWindows(settings, baseline, alarms.warn(), alarms.warnThreshold(), problems);
        }
    }

    private static void checkSequential(
            SiteSettings settings, Baseline baseline, SequentialRule sequential, List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        int least = SequentialDetector.ofRunLength(sequential.windowsPerAlarm()).leastClean();
        for (String statistic : sequential.statistics()) {
            if (statistic.equals(Statistic.REQUEST_SHIFT.label())) {
                checkRequests(baseline.requests(), sequential, problems);
                continue;
            }
            int most = baseline.samplesOf(explained.rank()).stream()
                    .mapToInt(sample -> sample.values(statistic).length)
                    .max()
                    .orElse(0);
            if (most < least) {
                problems.add(("sequential: one false alarm of %s in %.0f windows needs %d clean windows of rank %d, the"
                                + " baseline has %d and would not find a full drift in %d windows; run"
                                + " `plumbline baseline --rank %d` with more rows, or set a shorter average_run_length")
                        .formatted(
                                statistic,
                                sequential.windowsPerAlarm(),
                                least,
                                explained.rank(),
                                most,
                                SequentialDetector.REACH,
                                explained.rank()));
            }
        }
    }

    private static void checkRequests(
            @Nullable RequestModel requests, SequentialRule sequential, List<String> problems) {
        int least = RequestDetector.ofRunLength(sequential.windowsPerAlarm()).leastClean();
        if (requests == null) {
            problems.add("sequential: request_shift: " + RequestModel.MISSING);
        } else if (requests.requests() < least) {
            problems.add(
                    ("sequential: one false alarm of request_shift in %.0f windows needs a baseline of %d requests, "
                                    + "it has"
                                    + " %d; run `plumbline baseline` with more, or set a shorter average_run_length")
                            .formatted(sequential.windowsPerAlarm(), least, requests.requests()));
        }
    }

    private static void checkCleanWindows(
            SiteSettings settings,
            Baseline baseline,
            List<String> statistics,
            Threshold threshold,
            List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        if (!threshold.isCalibrated()) {
            return;
        }
        // A promise about new groups rests on the baseline's requests.
        List<String> byWindows =
                threshold instanceof Threshold.FalseAlarms ? DriftJudge.withoutNewGroup(statistics) : statistics;
        if (byWindows.isEmpty()) {
            if (baseline.groups() == null) {
                problems.add("trigger: " + Statistic.NEW_GROUP.label() + ": " + NewGroups.NOT_KEPT);
            }
            return;
        }
        int mostWindows = 0;
        int levels = 0;
        boolean mute = true;
        DriftJudge judge = judge(settings, baseline, statistics, threshold);
        for (NullSample sample : baseline.samplesOf(explained.rank())) {
            for (String statistic : byWindows) {
                mostWindows = Math.max(mostWindows, sample.values(statistic).length);
                if (judge.level(statistic, sample) instanceof Level.Known known) {
                    levels++;
                    mute &= judge.isOutOfReach(statistic, known.value(), sample.rank());
                }
            }
        }
        if (levels > 0) {
            if (mute) {
                problems.add(
                        ("no threshold of %s can be reached, since the clean windows of the baseline differ too much "
                                        + "from each other: %s")
                                .formatted(String.join(", ", byWindows), DriftJudge.MIX));
            }
            return;
        }
        String of = String.join(", ", byWindows);
        String asked = threshold instanceof Threshold.QuantileOfCleanWindows quantile
                ? "threshold: quantile %s of %s".formatted(quantile.quantile(), of)
                : "threshold: a promise about false alarms of " + of;
        String others = baseline.samples().stream()
                .map(sample -> Integer.toString(sample.rank()))
                .distinct()
                .collect(Collectors.joining(", "));
        boolean otherRank = baseline.samplesOf(explained.rank()).isEmpty() && !others.isEmpty();
        problems.add("%s needs %d clean windows of rank %d, the baseline has %d%s; run `plumbline baseline --rank %d`%s"
                .formatted(
                        asked,
                        leastWindows(threshold),
                        explained.rank(),
                        mostWindows,
                        otherRank ? " and others of rank " + others : "",
                        explained.rank(),
                        otherRank ? ", or set a rank it has" : " with more rows, or set a number"));
    }

    /** Returns the judge of a site by some of its statistics. */
    static DriftJudge judge(SiteSettings settings, Baseline baseline, List<String> statistics, Threshold threshold) {
        return new DriftJudge(
                baseline,
                statistics,
                threshold,
                threshold,
                settings.alarms().debounce(),
                settings.alarms().minimumRows());
    }

    /**
     * Returns the least number of clean windows a threshold needs; below it there is no level. A promise that few
     * windows cannot keep becomes a weaker one, which is no problem.
     */
    private static int leastWindows(Threshold threshold) {
        return threshold instanceof Threshold.QuantileOfCleanWindows quantile ? quantile.windowsNeeded() : 1;
    }
}
