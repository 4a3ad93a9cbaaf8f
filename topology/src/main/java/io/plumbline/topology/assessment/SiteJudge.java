package io.plumbline.topology.assessment;

import io.plumbline.activity.ActivityChange;
import io.plumbline.activity.ActivityChanges;
import io.plumbline.activity.ActivityComparison;
import io.plumbline.adaptation.PairedErrors;
import io.plumbline.attribution.FailingFeature;
import io.plumbline.attribution.FailingFeatures;
import io.plumbline.behaviour.BehaviourProbe;
import io.plumbline.behaviour.DownstreamSettings;
import io.plumbline.behaviour.WindowBehaviour;
import io.plumbline.calibration.DriftJudge;
import io.plumbline.calibration.DriftPolicy;
import io.plumbline.calibration.DriftPolicy.Outcome;
import io.plumbline.calibration.DriftPolicy.Transition;
import io.plumbline.calibration.DriftState;
import io.plumbline.calibration.DriftVerdict;
import io.plumbline.calibration.EncodedErrors;
import io.plumbline.calibration.Provenance;
import io.plumbline.calibration.Reading;
import io.plumbline.calibration.SequentialRule;
import io.plumbline.calibration.Threshold;
import io.plumbline.calibration.WindowRequests;
import io.plumbline.explainer.KnownCodes;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Subspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.JointMoment;
import io.plumbline.moments.RequestTotals;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.WholeRequests;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Measures and judges the windows of one site. Pure: what it remembers goes in and comes out.
 *
 * <p>In two steps: {@link #measure} takes all the time and no memory, so that it can be done beside the stream;
 * {@link #decide} takes microseconds, in the order of the windows.
 *
 * <p><b>Cost</b> of a window: its leading eigenspace, products of {@code O(d² r)}, and the encoder on at most
 * {@link io.plumbline.calibration.Baseline#encodedRows} rows; where the window looks drifted, on up to
 * {@link FailingFeatures#ROWS}.
 */
final class SiteJudge {

    /** Headers and tags of a window that looks drifted whose values are compared, beside {@code breakdown_by}. */
    private static final int MOST_COMPARED = 3;

    private final WatchedSite site;
    private final @Nullable BehaviourProbe probe;
    private final DriftJudge judge;
    private final @Nullable DriftJudge warner;
    private final @Nullable SequentialWatch sequential;
    private final String trainedSha256;
    private final EncodedRowsRule encodedRows;
    private final ActivityComparison activity;
    private final Breakdowns breakdowns;

    /** A hash is a pass over all weights: once a version. */
    private volatile @Nullable Known newest;

    /** Made with the first window that looks drifted, since it encodes the rows that the baseline keeps. */
    private @Nullable FailingFeatures failing;

    /**
     * Whether the newest window was drifted: then the next one's failing features are likely asked for. Changes no
     * result.
     */
    private volatile boolean drifted;

    private record Known(long version, boolean adapted) {}

    /** Judges a site of which no rest of its model is run. */
    SiteJudge(WatchedSite site) {
        this(site, null);
    }

    SiteJudge(WatchedSite site, @Nullable BehaviourProbe probe) {
        this.site = site;
        this.probe = probe;
        this.trainedSha256 = site.explainer().decoder().sha256();
        SiteSettings settings = site.settings();
        this.encodedRows = new EncodedRowsRule(site.baseline(), settings);
        this.activity = ActivityComparison.of(
                site.baseline().activity(), settings.features().falseDiscoveryRate());
        this.breakdowns = new Breakdowns(site.geometry());
        Threshold clear = settings.clear();
        this.judge = new DriftJudge(
                site.baseline(),
                settings.triggers(),
                settings.threshold(),
                clear == null ? settings.threshold() : clear,
                settings.debounce(),
                settings.minimumRows());
        SequentialRule rule = settings.sequential();
        this.sequential = rule == null ? null : new SequentialWatch(site.baseline(), settings.minimumRows(), rule);
        this.warner = settings.warn().isEmpty()
                ? null
                : new DriftJudge(
                        site.baseline(),
                        settings.warn(),
                        settings.warnThreshold(),
                        settings.warnThreshold(),
                        settings.debounce(),
                        settings.minimumRows());
    }

    /** Names what a window asks the adapter for. */
    enum Ask {
        NOTHING,
        ADAPT,
        REVERT,
        ROLL_BACK
    }

    /** The report of a window, the memory of its site, and what is asked for. */
    record Judgement(WindowReport report, SiteMemory memory, Ask ask) {}

    /** Measures and judges a window at once. */
    Judgement judge(ClosedWindow window, SiteMemory memory, ActiveDecoders.@Nullable Active active) {
        return decide(window, measure(window, active), memory);
    }

    /** Everything about a window that needs no memory of its site. Any number of threads. */
    Measurement measure(ClosedWindow window, ActiveDecoders.@Nullable Active active) {
        long begin = System.nanoTime();
        JointMoment joint = site.explainer().isGiven() ? JointMoment.of(window.moment()) : null;
        SecondMoment moment = joint == null ? window.moment() : joint.targets();
        List<SampledRow> rows =
                joint == null ? encodedRows.head(window) : GivenRows.of(encodedRows.head(window), moment.dimension());
        SampleRows head = site.explainer().hasCodes()
                ? SampleRows.of(
                        site.explainer().encoder(), rows, site.explainer().targetWidth())
                : GivenRows.withoutCodes(rows, moment.dimension());
        Matrix ofTrained = joint == null
                ? site.explainer().decoder().reconstruct(head.codes())
                : GivenRows.activations(rows, moment.dimension());
        Matrix ofActive = active == null ? ofTrained : active.decoder().reconstruct(head.codes());
        ToldRows told = ToldRows.of(site.explainer().space(), rows, head.targets());
        EncodedErrors errors = EncodedErrors.of(head.requests(), told.targets(), told.of(ofTrained));
        ActiveSubspace subspace = site.geometry().activeSubspace(moment);
        WindowRequests requests =
                WindowRequests.of(site.baseline().requests(), window.requestTotals(), errors.requests());
        GapAssessment assessed = joint == null
                ? site.geometry().assess(moment, subspace)
                : site.geometry().assess(moment, subspace, joint.reconstructions());
        GapAssessment sampled = encodedRows.apply(
                window,
                MomentRecordsRule.apply(
                        window,
                        requests,
                        requests.addTo(assessed.with(Statistic.RECONSTRUCTION_FVU_TRAINED, errors.fvu())
                                .with(Statistic.RECONSTRUCTION_ERROR, errors.energy()))));
        Double trained = joint == null ? errors.fvu() : finite(joint.fvu());
        WindowBehaviour behaviour = behaviour(window, active);
        GapAssessment observed = behaviour == null ? sampled : behaviour.addTo(sampled);
        GapAssessment geometry = joint == null
                ? observed
                : observed.with(Statistic.RECONSTRUCTION_FVU_TRAINED, trained)
                        .with(Statistic.RECONSTRUCTION_ERROR, joint.errorEnergy());
        boolean watched = site.settings().rollback() != null && isAdapted(active);
        boolean suspect = drifted || judge.readings(geometry).stream().anyMatch(SiteJudge::isAbove);
        SampleRows encoded = suspect ? encoded(window, rows, head) : head;
        return new Measurement(
                geometry,
                requests,
                subspace,
                encoded,
                active,
                active == null ? trained : fvu(Reconstruction.between(told.of(ofActive), told.targets())),
                activeGap(geometry, subspace, active),
                watched ? PairedErrors.of(head, ofActive, ofTrained) : null,
                suspect ? failing(encoded, active) : null,
                site.explainer().hasCodes()
                        ? activity.changes(head.codes(), head.requests(), ActivityComparison.REPORTED)
                        : ActivityChanges.notCompared("records bring reconstructions and no codes"),
                Spectrum.of(
                        subspace,
                        site.geometry().baselineSubspace(),
                        geometry.value(Statistic.BASELINE_GAP).isPresent()),
                comparisons(window, suspect, requests, head, ofTrained),
                behaviour,
                System.nanoTime() - begin);
    }

    /** Returns what the rest of the model does; null where the site names none. */
    private @Nullable WindowBehaviour behaviour(ClosedWindow window, ActiveDecoders.@Nullable Active active) {
        WholeRequests whole = window.whole();
        return probe == null || whole == null
                ? null
                : probe.measure(whole.requests(), active != null && isAdapted(active) ? active.decoder() : null);
    }

    /** Returns whether the adapter judges refits of this site by what the model does, and so needs whole requests. */
    boolean sendsRequests() {
        DownstreamSettings downstream = site.settings().downstream();
        return downstream != null && downstream.gate();
    }

    private static @Nullable DownstreamReport downstream(ClosedWindow window, Measurement measured) {
        WindowBehaviour behaviour = measured.behaviour();
        WholeRequests whole = window.whole();
        return behaviour == null ? null : DownstreamReport.of(behaviour, whole == null ? 0 : whole.split());
    }

    /** Returns what a drift may be blamed on is measured here, since nobody knows yet what is new in this window. */
    private Map<String, Breakdown> comparisons(
            ClosedWindow window, boolean suspect, WindowRequests requests, SampleRows head, Matrix ofTrained) {
        Set<String> names = new LinkedHashSet<>();
        String breakdownBy = site.settings().breakdownBy();
        if (breakdownBy != null) {
            names.add(breakdownBy);
        }
        if (suspect) {
            Breakdowns.severalIn(window).stream().limit(MOST_COMPARED).forEach(names::add);
        }
        Map<String, Breakdown> comparisons = new LinkedHashMap<>();
        for (String name : names) {
            Breakdown comparison = breakdowns.by(name, window, requests, head, ofTrained);
            if (comparison != null) {
                comparisons.put(name, comparison);
            }
        }
        return comparisons;
    }

    private static boolean isAbove(Reading reading) {
        Double value = reading.value();
        Double threshold = reading.threshold();
        return value != null && threshold != null && value > threshold;
    }

    /** Returns what follows from a measurement and from what is remembered; in the order of the windows. */
    Judgement decide(ClosedWindow window, Measurement measured, SiteMemory memory) {
        GapAssessment geometry = measured.geometry();
        ActiveDecoders.Active active = measured.active();
        Outcome outcome = decide(judge, memory.drift(), window, geometry);
        Outcome warned = warner == null ? null : decide(warner, memory.warning(), window, geometry);
        DriftState warning = warned == null ? DriftState.INITIAL : warned.state();
        boolean hasDrifted = outcome.verdict() instanceof DriftVerdict.Drifted;
        SequentialWatch.Taken taken = sequential == null
                ? new SequentialWatch.Taken(Map.of(), List.of())
                : sequential.take(memory.sequential(), window, geometry, measured.requests(), hasDrifted);
        SwapWatch swap = watch(memory.swap(), measured);
        Ask ask = ask(outcome, window, memory, swap, active);
        drifted = hasDrifted;
        SampleRows encoded = measured.encoded();
        List<FailingFeature> failing = measured.failing();
        if (failing == null && hasDrifted) {
            encoded = encoded(window, window.sample().rows().subList(0, encoded.rows()), encoded);
            failing = failing(encoded, active);
        }
        site.codes()
                .keep(
                        ask == Ask.ADAPT
                                ? KnownCodes.of(window.sample().rows().subList(0, encoded.rows()), encoded.codes())
                                : KnownCodes.NONE);
        CoverageWatch coverage = memory.coverage().after(window.notes().coverage(), baselineMs());
        List<Reading> readings = judge.readings(geometry);
        KnownOrigins origins = memory.origins()
                .after(
                        window,
                        hasDrifted || readings.stream().anyMatch(SiteJudge::isAbove),
                        hasDrifted,
                        headline(DriftJudge.deciding(memory.drift(), readings)).orElse(Double.NaN));
        SiteMemory next = new SiteMemory(
                outcome.state(),
                warning,
                ask == Ask.ADAPT || ask == Ask.ROLL_BACK ? window.endMs() : memory.lastRequestMs(),
                ask == Ask.ADAPT || (ask == Ask.NOTHING && memory.mayBeAdapted()),
                swap,
                coverage,
                origins,
                taken.states());
        return new Judgement(
                report(
                        window,
                        geometry,
                        measured.requests(),
                        outcome.verdict(),
                        memory,
                        warned,
                        taken.reports(),
                        measured.fvu(),
                        measured.activeGap(),
                        ask,
                        active,
                        hasDrifted ? failing : null,
                        measured.activity(),
                        downstream(window, measured),
                        measured.spectrum(),
                        memory.coverage()
                                .report(
                                        window.notes().coverage(),
                                        site.settings().coverage()),
                        hasDrifted ? DriftCause.of(window, origins, measured.comparisons()) : null,
                        breakdown(measured)),
                next,
                ask);
    }

    private static Headline headline(Reading deciding) {
        return Headline.of(deciding.statistic(), deciding.value(), deciding.threshold());
    }

    private @Nullable Breakdown breakdown(Measurement measured) {
        String by = site.settings().breakdownBy();
        return by == null ? null : measured.comparisons().get(by);
    }

    /** The gap of the decoder in service; null where it does not exist or its subspace is not computed yet. */
    private @Nullable Double activeGap(
            GapAssessment geometry, ActiveSubspace window, ActiveDecoders.@Nullable Active active) {
        OptionalDouble ofTrained = geometry.value(Statistic.FAITHFULNESS_GAP);
        if (ofTrained.isEmpty()) {
            return null;
        }
        if (active == null || !isAdapted(active)) {
            return ofTrained.getAsDouble();
        }
        Subspace own = active.subspace();
        return own == null
                ? null
                : FaithfulnessGap.between(own, window.subspace()).value();
    }

    private SwapWatch watch(SwapWatch before, Measurement measured) {
        DriftPolicy rule = site.settings().rollback();
        PairedErrors errors = measured.errors();
        ActiveDecoders.Active active = measured.active();
        return rule == null || errors == null || active == null
                ? SwapWatch.NONE
                : before.after(
                        active.version(),
                        errors,
                        measured.behaviour() == null
                                ? null
                                : measured.behaviour().change(),
                        rule);
    }

    private Outcome decide(DriftJudge by, DriftState state, ClosedWindow window, GapAssessment geometry) {
        if (!window.complete()) {
            return site.settings()
                    .debounce()
                    .undecided(state, "some tiles of the window's moment did not arrive; its sum cannot be trusted");
        }
        return by.judge(state, geometry);
    }

    private Ask ask(
            Outcome outcome,
            ClosedWindow window,
            SiteMemory memory,
            SwapWatch swap,
            ActiveDecoders.@Nullable Active active) {
        if (!site.settings().adapts()) {
            return Ask.NOTHING;
        }
        if (outcome.transition() == Transition.BECAME_ALIGNED) {
            return memory.mayBeAdapted() ? Ask.REVERT : Ask.NOTHING;
        }
        // Asked for already, unless the memory was reset since. Asking again costs a few bytes: emission passes over a
        // revert while the trained decoder is in service.
        if (outcome.verdict() instanceof DriftVerdict.Aligned aligned
                && aligned.value() <= aligned.threshold()
                && isAdapted(active)) {
            return Ask.REVERT;
        }
        // Again with every window until it is gone: the adapter passes over one that is no longer in service.
        DriftPolicy rule = site.settings().rollback();
        if (rule != null && swap.hasFailed(rule)) {
            return Ask.ROLL_BACK;
        }
        // A drifted site whose newest window is no longer over the threshold is on its way back: nothing to fit. When a
        // refit
        // is due is the adapter's to say, which knows what became of the last one.
        return outcome.verdict() instanceof DriftVerdict.Drifted drifted
                        && drifted.value() > drifted.threshold()
                        && window.sample().rows().stream().anyMatch(memory::isNew)
                ? Ask.ADAPT
                : Ask.NOTHING;
    }

    private boolean isAdapted(ActiveDecoders.@Nullable Active active) {
        if (active == null) {
            return false;
        }
        Known known = newest;
        if (known == null || known.version() != active.version()) {
            known = new Known(active.version(), !active.decoder().sha256().equals(trainedSha256));
            newest = known;
        }
        return known.adapted();
    }

    private WindowReport report(
            ClosedWindow window,
            GapAssessment geometry,
            WindowRequests requests,
            DriftVerdict verdict,
            SiteMemory memory,
            @Nullable Outcome warned,
            List<SequentialReport> added,
            @Nullable Double fvu,
            @Nullable Double activeGap,
            Ask ask,
            ActiveDecoders.@Nullable Active active,
            @Nullable List<FailingFeature> failing,
            ActivityChanges changes,
            @Nullable DownstreamReport downstream,
            Spectrum spectrum,
            @Nullable CoverageReport coverage,
            @Nullable DriftCause cause,
            @Nullable Breakdown breakdown) {
        List<Reading> readings = judge.readings(geometry);
        Reading deciding = DriftJudge.deciding(memory.drift(), readings);
        Provenance baseline = site.baseline().provenance();
        RequestTotals totals = window.requestTotals();
        List<WorstRequest> worst = WorstRequest.of(requests, deciding.statistic());
        return new WindowReport(
                window.site(),
                window.startMs(),
                window.endMs(),
                window.closedBy().name().toLowerCase(Locale.ROOT),
                window.requests(),
                requests.means().size(),
                totals == null ? 0 : totals.recordsNotKept(),
                window.momentRecords(),
                worst,
                verdict.kind(),
                verdict.reason(deciding.statistic()),
                deciding.statistic(),
                deciding.value(),
                deciding.threshold(),
                statistics(readings, geometry),
                warned == null ? null : warned.verdict().kind(),
                warned == null ? null : warningReason(warned, geometry, requests, memory),
                added,
                fvu,
                activeGap,
                active == null ? 0 : active.version(),
                ask == Ask.ADAPT,
                ask == Ask.ROLL_BACK,
                geometry.violatedBounds(),
                window.masked().byToken(),
                window.masked().byNorm(),
                (double) window.masked().total()
                        / (window.masked().total() + window.moment().rows()),
                coverage,
                cause,
                breakdown,
                EnergyWarning.of(geometry, site.geometry()),
                failing,
                changes,
                site.names().of(listed(failing, changes)),
                baselineMs(),
                baseline == null ? null : baseline.revision(),
                downstream,
                spectrum,
                geometry);
    }

    private static IntStream listed(@Nullable List<FailingFeature> failing, ActivityChanges changes) {
        return IntStream.concat(
                failing == null ? IntStream.empty() : failing.stream().mapToInt(FailingFeature::feature),
                changes.features().stream().mapToInt(ActivityChange::feature));
    }

    private @Nullable Long baselineMs() {
        Provenance baseline = site.baseline().provenance();
        return baseline == null ? null : Long.valueOf(baseline.created().toEpochMilli());
    }

    /** Encodes what failing features are told by, beside the rows that are encoded already. */
    private SampleRows encoded(ClosedWindow window, List<SampledRow> rows, SampleRows already) {
        List<SampledRow> sample = window.sample().rows();
        return site.explainer().isGiven() || Math.min(FailingFeatures.ROWS, sample.size()) <= already.rows()
                ? already
                : FailingFeatures.encoded(site.explainer(), KnownCodes.of(rows, already.codes()), sample);
    }

    private List<FailingFeature> failing(SampleRows encoded, ActiveDecoders.@Nullable Active active) {
        if (site.explainer().isGiven()) {
            return List.of();
        }
        SampleRows rows = encoded.first(FailingFeatures.ROWS);
        return failing()
                .list(
                        rows.codes(),
                        rows.targets(),
                        rows.requests(),
                        active == null || !isAdapted(active) ? null : active.decoder(),
                        FailingFeatures.REPORTED);
    }

    private synchronized FailingFeatures failing() {
        FailingFeatures known = failing;
        if (known == null) {
            known = FailingFeatures.of(site.explainer(), site.baseline().rows());
            failing = known;
        }
        return known;
    }

    private List<StatisticReport> statistics(List<Reading> triggers, GapAssessment geometry) {
        List<StatisticReport> statistics = new ArrayList<>(StatisticReport.triggers(triggers));
        if (warner != null) {
            warner.readings(geometry).forEach(reading -> statistics.add(StatisticReport.of("warn", reading)));
        }
        return statistics;
    }

    private @Nullable String warningReason(
            Outcome warned, GapAssessment geometry, WindowRequests requests, SiteMemory memory) {
        if (warner == null) {
            return null;
        }
        String statistic =
                DriftJudge.deciding(memory.warning(), warner.readings(geometry)).statistic();
        String reason = warned.verdict().reason(statistic);
        boolean byRequests =
                Statistic.find(statistic).filter(Statistic::scoresRequests).isPresent();
        List<WorstRequest> worst = byRequests && warned.verdict() instanceof DriftVerdict.Drifted
                ? WorstRequest.of(requests, statistic)
                : List.of();
        return worst.isEmpty() ? reason : reason + "; " + WorstRequest.sentence(worst);
    }

    private static @Nullable Double fvu(Reconstruction reconstruction) {
        return finite(reconstruction.fvu());
    }

    /** Rows that do not vary have no variance to explain. */
    private static @Nullable Double finite(double fvu) {
        return Double.isFinite(fvu) ? fvu : null;
    }
}
