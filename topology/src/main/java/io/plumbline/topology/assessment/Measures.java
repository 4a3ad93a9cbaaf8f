package io.plumbline.topology.assessment;

import io.plumbline.adaptation.ExplainerTrial;
import io.plumbline.causal.Figure;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.features.ActivityChange;
import io.plumbline.features.ActivityChanges;
import io.plumbline.features.ActivityComparison;
import io.plumbline.features.FailingFeature;
import io.plumbline.geometry.Statistic;
import io.plumbline.moments.RowSample;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.RepeatedTraffic;
import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.report.CandidateReport;
import io.plumbline.topology.report.CoverageReport;
import io.plumbline.topology.report.DownstreamReport;
import io.plumbline.topology.report.EnergyWarning;
import io.plumbline.topology.report.FeatureName;
import io.plumbline.topology.report.Repeats;
import io.plumbline.topology.report.SectionKind;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.Spectrum;
import io.plumbline.topology.report.WatchedReport;
import io.plumbline.topology.report.WorstRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lists what measures the sections of a site's reports, in the order in which a report takes them: a section may read
 * those before it.
 */
final class Measures {

    private record Entry<V>(SectionKind<V> kind, Measure<V> measure) {
        Measured<V> of(WindowView view) {
            return new Measured<>(kind, measure.of(view));
        }
    }

    /** A section that is measured and not told yet. */
    record Measured<V>(SectionKind<V> kind, Measure.Telling<V> telling) {
        Sections addTo(Sections told, Decision decision) {
            return told.with(kind, telling.in(decision, told));
        }
    }

    private final WatchedSite site;
    private final ActivityComparison activity;
    private final List<Entry<?>> entries = new ArrayList<>();

    Measures(WatchedSite site) {
        this.site = site;
        activity = ActivityComparison.of(
                site.baseline().activity(), site.settings().features().falseDiscoveryRate());
        Comparisons comparisons = new Comparisons(site);
        add(Sections.WORST_REQUESTS, Measures::worstRequests);
        add(Sections.COVERAGE, this::coverage);
        add(Sections.BREAKDOWN, comparisons::breakdown);
        add(Sections.CAUSE, comparisons::cause);
        add(Sections.ENGINES, comparisons::engines);
        add(Sections.ENERGY_WARNING, this::energyWarning);
        add(Sections.REPEATS, Measures::repeats);
        add(Sections.GROUPS, new GroupsMeasure(site.explainer().hasCodes(), activity));
        add(Sections.FAILING_FEATURES, new FailingMeasure(site));
        add(Sections.FEATURE_ACTIVITY, this::featureActivity);
        add(Sections.WATCHED, new WatchedMeasure(site));
        add(Sections.CANDIDATE, this::candidate);
        add(Sections.FEATURE_NAMES, this::featureNames);
        add(Sections.DOWNSTREAM, Measures::downstream);
        add(Sections.SPECTRUM, this::spectrum);
    }

    private <V> void add(SectionKind<V> kind, Measure<V> measure) {
        entries.add(new Entry<>(kind, measure));
    }

    List<Measured<?>> of(WindowView view) {
        List<Measured<?>> measured = new ArrayList<>();
        entries.forEach(entry -> measured.add(entry.of(view)));
        return measured;
    }

    private static Measure.Telling<List<WorstRequest>> worstRequests(WindowView view) {
        return (decision, told) -> WorstRequest.of(view.requests(), decision.deciding());
    }

    private Measure.Telling<CoverageReport> coverage(WindowView view) {
        return (decision, told) -> decision.before()
                .coverage()
                .report(view.window().notes().coverage(), site.settings().coverage());
    }

    private Measure.Telling<String> energyWarning(WindowView view) {
        String warning = EnergyWarning.of(view.geometry(), site.geometry());
        return (decision, told) -> warning;
    }

    private static Measure.Telling<Repeats> repeats(WindowView view) {
        Repeats measured = view.suspect() ? repeatsOf(view) : null;
        return (decision, told) -> {
            if (!decision.drifted()) {
                return null;
            }
            return measured == null ? repeatsOf(view) : measured;
        };
    }

