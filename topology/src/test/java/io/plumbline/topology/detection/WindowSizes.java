package io.plumbline.topology.detection;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.CleanWindowPass;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.RecordedWindow;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.DriftState;
import io.plumbline.judgement.DriftVerdict;
import io.plumbline.judgement.Threshold;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Counts what the default triggers say of windows of many sizes, each judged alone, by a baseline with the default
 * ladder of sizes.
 */
final class WindowSizes {

    enum Verdict {
        ALIGNED,
        DRIFTED,
        UNDECIDED
    }

    private final Explainer explainer;
    private final Baseline baseline;
    private final SiteGeometry geometry;
    private final DriftJudge judge;
    private final int mostWindows;

    WindowSizes(Explainer explainer, int rank, List<ActivationBatch> clean, int mostWindows) {
        this.explainer = explainer;
        this.mostWindows = mostWindows;
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(rank), BaselineBuilder.LADDER)
                .onLadder();
        clean.forEach(builder::add);
        CleanWindowPass pass = builder.secondPass();
        clean.forEach(pass::add);
        baseline = pass.build();
        geometry = SiteGeometry.of(explainer.decoder(), baseline.moment(), baseline.reconstructionMoment(), rank);
        AlarmLaw law = AlarmLaw.tumbling(DriftPolicy.immediate(), Duration.ofMinutes(1));
        Threshold threshold = new Threshold.FalseAlarms(new AlarmBudget.PerTime(1, Duration.ofDays(30)), law);
        judge = new DriftJudge(baseline, DriftJudge.DEFAULT_TRIGGERS, threshold, threshold, DriftPolicy.immediate(), 1);
    }

    /** Cuts whole requests into windows of at least so many rows each, and counts what is said of them. */
    Map<Verdict, Integer> count(List<ActivationBatch> requests, List<Integer> sizes) {
        Map<Verdict, Integer> counts = new EnumMap<>(Verdict.class);
        for (int size : sizes) {
            Window window = new Window();
            int windows = 0;
            for (ActivationBatch request : requests) {
                window.add(request);
                if (window.rows >= size && windows < mostWindows) {
                    counts.merge(window.verdict(), 1, Integer::sum);
                    windows++;
                    window = new Window();
                }
            }
        }
        return counts;
    }

    private final class Window {

        private final SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(explainer.targetWidth());
        private final RecordedWindow requests = new RecordedWindow(baseline);
        private int rows;

        void add(ActivationBatch request) {
            moment.add(request.targetRows());
            requests.add(
                    request, explainer.decoder().reconstruct(explainer.encoder().encode(request.activations())));
            rows += request.rows();
        }

        Verdict verdict() {
            GapAssessment assessment = requests.addTo(geometry.assess(moment.snapshot()));
            DriftVerdict verdict = judge.judge(DriftState.INITIAL, assessment).verdict();
            if (verdict instanceof DriftVerdict.Drifted) {
                return Verdict.DRIFTED;
            }
            return verdict instanceof DriftVerdict.Undecided ? Verdict.UNDECIDED : Verdict.ALIGNED;
        }
    }
}
