package io.plumbline.topology.assessment;

import io.plumbline.baseline.DriftJudge;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.explainer.KnownCodes;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Judges the windows of one site: {@link #measure} on any thread, {@link #decide} on the stream thread in the order of
 * the windows.
 */
final class SiteJudge {

    private final WatchedSite site;
    private final WindowMeter meter;
    private final SiteDecision decision;

    /** Whether the newest window was drifted: the measurement of the next one reads it, whoever judges that. */
    private final AtomicBoolean drifted;

    /** Judges a site without running the rest of its model. */
    SiteJudge(WatchedSite site) {
        this(site, null, null, null);
    }

    /**
     * @param before who judged the site until now; null: nobody
     * @param probe runs the rest of the model; null: nothing does
     * @param shadowProbe runs it behind the explainer that is measured beside the site's
     */
    SiteJudge(
            WatchedSite site,
            @Nullable SiteJudge before,
            @Nullable BehaviourProbe probe,
            @Nullable BehaviourProbe shadowProbe) {
        drifted = before == null ? new AtomicBoolean() : before.drifted;
        this.site = site;
        SiteSettings settings = site.settings();
        Threshold clear = settings.alarms().clear();
        DriftJudge judge = new DriftJudge(
                site.baseline(),
                settings.alarms().triggers(),
                settings.alarms().threshold(),
                clear == null ? settings.alarms().threshold() : clear,
                settings.alarms().debounce(),
                settings.alarms().minimumRows());
        meter = new WindowMeter(site, probe, shadowProbe, judge);
        decision = new SiteDecision(site, judge);
    }

    /** Returns whether it judges by this very site. */
    @SuppressWarnings("ReferenceEquality") // a site that did not change is the same object, moments and all
    boolean isOf(WatchedSite one) {
        return site == one;
    }

    /** Names what a window asks the adapter for. */
    enum Ask {
        NOTHING,
        ADAPT,
        REVERT,
        ROLL_BACK
    }

    /**
     * The report of a window, the memory of its site, and what is asked for.
     *
     * @param proposes whether the candidate is to be proposed
     * @param codes of the rows that are sent to the adapter, as far as they are known
     */
    record Judgement(WindowReport report, SiteMemory memory, Ask ask, boolean proposes, KnownCodes codes) {}

    /** Measures and judges a window at once. */
    Judgement judge(ClosedWindow window, SiteMemory memory, ActiveDecoders.@Nullable Active active) {
        return decide(measure(window, active), memory);
    }

    /** Returns everything about a window that needs no memory of its site. */
    Measurement measure(ClosedWindow window, ActiveDecoders.@Nullable Active active) {
        return meter.measure(window, active, drifted.get());
    }

    /** Returns what follows from a measurement and from what is remembered. */
    Judgement decide(Measurement measured, SiteMemory memory) {
        Judgement judgement = decision.decide(measured, memory);
        drifted.set(judgement.report().judged().verdict() == Verdict.DRIFTED);
        site.codes().keep(judgement.codes());
        return judgement;
    }

    /** Returns the model whose sites are judged as one with this one; null where there is none. */
    @Nullable
    String model() {
        return site.settings().alarms().model();
    }

    /** Returns what names the explainer that it judges by. */
    String explainerSha256() {
        return site.explainerSha256();
    }

    SiteId id() {
        return site.id();
    }

    /** Returns whether the adapter judges refits of this site by what the model does, and so needs whole requests. */
    boolean sendsRequests() {
        DownstreamSettings downstream = site.settings().downstream();
        return downstream != null && downstream.gate();
    }
}
