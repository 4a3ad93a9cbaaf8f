package io.plumbline.topology.assessment;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.features.FailingFeatures;
import io.plumbline.features.FalseDiscoveries;
import io.plumbline.features.MeanTest;
import io.plumbline.features.WatchedChange;
import io.plumbline.features.WatchedFeatures;
import io.plumbline.features.WatchedNumbers;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Subspace;
import io.plumbline.judgement.Reading;
import io.plumbline.judgement.Threshold;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMoment;
import io.plumbline.probes.Probe;
import io.plumbline.probes.WatchSettings;
import io.plumbline.probes.WatchedProbes;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.RequestTotal;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.report.WatchedParts;
import io.plumbline.topology.report.WatchedReport;
import io.plumbline.topology.report.WatchedReport.Harm;
import io.plumbline.topology.report.WatchedReport.Hurt;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a window hurts what somebody relies on. All tests of a site are one family, so that a rate is one of
 * windows ({@link FalseDiscoveries}). Thread-safe.
 */
final class WatchedMeasure implements Measure<WatchedReport> {

    private static final Comparator<Hurt> SUREST_FIRST =
            Comparator.comparing(Hurt::qValue, Comparator.nullsLast(Comparator.naturalOrder()));

    private final WatchedSite site;
    private final WatchSettings watch;
    private final MeanTest test;
    private final @Nullable DriftJudge behaviour;

    /** Made with the first window, since it encodes the rows that the baseline keeps. */
    private @Nullable Known known;

    /** @param inputs leading subspace of the rows that probes read, where these are not the targets; else null */
    private record Known(
            WatchedFeatures features,
            WatchedProbes probes,
            int requests,
            @Nullable Subspace inputs) {}

    WatchedMeasure(WatchedSite site) {
        this.site = site;
        watch = site.settings().watch();
        test = MeanTest.resolving(watch.falseDiscoveryRate() / Math.max(1, watch.tests()));
        behaviour = site.settings().downstream() == null
                ? null
                : behaviour(site.settings().alarms(), site.baseline());
    }

    /**
     * Returns the judge of the KL by its own threshold, else by that of warnings, which are of the site alone; null
     * where that is of others.
     */
    static @Nullable DriftJudge behaviour(SiteSettings.Alarms alarms, Baseline baseline) {
        String kl = Statistic.KL.label();
        boolean triggers = alarms.triggers().contains(kl);
        Threshold threshold = triggers ? alarms.threshold() : alarms.warnThreshold();
        return threshold.isCalibrated() || triggers || alarms.warn().contains(kl)
                ? new DriftJudge(
                        triggers ? baseline : baseline.byItself(),
                        List.of(kl),
                        threshold,
                        threshold,
                        alarms.debounce(),
                        alarms.minimumRows())
                : null;
    }

    @Override
    public Telling<WatchedReport> of(WindowView view) {
        WatchedReport report = report(view);
        return (decision, told) -> report;
    }

    private WatchedReport report(WindowView view) {
        SampleRows head = view.sample().head();
        List<WatchedNumbers> numbers = new ArrayList<>();
        Known clean = watch.isEmpty() || head.rows() == 0 ? null : known();
        List<WatchedProbes.Scores> scores = List.of();
        if (clean != null) {
            List<SampledRow> rows = view.window().sample().rows();
            double all = view.window().moment().rows();
            numbers.addAll(
                    clean.features().numbers(test, head, view.sample().ofTrained(), Math.min(1.0, head.rows() / all)));
            scores = clean.probes().scores(test, rows, Math.min(1.0, rows.size() / all));
            scores.forEach(one -> numbers.add(one.numbers()));
        }
        List<List<WatchedChange>> changes =
                numbers.stream().map(WatchedNumbers::changes).toList();
        Family family = Family.of(changes, watch.falseDiscoveryRate());
        List<WatchedParts> divisions = divisions(view.window());
        long[] ofFeatures = distinct(Arrays.stream(head.requests()));
        long[] ofProbes = distinct(view.window().sample().rows().stream().mapToLong(SampledRow::request));
        Outside outside = Outside.of(site, view, clean == null ? null : clean.inputs());
        List<WatchedReport.OfFeature> features = new ArrayList<>();
        List<WatchedReport.OfProbe> probes = new ArrayList<>();
        List<Hurt> hurt = new ArrayList<>();
        for (int i = 0; i < changes.size(); i++) {
            int probe = i - watch.features().size();
            String name = probe < 0
                    ? "feature " + watch.features().get(i)
                    : site.probes().get(probe).name();
            List<Hurt> own = family.hurt(name, changes.get(i), i);
            hurt.addAll(own);
            if (probe < 0) {
                List<WatchedReport.Part> parts = parts(divisions, ofFeatures, numbers.get(i));
                features.add(ofFeature(
                        name, watch.features().get(i), changes.get(i), !own.isEmpty(), parts, family.least(i)));
            } else {
                List<WatchedReport.Part> parts = parts(divisions, ofProbes, numbers.get(i));
                probes.add(ofProbe(
                        site.probes().get(probe), scores.get(probe), outside, !own.isEmpty(), parts, family.least(i)));
            }
        }
        hurt.sort(SUREST_FIRST);
        Reading kl =
                behaviour == null ? null : behaviour.readings(view.geometry()).get(0);
        Harm harm = harm(!hurt.isEmpty(), clean != null && family.decides(watch), kl);
        if (kl != null && Boolean.TRUE.equals(kl.exceeded())) {
            hurt.add(new Hurt("model", kl.statistic(), kl.threshold(), Objects.requireNonNull(kl.value()), null));
        }
        return new WatchedReport(
                harm,
                hurt,
                (int) Arrays.stream(head.requests()).distinct().count(),
                clean == null ? 0 : clean.requests(),
                features,
                probes);
    }