    private static Repeats repeatsOf(WindowView view) {
        RowSample sample = view.window().sample();
        double rate =
                Math.min(1.0, (double) sample.size() / view.window().moment().rows());
        return Repeats.of(RepeatedTraffic.of(sample.rows(), rate));
    }

    private Measure.Telling<ActivityChanges> featureActivity(WindowView view) {
        SampleRows head = view.sample().head();
        ActivityChanges changes = site.explainer().hasCodes()
                ? activity.changes(head.codes(), head.requests(), ActivityComparison.REPORTED)
                : ActivityChanges.notCompared("records bring reconstructions and no codes");
        return (decision, told) -> changes;
    }

    private Measure.Telling<CandidateReport> candidate(WindowView view) {
        WatchedSite.Shadow shadow = site.shadow();
        ExplainerTrial trial = view.trial();
        if (shadow == null || trial == null) {
            return (decision, told) -> null;
        }
        String sha256 = shadow.explainer().decoder().sha256();
        return (decision, told) -> new CandidateReport(
                shadow.isCandidate() ? "candidate" : "trained",
                sha256,
                standing(trial),
                trial.rows(),
                trial.errors().requests(),
                finite(trial.shadow().fvu()),
                finite(trial.inService().fvu()),
                finite(trial.halfWidth()),
                figures(view.shadowBehaviour()),
                trial.shadow().activePerRow(),
                trial.inService().activePerRow(),
                trial.shadow().seen(),
                trial.inService().seen(),
                decision.trials().windows(),
                decision.trials().betterWindows(),
                decision.proposes(),
                shadow.lostWatched());
    }

    private static @Nullable Map<String, Figure> figures(@Nullable WindowBehaviour behaviour) {
        return behaviour == null ? null : DownstreamReport.of(behaviour, 0).trained();
    }

    private static CandidateReport.Standing standing(ExplainerTrial trial) {
        if (!trial.errors().isComparable()) {
            return CandidateReport.Standing.UNKNOWN;
        }
        return trial.shadowIsBetter()
                ? CandidateReport.Standing.BETTER
                : trial.shadowIsWorse() ? CandidateReport.Standing.WORSE : CandidateReport.Standing.ALIKE;
    }

    private static @Nullable Double finite(double value) {
        return Double.isFinite(value) ? value : null;
    }

    private Measure.Telling<Map<Integer, FeatureName>> featureNames(WindowView view) {
        return (decision, told) -> site.names().of(listed(told));
    }

    private static IntStream listed(Sections told) {
        List<FailingFeature> failing = told.get(Sections.FAILING_FEATURES);
        ActivityChanges changes = told.get(Sections.FEATURE_ACTIVITY);
        WatchedReport watched = told.get(Sections.WATCHED);
        return IntStream.concat(
                watched == null
                        ? IntStream.empty()
                        : watched.features().stream().mapToInt(WatchedReport.OfFeature::feature),
                listed(failing, changes));
    }

    private static IntStream listed(@Nullable List<FailingFeature> failing, @Nullable ActivityChanges changes) {
        return IntStream.concat(
                failing == null ? IntStream.empty() : failing.stream().mapToInt(FailingFeature::feature),
                changes == null
                        ? IntStream.empty()
                        : changes.features().stream().mapToInt(ActivityChange::feature));
    }

    private static Measure.Telling<DownstreamReport> downstream(WindowView view) {
        WindowBehaviour behaviour = view.behaviour();
        WholeRequests whole = view.window().whole();
        DownstreamReport report =
                behaviour == null ? null : DownstreamReport.of(behaviour, whole == null ? 0 : whole.split());
        return (decision, told) -> report;
    }

    private Measure.Telling<Spectrum> spectrum(WindowView view) {
        Spectrum spectrum = Spectrum.of(
                view.subspace(),
                site.geometry().baselineSubspace(),
                view.geometry().value(Statistic.BASELINE_GAP).isPresent());
        return (decision, told) -> spectrum;
    }
}
