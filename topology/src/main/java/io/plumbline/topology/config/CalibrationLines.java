package io.plumbline.topology.config;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RequestModel;
import io.plumbline.geometry.Statistic;
import io.plumbline.groups.NewGroups;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.Basis;
import io.plumbline.judgement.RequestDetector;
import io.plumbline.judgement.SequentialRule;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import io.plumbline.topology.assessment.SiteSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Says in words what the thresholds that a baseline gives a site come to, and what they promise. */
final class CalibrationLines {

    private CalibrationLines() {}

    /** Returns a line for every size that the baseline has clean windows of, and one for every other promise. */
    static List<String> of(SiteSettings settings, Baseline known) {
        SiteSettings.Alarms alarms = settings.alarms();
        List<String> lines = new ArrayList<>();
        addLines(lines, settings, known, "", alarms.triggers(), alarms.threshold());
        addLines(lines, settings, known.byItself(), ", warn", alarms.warn(), alarms.warnThreshold());
        if (alarms.threshold().isCalibrated()) {
            known.otherSizes(settings.explained().rank(), alarms.minimumRows()).ifPresent(lines::add);
        }
        addNeeded(lines, "trigger", alarms.triggers(), alarms.threshold());
        addNeeded(lines, "warn", alarms.warn(), alarms.warnThreshold());
        addSequential(lines, known.requests(), alarms.sequential());
        return lines;
    }

    private static void addLines(
            List<String> lines,
            SiteSettings settings,
            Baseline known,
            String role,
            List<String> statistics,
            Threshold threshold) {
        List<String> others = DriftJudge.withoutNewGroup(statistics);
        if (!threshold.isCalibrated() || others.isEmpty()) {
            return;
        }
        DriftJudge judge = BaselineCheck.judge(settings, known, statistics, threshold);
        List<String> together =
                DriftJudge.together(known, others, settings.explained().rank());
        for (NullSample sample : known.samplesOf(settings.explained().rank())) {
            Level own = sample.level(together, together.get(0), threshold, known.dimension());
            lines.add("windows of %s (%,d clean%s): %s"
                    .formatted(
                            Amounts.count(sample.rowsPerWindow(), "row"),
                            sample.values(together.get(0)).length,
                            role,
                            own instanceof Level.Unknown && judge.level(together.get(0), sample) instanceof Level.Known
                                    ? "too few, so the next smaller size's thresholds hold"
                                    : levels(judge, sample, together)));
            judge.byRequests(sample)
                    .ifPresent(requests ->
                            lines.add(byRequests(Statistic.REQUEST_EVIDENCE_BY_RANKS, sample, role, requests)));
            judge.byGroups(sample)
                    .ifPresent(requests -> lines.add(byRequests(Statistic.NEW_GROUP, sample, role, requests)));
            unreachable(judge, sample, together).ifPresent(lines::add);
        }
        if (!others.equals(statistics) && known.groups() == null) {
            lines.add("%s is left out: %s".formatted(Statistic.NEW_GROUP.label(), NewGroups.NOT_KEPT));
        }
        for (String statistic : others) {
            if (!together.contains(statistic)) {
                lines.add("%s is left out, since no clean window has it: the others decide".formatted(statistic));
            }
        }
    }

    private static String byRequests(
            Statistic statistic, NullSample sample, String role, DriftJudge.ByRequests requests) {
        Basis basis = Objects.requireNonNull(requests.level().basis());
        return String.format(
                Locale.ROOT,
                "windows of %s, about %s (%,d clean%s): %s %.4g; %s",
                Amounts.count(sample.rowsPerWindow(), "row"),
                Amounts.count(requests.requests(), "request"),
                basis.count(),
                role,
                statistic.label(),
                requests.level().value(),
                basis.promise());
    }

    /** The thresholds of all statistics at one size, and the promise that they keep together. */
    private static String levels(DriftJudge judge, NullSample sample, List<String> together) {
        List<String> levels = new ArrayList<>();
        String promise = "";
        for (String statistic : together) {
            Level level = judge.level(statistic, sample);
            if (level instanceof Level.Unknown unknown) {
                return "no threshold for %s: %s".formatted(statistic, unknown.reason());
            }
            Level.Known known = (Level.Known) level;
            Basis basis = known.basis();
            levels.add(String.format(Locale.ROOT, "%s %.4g", statistic, known.value()));
            promise = basis == null ? "" : "; " + basis.promise();
        }
        return String.join(", ", levels) + promise;
    }

    /** Says which statistics cannot alarm at a size, and which then decide; empty where all can. */
    private static Optional<String> unreachable(DriftJudge judge, NullSample sample, List<String> together) {
        List<String> mute = together.stream()
                .filter(statistic -> judge.level(statistic, sample) instanceof Level.Known known
                        && judge.isOutOfReach(statistic, known.value(), sample.rank()))
                .toList();
        if (mute.isEmpty()) {
            return Optional.empty();
        }
        List<String> others =
                together.stream().filter(name -> !mute.contains(name)).toList();
        return Optional.of(
                ("%s cannot raise an alarm in windows of %s: the threshold that keeps the promise lies above every "
                                + "value that makes sense, and more clean windows may lower it; %s")
                        .formatted(
                                String.join(", ", mute),
                                Amounts.count(sample.rowsPerWindow(), "row"),
                                others.isEmpty()
                                        ? "such a window is undecided"
                                        : String.join(", ", others) + (others.size() == 1 ? " decides" : " decide")));
    }

    private static void addNeeded(List<String> lines, String key, List<String> statistics, Threshold threshold) {
        if (!statistics.isEmpty() && threshold instanceof Threshold.FalseAlarms promise) {
            lines.add("%s: %s".formatted(key, promise.windowsNeeded()));
        }
    }

    private static void addSequential(
            List<String> lines, @Nullable RequestModel requests, @Nullable SequentialRule rule) {
        if (requests != null && rule != null && rule.statistics().contains(Statistic.REQUEST_SHIFT.label())) {
            double share =
                    RequestDetector.ofRunLength(rule.windowsPerAlarm()).smallestShareByRanks(requests.requests());
            lines.add(String.format(
                    Locale.ROOT,
                    "sequential: request_shift, %d requests: ranks alone find a drift of about %.2g %% of the "
                            + "requests or"
                            + " more; smaller shares rest on a tail model",
                    requests.requests(),
                    100.0 * share));
        }
    }
}
