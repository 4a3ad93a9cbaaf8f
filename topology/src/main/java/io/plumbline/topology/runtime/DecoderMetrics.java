package io.plumbline.topology.runtime;

import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.console.Console;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.metrics.Metrics;

/**
 * Tells {@link Metrics} and {@link Console} which decoders the subscriber takes into service and which not, and where
 * the adapter says it stands.
 */
final class DecoderMetrics implements DecoderListener {

    private final Metrics metrics;
    private final Console console;

    /** Set and read on the subscriber's one thread. */
    private boolean caughtUp;

    DecoderMetrics(Metrics metrics, Console console) {
        this.metrics = metrics;
        this.console = console;
    }

    @Override
    public void onDecoder(PublishedDecoder decoder) {
        metrics.decoderHeld(
                decoder.site(),
                decoder.version(),
                decoder.manifest().kind().label(),
                decoder.manifest().sha256(),
                caughtUp);
        console.onDecoder(decoder.site(), decoder.manifest());
    }

    /** Never called here: this process has the trained decoders of the sites it subscribes to. */
    @Override
    public void onListed(DecoderManifest manifest) {}

    @Override
    public void onSwapState(String site, SwapState state) {
        SwapState.Waiting waiting = state.waiting();
        metrics.swapsTold(site, state.pinned(), waiting == null ? 0 : waiting.number());
        console.onSwapState(site, state);
    }

    @Override
    public void onRefused(String site, long version, String reason) {
        metrics.decoderRefused(site);
        console.onRefused(site, version, reason);
    }

    @Override
    public void onCaughtUp() {
        caughtUp = true;
    }

    @Override
    public void onInterrupted(String reason) {
        metrics.decodersInterrupted(true);
    }

    @Override
    public void onResumed() {
        metrics.decodersInterrupted(false);
    }
}
