package io.plumbline.topology.assessment;

import io.plumbline.adaptation.ExplainerTrial;
import io.plumbline.adaptation.PairedErrors;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.Provenance;
import io.plumbline.baseline.RequestModel;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.explainer.KnownCodes;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.groups.NewGroups;
import io.plumbline.groups.RecentGroups;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.DriftPolicy.Outcome;
import io.plumbline.judgement.DriftPolicy.Transition;
import io.plumbline.judgement.DriftState;
import io.plumbline.judgement.DriftVerdict;
import io.plumbline.judgement.Reading;
import io.plumbline.judgement.SequentialRule;
import io.plumbline.judgement.SequentialState;
import io.plumbline.moments.MaskedRows;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.assessment.SiteJudge.Ask;
import io.plumbline.topology.assessment.SiteJudge.Judgement;
import io.plumbline.topology.report.Headline;
import io.plumbline.topology.report.Repeats;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.StatisticReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WorstRequest;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides about the windows of one site, in their order: verdict, evidence, what is asked of the adapter, and the
 * report. What is remembered goes in and comes out; takes microseconds, but for failing features that nobody expected.
 * For the stream thread.
 */
final class SiteDecision {

    private final WatchedSite site;
    private final DriftJudge judge;
    private final @Nullable DriftJudge warner;
    private final @Nullable SequentialWatch sequential;

    SiteDecision(WatchedSite site, DriftJudge judge) {
        this.site = site;
        this.judge = judge;
        SiteSettings settings = site.settings();
        SequentialRule rule = settings.alarms().sequential();
        this.sequential = rule == null
                ? null
                : new SequentialWatch(site.baseline(), settings.alarms().minimumRows(), rule);
        this.warner = settings.alarms().warn().isEmpty()
                ? null
                : new DriftJudge(
                        site.baseline().byItself(),
                        settings.alarms().warn(),
                        settings.alarms().warnThreshold(),
                        settings.alarms().warnThreshold(),
                        settings.alarms().debounce(),
                        settings.alarms().minimumRows());
    }

