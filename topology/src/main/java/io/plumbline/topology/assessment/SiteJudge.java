package io.plumbline.topology.assessment;

import io.plumbline.adaptation.Reconstruction;
import io.plumbline.adaptation.SampleRows;
import io.plumbline.calibration.DriftPolicy;
import io.plumbline.calibration.DriftPolicy.Transition;
import io.plumbline.calibration.DriftVerdict;
import io.plumbline.calibration.NullSample;
import io.plumbline.calibration.Threshold;
import io.plumbline.calibration.Threshold.Level;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.moments.SampledRow;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures and judges the windows of one site. Pure: what it remembers goes in and comes out.
 *
 * <p><b>Cost</b> of a window: one d x d eigendecomposition, products of {@code O(d² r)}, and the encoder on at most
 * {@link #FVU_ROWS} rows.
 */
final class SiteJudge {

    /** Rows of the sample's head on which the reconstruction is measured; FVU then has a relative error of some 5 %. */
    static final int FVU_ROWS = 256;

    private static final double LARGEST_SIZE_RATIO = 2.0;

    private static final Set<String> GAPS = Set.of("faithfulness_gap", "baseline_gap", "reconstruction_gap");

    private final WatchedSite site;
    private final DriftPolicy policy;

    SiteJudge(WatchedSite site) {
        this.site = site;
        this.policy = site.settings().debounce();
    }

    /** What a window asks the adapter for. */
    enum Ask {
        NOTHING,
        ADAPT,
        REVERT
    }

    /** What is said of a window, what is remembered, and what is asked for. */
    record Judgement(WindowReport report, SiteMemory memory, Ask ask) {}

    Judgement judge(ClosedWindow window, SiteMemory memory, ActiveDecoders.@Nullable Active active) {
        GapAssessment geometry = site.geometry().assess(window.moment());
        Decision decision = decide(window, geometry, memory);
        Ask ask = ask(decision, window, memory);
        SiteMemory next =
                switch (ask) {
                    case NOTHING -> memory.withDrift(decision.memory());
                    case ADAPT -> new SiteMemory(decision.memory(), window.endMs(), true);
                    case REVERT -> new SiteMemory(decision.memory(), memory.lastRequestMs(), false);
                };
        return new Judgement(report(window, geometry, decision, ask, active), next, ask);
    }

    private record Decision(
            DriftVerdict verdict,
            Transition transition,
            io.plumbline.calibration.DriftState memory,
            @Nullable Double value,
            @Nullable Double threshold) {

        boolean isOver() {
            return value != null && threshold != null && value > threshold;
        }
    }

    private Decision decide(ClosedWindow window, GapAssessment geometry, SiteMemory memory) {
        SiteSettings settings = site.settings();
        if (!window.complete()) {
            return undecided(
                    "some tiles of the window's moment did not arrive; its sum cannot be trusted", memory, null, null);
        }
        OptionalDouble measured = geometry.statistic(settings.trigger());
        Double value = measured.isPresent() ? measured.getAsDouble() : null;
        if (window.moment().rows() < settings.minimumRows()) {
            return undecided(
                    "%d rows, window.minimum_rows is %d"
                            .formatted(window.moment().rows(), settings.minimumRows()),
                    memory,
                    value,
                    null);
        }
        if (value == null) {
            return undecided(
                    "%s is undefined: %s"
                            .formatted(
                                    settings.trigger(),
                                    geometry.undefined().getOrDefault(settings.trigger(), "no reason given")),
                    memory,
                    null,
                    null);
        }
        Level threshold = level(settings.threshold(), geometry);
        if (threshold instanceof Level.Unknown unknown) {
            return undecided(unknown.reason(), memory, value, null);
        }
        double limit = ((Level.Known) threshold).value();
        Threshold clearSetting = settings.clear();
        Level clear = clearSetting == null ? threshold : level(clearSetting, geometry);
        if (clear instanceof Level.Unknown unknown) {
            return undecided(unknown.reason(), memory, value, limit);
        }
        DriftPolicy.Step step = policy.step(
                memory.drift(), settings.trigger(), value, limit, Math.min(limit, ((Level.Known) clear).value()));
        return new Decision(step.verdict(), step.transition(), step.state(), value, limit);
    }

    private static Decision undecided(
            String reason, SiteMemory memory, @Nullable Double value, @Nullable Double threshold) {
        return new Decision(new DriftVerdict.Undecided(reason), Transition.NONE, memory.drift(), value, threshold);
    }

    private Level level(Threshold threshold, GapAssessment geometry) {
        String trigger = site.settings().trigger();
        double largest =
                GAPS.contains(trigger) ? geometry.largestGap() : trigger.equals("gap_share") ? 1.0 : Double.NaN;
        return threshold.resolve(trigger, largest, cleanWindows(trigger, geometry.rows()));
    }

    /**
     * The trigger's values in clean windows of about this many rows: those of the nearest calibrated size, by ratio, when
     * that is within a factor of two. The sampling floor of a gap falls as {@code 1 / sqrt(rows)}: farther sizes do not speak
     * about this window.
     */
    private double[] cleanWindows(String trigger, long rows) {
        return site.baseline().samples().stream()
                .filter(sample -> sample.rank() == site.settings().rank())
                .filter(sample -> distance(sample, rows) <= Math.log(LARGEST_SIZE_RATIO))
                .min(Comparator.comparingDouble(sample -> distance(sample, rows)))
                .map(sample -> sample.values(trigger))
                .orElse(new double[0]);
    }

    private static double distance(NullSample sample, long rows) {
        return Math.abs(Math.log((double) rows / sample.rowsPerWindow()));
    }

    private Ask ask(Decision decision, ClosedWindow window, SiteMemory memory) {
        if (!site.settings().adapts()) {
            return Ask.NOTHING;
        }
        if (decision.transition() == Transition.CLEARED) {
            return memory.mayBeAdapted() ? Ask.REVERT : Ask.NOTHING;
        }
        boolean rested = memory.lastRequestMs() == SiteMemory.NEVER
                || window.endMs() - memory.lastRequestMs()
                        >= site.settings().cooldown().toMillis();
        boolean drifted = decision.verdict() instanceof DriftVerdict.Drifted;
        // A drifted site whose newest window is no longer over the threshold is on its way back: nothing to fit.
        return drifted && decision.isOver() && rested ? Ask.ADAPT : Ask.NOTHING;
    }

    private WindowReport report(
            ClosedWindow window,
            GapAssessment geometry,
            Decision decision,
            Ask ask,
            ActiveDecoders.@Nullable Active active) {
        List<SampledRow> rows = window.sample().rows();
        SampleRows head = SampleRows.of(
                site.explainer().encoder(),
                rows.subList(0, Math.min(FVU_ROWS, rows.size())),
                site.explainer().targetWidth());
        Double trained = fvu(Reconstruction.of(site.explainer().decoder(), head.codes(), head.targets()));
        Double current =
                active == null ? trained : fvu(Reconstruction.of(active.decoder(), head.codes(), head.targets()));
        return new WindowReport(
                window.site(),
                window.startMs(),
                window.endMs(),
                window.closedBy().name().toLowerCase(Locale.ROOT),
                window.requests(),
                decision.verdict().label(),
                decision.verdict().reason(),
                site.settings().trigger(),
                decision.value(),
                decision.threshold(),
                trained,
                current,
                active == null ? 0 : active.version(),
                ask == Ask.ADAPT,
                geometry);
    }

    /** Rows that do not vary have no variance to explain. */
    private static @Nullable Double fvu(Reconstruction reconstruction) {
        return Double.isFinite(reconstruction.fvu()) ? reconstruction.fvu() : null;
    }

    static Map<String, SiteJudge> of(Map<String, WatchedSite> sites) {
        return sites.entrySet().stream()
                .collect(java.util.stream.Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, entry -> new SiteJudge(entry.getValue())));
    }
}
