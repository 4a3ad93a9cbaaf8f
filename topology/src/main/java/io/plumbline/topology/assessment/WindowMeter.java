package io.plumbline.topology.assessment;

import io.plumbline.adaptation.ExplainerTrial;
import io.plumbline.adaptation.PairedErrors;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.EncodedErrors;
import io.plumbline.baseline.WindowRequests;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Subspace;
import io.plumbline.judgement.Reading;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.JointMoment;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMoment;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.List;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Measures the windows of one site: all the time that a window takes, and nothing that is remembered of the site, so
 * that it can be done beside the stream. Thread-safe.
 *
 * <p><b>Cost</b> of a window: its leading eigenspace, products of {@code O(d² r)}, and the encoder on at most
 * {@link io.plumbline.baseline.Baseline#encodedRows} rows; where the window looks drifted, on up to
 * {@link io.plumbline.features.FailingFeatures#ROWS}.
 */
final class WindowMeter {

    private final WatchedSite site;
    private final @Nullable BehaviourProbe probe;
    private final @Nullable BehaviourProbe shadowProbe;
    private final DriftJudge judge;
    private final String trainedSha256;
    private final EncodedRowsRule encodedRows;
    private final Measures measures;

    /** A hash is a pass over all weights: once a version. */
    private volatile @Nullable Known newest;

    private record Known(long version, boolean adapted) {}

    /**
     * @param probe runs the rest of the model; null where the site names none
     * @param shadowProbe runs it behind the explainer that is measured beside the site's; null: none
     * @param judge tells which windows look drifted
     */
    WindowMeter(
            WatchedSite site, @Nullable BehaviourProbe probe, @Nullable BehaviourProbe shadowProbe, DriftJudge judge) {
        this.site = site;
        this.probe = probe;
        this.shadowProbe = shadowProbe;
        this.judge = judge;
        this.trainedSha256 = site.explainer().decoder().sha256();
        this.encodedRows = new EncodedRowsRule(site.baseline(), site.settings());
        this.measures = new Measures(site);
    }

    /**
     * Measures a window.
     *
     * @param active the decoder in service; null while that is the trained one as it came
     * @param likelyDrifted whether the window before was drifted: then the sections that describe a drift are probably
     *     needed. Changes no result
     */
    Measurement measure(ClosedWindow window, ActiveDecoders.@Nullable Active active, boolean likelyDrifted) {
        long begin = System.nanoTime();
        Explainer explainer = site.explainer();
        ActiveDecoders.Active adapted = active != null && isAdapted(active) ? active : null;
        JointMoment joint = explainer.isGiven() ? JointMoment.of(window.moment()) : null;
        SecondMoment moment = joint == null ? window.moment() : joint.targets();
        List<SampledRow> rows =
                joint == null ? encodedRows.head(window) : GivenRows.of(encodedRows.head(window), moment.dimension());
        SampleRows head = explainer.hasCodes()
                ? SampleRows.of(explainer.encoder(), rows, explainer.targetWidth())
                : GivenRows.withoutCodes(rows, moment.dimension());
        Matrix ofTrained = joint == null
                ? explainer.decoder().reconstruct(head.codes())
                : GivenRows.activations(rows, moment.dimension());
        Matrix ofActive = active == null ? ofTrained : active.decoder().reconstruct(head.codes());
        ToldRows told = ToldRows.of(explainer.space(), rows, head.targets());
        EncodedErrors errors = EncodedErrors.of(head.requests(), told.targets(), told.of(ofTrained));
        ActiveSubspace subspace = site.geometry().activeSubspace(moment);
        WindowRequests requests =
                WindowRequests.of(site.baseline().requests(), window.requestTotals(), errors.requests());
        WindowBehaviour behaviour = behaviour(probe, window, adapted);
        Double trained = joint == null ? errors.fvu() : finite(joint.fvu());
        GapAssessment geometry = geometry(window, moment, joint, subspace, requests, errors, behaviour);
        WindowView view = new WindowView(
                window,
                adapted,
                geometry,
                requests,
                subspace,
                new EncodedSample(explainer, window.sample().rows(), head, ofTrained),
                behaviour,
                trial(rows, head, ofActive),
                behaviour(shadowProbe, window, null),
                likelyDrifted || judge.readings(geometry).stream().anyMatch(WindowMeter::isAbove));
        List<Measures.Measured<?>> sections = measures.of(view);
        return new Measurement(
                view,
                active == null ? 0 : active.version(),
                active == null ? trained : fvu(Reconstruction.between(told.of(ofActive), told.targets())),
                activeGap(view),
                site.settings().refits().rollback() != null && adapted != null
                        ? PairedErrors.of(head, ofActive, ofTrained)
                        : null,
                sections,
                System.nanoTime() - begin);
    }

    private @Nullable ExplainerTrial trial(List<SampledRow> rows, SampleRows head, Matrix ofActive) {
        WatchedSite.Shadow shadow = site.shadow();
        if (shadow == null || head.rows() == 0) {
            return null;
        }
        SampleRows encoded =
                SampleRows.of(shadow.explainer().encoder(), rows, head.targets().columns());
        return ExplainerTrial.of(head, ofActive, encoded, shadow.explainer());
    }

    private GapAssessment geometry(
            ClosedWindow window,
            SecondMoment moment,
            @Nullable JointMoment joint,
            ActiveSubspace subspace,
            WindowRequests requests,
            EncodedErrors errors,
            @Nullable WindowBehaviour behaviour) {
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
        GapAssessment observed = behaviour == null ? sampled : behaviour.addTo(sampled);
        return joint == null
                ? observed
                : observed.with(Statistic.RECONSTRUCTION_FVU_TRAINED, finite(joint.fvu()))
                        .with(Statistic.RECONSTRUCTION_ERROR, joint.errorEnergy());
    }

    /** Returns what the rest of the model does; null where the site names none. */
    private static @Nullable WindowBehaviour behaviour(
            @Nullable BehaviourProbe probe, ClosedWindow window, ActiveDecoders.@Nullable Active adapted) {
        WholeRequests whole = window.whole();
        return probe == null || whole == null
                ? null
                : probe.measure(whole.requests(), adapted == null ? null : adapted.decoder());
    }

    /** Returns whether a reading is above its threshold. */
    static boolean isAbove(Reading reading) {
        Double value = reading.value();
        Double threshold = reading.threshold();
        return value != null && threshold != null && value > threshold;
    }

    /** The gap of the decoder in service; null where it does not exist or its subspace is not computed yet. */
    private static @Nullable Double activeGap(WindowView view) {
        OptionalDouble ofTrained = view.geometry().value(Statistic.FAITHFULNESS_GAP);
        if (ofTrained.isEmpty()) {
            return null;
        }
        if (view.adapted() == null) {
            return ofTrained.getAsDouble();
        }
        Subspace own = view.adapted().subspace();
        return own == null
                ? null
                : FaithfulnessGap.between(own, view.subspace().subspace()).value();
    }

    private boolean isAdapted(ActiveDecoders.Active active) {
        Known known = newest;
        if (known == null || known.version() != active.version()) {
            known = new Known(active.version(), !active.decoder().sha256().equals(trainedSha256));
            newest = known;
        }
        return known.adapted();
    }

    private static @Nullable Double fvu(Reconstruction reconstruction) {
        return finite(reconstruction.fvu());
    }

    /** Rows that do not vary have no variance to explain. */
    private static @Nullable Double finite(double fvu) {
        return Double.isFinite(fvu) ? fvu : null;
    }
}