    /** Returns what follows from a measurement and from what is remembered. */
    Judgement decide(Measurement measured, SiteMemory remembered) {
        Long created = baselineMs();
        SiteMemory memory = remembered.of(site.explainerSha256()).under(created == null ? 0 : created);
        WindowView view = measured.view();
        ClosedWindow window = view.window();
        RecentGroups.Step groups = groups(memory, window);
        GapAssessment geometry = withGroups(view.geometry(), groups);
        Outcome outcome = decide(judge, memory.drift(), window, geometry);
        Outcome warned = warner == null ? null : decide(warner, memory.warning(), window, geometry);
        boolean drifted = outcome.verdict() instanceof DriftVerdict.Drifted;
        SequentialWatch.Taken taken = sequential == null
                ? new SequentialWatch.Taken(Map.of(), List.of())
                : sequential.take(evidence(memory), window, geometry, view.requests(), drifted);
        SwapWatch swap = watch(memory.swap(), measured);
        Ask ask = ask(outcome, view, memory, swap);
        SiteMemory.Trials trials = trials(memory.trials(), measured);
        boolean proposes = proposes(trials);
        List<Reading> readings = judge.readings(geometry);
        Reading deciding = DriftJudge.deciding(memory.drift(), readings);
        Headline headline = Headline.of(deciding.statistic(), deciding.value(), deciding.threshold());
        KnownOrigins origins = memory.origins()
                .after(
                        window,
                        drifted || readings.stream().anyMatch(WindowMeter::isAbove),
                        drifted,
                        headline.orElse(Double.NaN));
        Sections sections = Sections.NONE;
        Decision decision = new Decision(memory, drifted, deciding.statistic(), origins, trials, proposes, groups);
        for (Measures.Measured<?> one : measured.sections()) {
            sections = one.addTo(sections, decision);
        }
        SiteMemory next = new SiteMemory(
                outcome.state(),
                warned == null ? DriftState.INITIAL : warned.state(),
                ask == Ask.ADAPT || ask == Ask.ROLL_BACK ? window.endMs() : memory.lastRequestMs(),
                ask == Ask.ADAPT || (ask == Ask.NOTHING && memory.mayBeAdapted()),
                swap,
                memory.coverage().after(window.notes().coverage(), created),
                trials,
                origins,
                groups == null ? memory.groups() : groups.memory(),
                taken.states());
        Provenance baseline = site.baseline().provenance();
        RequestTotals totals = window.requestTotals();
        MaskedRows masked = window.masked();
        WindowReport report = new WindowReport(
                new WindowReport.Header(
                        window.site(),
                        window.startMs(),
                        window.endMs(),
                        window.closedBy().name().toLowerCase(Locale.ROOT)),
                new WindowReport.Counts(
                        window.requests(),
                        view.requests().means().requests().size(),
                        totals == null ? 0 : totals.recordsNotKept(),
                        window.momentRecords()),
                new WindowReport.Judged(
                        outcome.verdict().kind(),
                        reason(outcome.verdict(), deciding.statistic(), sections),
                        deciding.statistic(),
                        deciding.value(),
                        deciding.threshold()),
                new WindowReport.Evidence(
                        statistics(readings, geometry),
                        warned == null ? null : warned.verdict().kind(),
                        warningReason(warned, view, geometry, memory),
                        taken.reports()),
                new WindowReport.InService(
                        measured.fvu(),
                        measured.activeGap(),
                        measured.decoderVersion(),
                        ask == Ask.ADAPT,
                        ask == Ask.ROLL_BACK),
                geometry.violatedBounds(),
                new WindowReport.Masked(
                        masked.byToken(),
                        masked.byNorm(),
                        (double) masked.total()
                                / (masked.total() + window.moment().rows())),
                new WindowReport.Baseline(
                        created,
                        baseline == null ? null : baseline.revision(),
                        baseline == null ? null : baseline.content()),
                sections,
                geometry);
        return new Judgement(
                report, next, ask, proposes, ask == Ask.ADAPT ? view.sample().codes() : KnownCodes.NONE);
    }

    private static String reason(DriftVerdict verdict, String statistic, Sections sections) {
        Repeats repeats = sections.get(Sections.REPEATS);
        String reason = verdict.reason(statistic);
        return repeats == null || repeats.sentence() == null ? reason : reason + "; " + repeats.sentence();
    }

    /**
     * Returns what was added up over windows; nothing where that was held against another baseline, which the memory of
     * groups tells.
     */
    private Map<String, SequentialState> evidence(SiteMemory memory) {
        RequestModel model = site.baseline().requests();
        return model != null && memory.groups().isOfOther(model.groupSpace()) ? Map.of() : memory.sequential();
    }

    /** Pools the requests of the last windows; null where this one has no totals under the baseline's projection. */
    private RecentGroups.@Nullable Step groups(SiteMemory memory, ClosedWindow window) {
        RequestModel model = site.baseline().requests();
        RequestTotals totals = window.requestTotals();
        return model == null
                        || totals == null
                        || !totals.projection().equals(model.projection().id())
                ? null
                : memory.groups()
                        .after(
                                model.groupSpace(),
                                window.startMs(),
                                window.endMs(),
                                totals.totals(),
                                site.baseline().groups());
    }

    private GapAssessment withGroups(GapAssessment geometry, RecentGroups.@Nullable Step step) {
        return step == null
                ? geometry.with(Statistic.NEW_GROUP, (Double) null).with(Statistic.REQUESTS_IN_GROUPS, (Double) null)
                : NewGroups.addTo(
                        geometry,
                        site.baseline().groups(),
                        step.lookedAt(),
                        step.groups().stream().map(RecentGroups.Seen::group).toList());
    }

    private SwapWatch watch(SwapWatch before, Measurement measured) {
        DriftPolicy rule = site.settings().refits().rollback();
        ExplainerTrial trial = measured.view().trial();
        // A candidate that has taken the place of an explainer is held against that one, until it is adapted itself.
        PairedErrors errors =
                measured.errors() == null && trial != null && site.isOfCandidate() ? trial.errors() : measured.errors();
        WindowBehaviour behaviour = measured.view().behaviour();
        return rule == null || errors == null
                ? SwapWatch.NONE
                : before.after(measured.decoderVersion(), errors, behaviour == null ? null : behaviour.change(), rule);
    }

