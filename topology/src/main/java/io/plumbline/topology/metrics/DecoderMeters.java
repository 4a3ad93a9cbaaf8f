package io.plumbline.topology.metrics;

import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.PublishedDecoder;
import io.prometheus.metrics.model.registry.MultiCollector;
import java.time.Clock;
import java.util.List;

/**
 * Meters of the subscriber of decoders: which decoder serves each site in this process, and where the adapter says it
 * stands. Never blocks; {@link Metrics#guarded} contains its failures.
 */
public final class DecoderMeters implements DecoderListener {

    private final SiteCounters sites;
    private final HeldDecoders heldDecoders = new HeldDecoders();
    private final SiteSwaps siteSwaps;

    /** Whether the subscriber has caught up; set and read on its one thread. */
    private boolean caughtUp;

    DecoderMeters(SiteCounters sites, Clock wallClock) {
        this.sites = sites;
        siteSwaps = new SiteSwaps(wallClock);
    }

    List<MultiCollector> collectors() {
        return List.of(heldDecoders, siteSwaps);
    }

    /** Shows who may change the decoder of a configured site. */
    public void configured(String site, SwapRules.Mode mode) {
        if (sites.of(site).hasSeries()) {
            siteSwaps.mode(site, mode);
        }
    }

    /** Shows the trained decoder as the one in service, before anything is read from the decoders topic. */
    public void trained(String site, String sha256) {
        held(site, 0, DecoderKind.TRAINED, sha256);
    }

    /** Shows the decoder; one that comes after the subscriber caught up replaces another while the process runs. */
    @Override
    public void onDecoder(PublishedDecoder decoder) {
        held(
                decoder.site(),
                decoder.version(),
                decoder.manifest().kind(),
                decoder.manifest().sha256());
    }

    void held(String site, long version, DecoderKind kind, String sha256) {
        Counters.OfSite ofSite = sites.of(site);
        if (caughtUp) {
            ofSite.swaps().increment();
        }
        if (ofSite.hasSeries()) {
            heldDecoders.put(site, version, kind.label(), sha256);
        }
    }

    @Override
    public void onSwapState(String site, SwapState state) {
        siteSwaps.told(site, state);
    }

    /** Counts the refusal; a name that is no site's does not become a label. */
    @Override
    public void onRefused(String site, long version, String reason) {
        sites.ofKnown(site).decoderRefusals().increment();
    }

    @Override
    public void onCaughtUp() {
        caughtUp = true;
    }

    @Override
    public void onInterrupted(String reason) {
        heldDecoders.interrupted(true);
    }

    @Override
    public void onResumed() {
        heldDecoders.interrupted(false);
    }
}