    private Harm harm(boolean isHurt, boolean decides, @Nullable Reading kl) {
        if (isHurt) {
            return Harm.WATCHED;
        }
        Boolean exceeded = kl == null ? null : kl.exceeded();
        if (Boolean.TRUE.equals(exceeded)) {
            return Harm.BEHAVIOUR;
        }
        boolean known = watch.isEmpty() ? exceeded != null : decides;
        return known ? Harm.NONE : Harm.UNKNOWN;
    }

    private static WatchedReport.OfFeature ofFeature(
            String name,
            int feature,
            List<WatchedChange> changes,
            boolean hurt,
            List<WatchedReport.Part> parts,
            @Nullable Double qValue) {
        WatchedChange rate = changes.get(0);
        WatchedChange activation = changes.get(1);
        WatchedChange residual = changes.get(2);
        return new WatchedReport.OfFeature(
                name,
                feature,
                hurt,
                rate.window(),
                rate.baseline(),
                activation.window(),
                activation.baseline(),
                residual.window(),
                residual.baseline(),
                parts,
                qValue);
    }

    private static WatchedReport.OfProbe ofProbe(
            Probe probe,
            WatchedProbes.Scores scores,
            Outside outside,
            boolean hurt,
            List<WatchedReport.Part> parts,
            @Nullable Double qValue) {
        WatchedChange rate = scores.numbers().changes().get(0);
        WatchedChange score = scores.numbers().changes().get(1);
        return new WatchedReport.OfProbe(
                probe.name(),
                hurt,
                probe.pools(),
                probe.threshold(),
                rate.window(),
                rate.baseline(),
                score.window(),
                score.baseline(),
                scores.quantiles(),
                scores.quantilesBaseline(),
                outside.inWindow(probe),
                outside.inBaseline(probe),
                parts,
                qValue);
    }

    private static List<WatchedReport.Part> parts(
            List<WatchedParts> divisions, long[] requests, WatchedNumbers numbers) {
        return divisions.stream()
                .flatMap(division -> division.of(requests, numbers).stream())
                .toList();
    }

    private List<WatchedParts> divisions(ClosedWindow window) {
        List<WatchedParts> divisions = new ArrayList<>();
        RequestTotals totals = window.requestTotals();
        if (totals != null) {
            Map<Long, Long> rows = totals.totals().stream()
                    .collect(Collectors.toMap(RequestTotal::request, RequestTotal::rows, Long::sum));
            divisions.add(WatchedParts.byLength(rows::get));
        }
        String header = site.settings().breakdownBy();
        if (header != null) {
            divisions.add(WatchedParts.by(
                    header, request -> window.notes().originOf(request).value(header)));
        }
        return divisions;
    }

    private static long[] distinct(LongStream requests) {
        return requests.distinct().sorted().toArray();
    }