    private SiteMemory.Trials trials(SiteMemory.Trials before, Measurement measured) {
        SiteSettings.Candidate candidate = site.settings().explained().candidate();
        ExplainerTrial trial = measured.view().trial();
        WatchedSite.Shadow shadow = site.shadow();
        return candidate == null || trial == null || shadow == null
                ? before
                : before.after(
                        measured.decoderVersion(), shadow.explainer().decoder().sha256(), trial, candidate.better());
    }

    /** Returns whether the candidate has reconstructed better often enough, and can take the place of the explainer. */
    private boolean proposes(SiteMemory.Trials trials) {
        SiteSettings.Candidate candidate = site.settings().explained().candidate();
        return candidate != null
                && site.candidate() != null
                && site.settings().refits().adapts()
                && trials.betterWindows() >= candidate.better().needed();
    }

    private Outcome decide(DriftJudge by, DriftState state, ClosedWindow window, GapAssessment geometry) {
        if (!window.complete()) {
            return site.settings()
                    .alarms()
                    .debounce()
                    .undecided(state, "some messages of the window's panes did not arrive; its sums cannot be trusted");
        }
        return by.judge(state, geometry);
    }

    private Ask ask(Outcome outcome, WindowView view, SiteMemory memory, SwapWatch swap) {
        if (!site.settings().refits().adapts()) {
            return Ask.NOTHING;
        }
        if (outcome.transition() == Transition.BECAME_ALIGNED) {
            return memory.mayBeAdapted() ? Ask.REVERT : Ask.NOTHING;
        }
        // Asked for already, unless the memory was reset since. Asking again costs a few bytes: emission passes over a
        // revert while the trained decoder is in service.
        if (outcome.verdict() instanceof DriftVerdict.Aligned aligned
                && aligned.value() <= aligned.threshold()
                && view.adapted() != null) {
            return Ask.REVERT;
        }
        // Again with every window until it is gone: the adapter passes over one that is no longer in service.
        DriftPolicy rule = site.settings().refits().rollback();
        if (rule != null && swap.hasFailed(rule)) {
            return Ask.ROLL_BACK;
        }
        // A site whose newest window is back under the threshold is recovering: no refit. The adapter decides when a
        // refit is due.
        return outcome.verdict() instanceof DriftVerdict.Drifted drifted
                        && drifted.value() > drifted.threshold()
                        && view.window().sample().rows().stream().anyMatch(memory::isNew)
                ? Ask.ADAPT
                : Ask.NOTHING;
    }

    private List<StatisticReport> statistics(List<Reading> triggers, GapAssessment geometry) {
        List<StatisticReport> statistics = new ArrayList<>(StatisticReport.triggers(triggers));
        if (warner != null) {
            warner.readings(geometry).forEach(reading -> statistics.add(StatisticReport.of("warn", reading)));
        }
        return statistics;
    }

    private @Nullable String warningReason(
            @Nullable Outcome warned, WindowView view, GapAssessment geometry, SiteMemory memory) {
        if (warner == null || warned == null) {
            return null;
        }
        String statistic =
                DriftJudge.deciding(memory.warning(), warner.readings(geometry)).statistic();
        String reason = warned.verdict().reason(statistic);
        boolean byRequests =
                Statistic.find(statistic).filter(Statistic::scoresRequests).isPresent();
        List<WorstRequest> worst = byRequests && warned.verdict() instanceof DriftVerdict.Drifted
                ? WorstRequest.of(view.requests(), statistic)
                : List.of();
        return worst.isEmpty() ? reason : reason + "; " + WorstRequest.sentence(worst);
    }

    private @Nullable Long baselineMs() {
        Provenance baseline = site.baseline().provenance();
        return baseline == null ? null : Long.valueOf(baseline.created().toEpochMilli());
    }
}
