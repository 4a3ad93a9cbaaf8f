package io.plumbline.topology.operate;

import io.plumbline.judgement.Verdict;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.WindowReport;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/** Finds windows in which nothing had drifted, by their reports. */
final class AlignedWindows {

    private AlignedWindows() {}

    /** Returns whether a window is above its threshold, and debounce waits for another before it says so. */
    private static boolean isAbove(WindowReport.Judged judged) {
        return judged.triggerValue() != null
                && judged.threshold() != null
                && judged.triggerValue() > judged.threshold();
    }

    /**
     * Returns the starts of the last windows that were aligned, and not above a threshold either, at every one of these
     * sites, oldest first.
     *
     * @throws UsageException when there are fewer
     */
    static List<Long> last(MonitorConfig config, Set<String> sites, int windows) {
        TreeMap<Long, Set<String>> aligned = new TreeMap<>();
        new ReportHistory<>(config, config.topics().windowReports(), WindowReport.class).forEach(report -> {
            String site = report.header().site();
            if (sites.contains(site)) {
                Set<String> at = aligned.computeIfAbsent(report.header().windowStartMs(), start -> new HashSet<>());
                if (report.judged().verdict() == Verdict.ALIGNED && !isAbove(report.judged())) {
                    at.add(site);
                } else {
                    at.remove(site);
                }
            }
        });
        int reported = aligned.size();
        aligned.values().removeIf(at -> at.size() < sites.size());
        if (aligned.size() < windows) {
            throw new UsageException("--aligned = %d: %s has reports of %d windows of %s, and %d of them were aligned%s"
                    .formatted(
                            windows,
                            config.topics().windowReports(),
                            reported,
                            String.join(", ", sites),
                            aligned.size(),
                            sites.size() == 1 ? "" : " at all of these"));
        }
        return aligned.descendingKeySet().stream().limit(windows).sorted().toList();
    }
}