    /** The leading subspaces of the rows that probes read. */
    private record Outside(
            @Nullable Subspace window, @Nullable Subspace baseline) {

        /** @param inputs of the baseline's rows, where probes read other rows than the targets */
        static Outside of(WatchedSite site, WindowView view, @Nullable Subspace inputs) {
            List<SampledRow> rows = view.window().sample().rows();
            boolean readsTargets = rows.isEmpty() || rows.get(0).target() == null;
            return readsTargets
                    ? new Outside(
                            view.subspace().subspace(),
                            site.geometry().baselineSubspace().subspace())
                    : new Outside(site.probes().isEmpty() ? null : leading(site, rows), inputs);
        }

        /** Returns the leading subspace of what the explainer reads; null where the rows do not span one. */
        static @Nullable Subspace leading(WatchedSite site, List<SampledRow> rows) {
            int rank = site.geometry().rank();
            int d = site.explainer().inputWidth();
            if (rows.size() <= rank || d <= rank) {
                return null;
            }
            SecondMoment read = SecondMoment.of(GivenRows.activations(rows, d));
            ActiveSubspace leading = ActiveSubspace.leadingOnly(read.matrix(), rank, null);
            return leading.isIdentified() ? leading.subspace() : null;
        }

        @Nullable
        Double inWindow(Probe probe) {
            return share(probe, window);
        }

        @Nullable
        Double inBaseline(Probe probe) {
            return share(probe, baseline);
        }

        private static @Nullable Double share(Probe probe, @Nullable Subspace subspace) {
            return subspace == null ? null : Double.valueOf(WatchedProbes.outside(probe, subspace));
        }
    }

    private synchronized Known known() {
        Known made = known;
        if (made == null) {
            List<SampledRow> rows = site.baseline().rows();
            SampleRows clean =
                    FailingFeatures.encoded(site.explainer(), watch.features().isEmpty() ? List.of() : rows);
            made = new Known(
                    WatchedFeatures.of(site.explainer().decoder(), watch.features(), clean),
                    new WatchedProbes(site.probes(), rows),
                    (int) rows.stream()
                            .mapToLong(SampledRow::request)
                            .distinct()
                            .count(),
                    site.probes().isEmpty() || rows.isEmpty() || rows.get(0).target() == null
                            ? null
                            : Outside.leading(site, rows));
            known = made;
        }
        return made;
    }

    /**
     * The q-values of all changes.
     *
     * @param qValues by what is watched and its changes; null where one is not tested
     * @param least the largest of the smallest chances that the tests of means can find
     */
    private record Family(List<List<@Nullable Double>> qValues, double rate, double least) {

        static Family of(List<List<WatchedChange>> changes, double rate) {
            double[] found = FalseDiscoveries.qValues(changes.stream()
                    .flatMap(List::stream)
                    .map(WatchedChange::pValue)
                    .filter(Objects::nonNull)
                    .mapToDouble(Double::doubleValue)
                    .toArray());
            List<List<@Nullable Double>> qValues = new ArrayList<>();
            int next = 0;
            for (List<WatchedChange> own : changes) {
                List<@Nullable Double> ofOne = new ArrayList<>();
                for (WatchedChange change : own) {
                    ofOne.add(change.pValue() == null ? null : found[next++]);
                }
                qValues.add(ofOne);
            }
            return new Family(
                    qValues,
                    rate,
                    changes.stream()
                            .flatMap(List::stream)
                            .filter(change -> !change.what().equals(WatchedChange.SYSTEMATIC_RESIDUAL))
                            .mapToDouble(WatchedChange::least)
                            .max()
                            .orElse(1.0));
        }

        /**
         * Returns whether nothing found means something: each mean is tested, and could alone have been found. A column
         * that is too rarely active to be tested harms as rarely.
         */
        boolean decides(WatchSettings watch) {
            return least * watch.tests() <= rate;
        }

        @Nullable
        Double least(int which) {
            return qValues.get(which).stream()
                    .filter(Objects::nonNull)
                    .min(Comparator.naturalOrder())
                    .orElse(null);
        }

        List<Hurt> hurt(String name, List<WatchedChange> changes, int which) {
            List<Hurt> hurt = new ArrayList<>();
            for (int i = 0; i < changes.size(); i++) {
                WatchedChange change = changes.get(i);
                Double qValue = qValues.get(which).get(i);
                if (qValue != null && qValue <= rate) {
                    hurt.add(new Hurt(name, change.what(), change.baseline(), change.window(), qValue));
                }
            }
            return hurt;
        }
    }
}
