package io.plumbline.detection;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.CleanWindowPass;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RecordedWindow;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.DriftState;
import io.plumbline.judgement.DriftVerdict;
import io.plumbline.judgement.Threshold;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.records.ActivationBatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * Computes every statistic of Plumbline on the same windows of whole requests: calibrated on clean windows as a
 * baseline file has them, then asked about others.
 */
public final class DetectionBench {

    /** Every statistic that measures drift by itself. */
    public static final List<String> STATISTICS = Arrays.stream(Statistic.values())
            .filter(statistic -> statistic.measuresDrift() && statistic != Statistic.NEW_GROUP)
            .map(Statistic::label)
            .toList();

    /** Statistics that are judged as one, by name: 1 where the window is above any of their levels, else 0. */
    public static final Map<String, List<String>> JUDGED = judged();

    private static final AlarmLaw EACH_WINDOW = AlarmLaw.tumbling(DriftPolicy.immediate(), Duration.ofMinutes(1));

    /** The rate of false alarms in clean windows, for those that are judged as one. */
    private static final double RATE = 0.05;

    private final Explainer explainer;
    private final int windowRows;
    private final Baseline baseline;
    private final SiteGeometry geometry;
    private final IdentityHashMap<ActivationBatch, Matrix> reconstructions = new IdentityHashMap<>();
    private final Scores clean = new Scores();
    private final BoundTally bounds = new BoundTally();
    private final Map<String, DriftJudge> judges = new LinkedHashMap<>();

    /** @param requests clean ones; windows are filled from them in order */
    public DetectionBench(Explainer explainer, int rank, int windowRows, List<ActivationBatch> requests) {
        this.explainer = explainer;
        this.windowRows = windowRows;
        // The smaller size is for windows of fewer rows than the clean ones have: between sizes there is a level.
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(rank), List.of(windowRows / 2, windowRows));
        requests.forEach(builder::add);
        CleanWindowPass pass = builder.secondPass();
        requests.forEach(pass::add);
        baseline = pass.build();
        geometry = SiteGeometry.of(explainer.decoder(), baseline.moment(), baseline.reconstructionMoment(), rank);
        Threshold threshold = new Threshold.FalseAlarms(new AlarmBudget.PerWindow(RATE), EACH_WINDOW);
        JUDGED.forEach((name, statistics) -> {
            judges.put(name, new DriftJudge(baseline, statistics, threshold, threshold, DriftPolicy.immediate(), 1));
            clean.add(name, 0.0);
        });
        NullSample sample = baseline.sample(rank, windowRows).orElseThrow();
        for (String statistic : STATISTICS) {
            for (double value : sample.values(statistic)) {
                clean.add(statistic, value);
            }
        }
    }

    private static Map<String, List<String>> judged() {
        Map<String, List<String>> judged = new LinkedHashMap<>();
        judged.put("default", DriftJudge.JUDGED_AS_ONE);
        judged.put("default without codes", DriftJudge.TRIGGERS_WITHOUT_CODES);
        judged.put("gap alone", List.of(DriftJudge.DEFAULT_TRIGGER));
        judged.put("gap and FVU", List.of(DriftJudge.DEFAULT_TRIGGER, "reconstruction_fvu_trained"));
        return judged;
    }

    public Scores clean() {
        return clean;
    }

    /** Returns the tally of every window that was scored. */
    public BoundTally bounds() {
        return bounds;
    }

    /**
     * Scores windows. The share of a window is the chance that one of its requests comes from the shifted traffic; the
     * others come from the usual traffic. No request comes twice in one window.
     *
     * @param share of shifted requests, a function of the window's place from 0 to 1
     */
    public Scores mixed(
            List<ActivationBatch> usual,
            List<ActivationBatch> shifted,
            DoubleUnaryOperator share,
            int windows,
            long seed) {
        Random random = new Random(seed);
        Scores scores = new Scores();
        for (int i = 0; i < windows; i++) {
            double of = share.applyAsDouble(windows == 1 ? 1.0 : i / (windows - 1.0));
            List<ActivationBatch> left = new ArrayList<>(usual);
            List<ActivationBatch> leftShifted = new ArrayList<>(shifted);
            List<ActivationBatch> window = new ArrayList<>();
            while (rows(window) < windowRows) {
                List<ActivationBatch> from = random.nextDouble() < of ? leftShifted : left;
                window.add(from.remove(random.nextInt(from.size())));
            }
            score(window, scores);
        }
        return scores;
    }

    private void score(List<ActivationBatch> window, Scores scores) {
        Matrix rows = stack(window);
        RecordedWindow requests = new RecordedWindow(baseline);
        window.forEach(request -> requests.add(request, reconstructions.computeIfAbsent(request, this::reconstruct)));
        GapAssessment assessment = requests.addTo(geometry.assess(SecondMoment.of(rows)));
        bounds.add(assessment);
        STATISTICS.forEach(statistic ->
                scores.add(statistic, assessment.statistic(statistic).orElseThrow()));
        judges.forEach((name, judge) -> scores.add(
                name,
                judge.judge(DriftState.INITIAL, assessment).verdict() instanceof DriftVerdict.Drifted ? 1.0 : 0.0));
    }

    private Matrix reconstruct(ActivationBatch request) {
        return explainer.decoder().reconstruct(explainer.encoder().encode(request.activations()));
    }

    private static int rows(List<ActivationBatch> requests) {
        return requests.stream().mapToInt(ActivationBatch::rows).sum();
    }

    private static Matrix stack(List<ActivationBatch> requests) {
        int columns = requests.get(0).targetRows().columns();
        Matrix all = Matrix.zeros(rows(requests), columns);
        int row = 0;
        for (ActivationBatch request : requests) {
            double[] values = request.targetRows().values();
            System.arraycopy(values, 0, all.values(), row * columns, values.length);
            row += request.rows();
        }
        return all;
    }
}
