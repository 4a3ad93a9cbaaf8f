package io.plumbline.topology.assessment;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RequestModel;
import io.plumbline.baseline.WindowRequests;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.RequestDetector;
import io.plumbline.judgement.RequestDetector.Memory;
import io.plumbline.judgement.SequentialDetector;
import io.plumbline.judgement.SequentialRule;
import io.plumbline.judgement.SequentialState;
import io.plumbline.topology.report.SequentialReport;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sequential detectors of one site. Pure: what they remember goes in and comes out.
 *
 * <p>A window is compared with clean windows of the largest size for which it has enough rows and the baseline has
 * enough clean windows for the run length. What sampling adds falls with rows, so the comparison errs on the safe side.
 * A statistic that grows with requests is compared in clean windows of the smallest size whose windows all have as many
 * rows. A window that cannot be compared is passed over and changes nothing. Of {@code request_shift} the scores of its
 * requests are taken one by one and compared with those of the baseline's requests, whatever the window's size. One
 * whose verdict is drifted adds evidence, and later windows are not compared with it.
 */
final class SequentialWatch {

    private final Baseline baseline;
    private final int minimumRows;
    private final SequentialRule rule;
    private final SequentialDetector detector;
    private final int leastClean;
    private final RequestDetector requestDetector;
    private final double[] cleanScores;

    /** The key under which the evidence of the tail model is remembered, beside that of the ranks. */
    private static final String TAIL = Statistic.REQUEST_SHIFT.label() + " tail";

    SequentialWatch(Baseline baseline, int minimumRows, SequentialRule rule) {
        this.baseline = baseline;
        this.minimumRows = minimumRows;
        this.rule = rule;
        this.detector = SequentialDetector.ofRunLength(rule.windowsPerAlarm());
        this.leastClean = detector.leastClean();
        this.requestDetector = RequestDetector.ofRunLength(rule.windowsPerAlarm());
        RequestModel requests = baseline.requests();
        this.cleanScores = requests == null ? new double[0] : requests.baselineScores();
    }

    /** The detectors' memories by statistic, and their reports. */
    record Taken(Map<String, SequentialState> states, List<SequentialReport> reports) {}

    /**
     * Takes one window.
     *
     * @param requests scores of its requests
     * @param drifted whether the site's verdict is drifted with this window
     */
    Taken take(
            Map<String, SequentialState> states,
            ClosedWindow window,
            GapAssessment geometry,
            WindowRequests requests,
            boolean drifted) {
        Map<String, SequentialState> next = new LinkedHashMap<>();
        List<SequentialReport> reports = new ArrayList<>();
        for (String statistic : rule.statistics()) {
            if (statistic.equals(Statistic.REQUEST_SHIFT.label())) {
                reports.add(takeRequests(
                        states, next, window, geometry, requests.means().scores(), drifted));
                continue;
            }
            SequentialState state = states.getOrDefault(statistic, SequentialState.INITIAL);
            double[] clean = clean(state, statistic, geometry);
            Double value = geometry.statistics().get(statistic);
            String passedOver = passedOver(window, geometry, clean, statistic, value);
            if (passedOver != null || clean == null || value == null) {
                next.put(statistic, state);
                reports.add(new SequentialReport(
                        statistic, null, detector.level(), null, state.windows(), null, passedOver));
            } else {
                SequentialDetector.Step step = detector.next(state, new double[] {value}, clean, !drifted);
                next.put(statistic, step.state());
                reports.add(new SequentialReport(
                        statistic,
                        step.evidence(),
                        detector.level(),
                        step.alarm(),
                        step.state().windows(),
                        null,
                        null));
            }
        }
        return new Taken(next, reports);
    }

    private SequentialReport takeRequests(
            Map<String, SequentialState> states,
            Map<String, SequentialState> next,
            ClosedWindow window,
            GapAssessment geometry,
            double[] scores,
            boolean drifted) {
        String statistic = Statistic.REQUEST_SHIFT.label();
        Memory memory = new Memory(
                states.getOrDefault(statistic, SequentialState.INITIAL),
                states.getOrDefault(TAIL, SequentialState.INITIAL));
        String passedOver = passedOver(window, geometry);
        if (passedOver == null && scores.length == 0) {
            passedOver = undefined(geometry, statistic);
        }
        if (passedOver == null && cleanScores.length < requestDetector.leastClean()) {
            passedOver = "the baseline has %s, and %s are needed"
                    .formatted(
                            Amounts.count(cleanScores.length, "request"), Amounts.number(requestDetector.leastClean()));
        }
        RequestDetector.Step step =
                passedOver == null ? requestDetector.next(memory, scores, cleanScores, !drifted) : null;
        Memory after = step == null ? memory : step.memory();
        next.put(statistic, after.ranks());
        next.put(TAIL, after.tail());
        return new SequentialReport(
                statistic,
                step == null ? null : step.evidence(),
                requestDetector.level(),
                step == null ? null : step.alarm(),
                after.ranks().windows(),
                step == null ? null : step.mode().label(),
                passedOver);
    }

    private static String undefined(GapAssessment geometry, String statistic) {
        return "%s is undefined: %s"
                .formatted(statistic, geometry.undefined().getOrDefault(statistic, "no reason given"));
    }

    private @Nullable String passedOver(
            ClosedWindow window,
            GapAssessment geometry,
            double @Nullable [] clean,
            String statistic,
            @Nullable Double value) {
        String reason = passedOver(window, geometry);
        if (reason != null) {
            return reason;
        }
        if (clean == null) {
            return ("it has %s, and there are not %d clean windows of rank %d with as %s: "
                            + "run `plumbline baseline --rank %d --window-rows %d`")
                    .formatted(
                            Amounts.count(geometry.rows(), "row"),
                            leastClean,
                            geometry.rank(),
                            grows(statistic) ? "many" : "few",
                            geometry.rank(),
                            geometry.rows());
        }
        return value == null ? undefined(geometry, statistic) : null;
    }

    private @Nullable String passedOver(ClosedWindow window, GapAssessment geometry) {
        if (!window.complete()) {
            return "some messages of the window's panes did not arrive";
        }
        if (Math.floorMod(window.startMs(), rule.stride().toMillis()) != 0) {
            return "it shares rows with a window that is taken";
        }
        if (geometry.rows() < minimumRows) {
            return "it has %s, at least %s are asked for"
                    .formatted(Amounts.count(geometry.rows(), "row"), Amounts.number(minimumRows));
        }
        return null;
    }

    /**
     * Returns the clean values to compare with: those the state began with, otherwise those of the size that fits best;
     * null where none fits or has enough windows.
     */
    private double @Nullable [] clean(SequentialState state, String statistic, GapAssessment geometry) {
        boolean grows = grows(statistic);
        double[] best = null;
        for (NullSample sample : baseline.samplesOf(geometry.rank())) {
            double[] values = sample.values(statistic);
            boolean fits = grows ? sample.fewestRows() >= geometry.rows() : sample.rowsPerWindow() <= geometry.rows();
            if (fits && values.length >= leastClean) {
                if (state.goesOnWith(values)) {
                    return values;
                }
                best = grows && best != null ? best : values;
            }
        }
        return best;
    }

    private static boolean grows(String statistic) {
        return Statistic.find(statistic).filter(Statistic::growsWithRequests).isPresent();
    }
}
