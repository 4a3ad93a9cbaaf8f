package io.plumbline.topology.runtime;

import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.metrics.Metrics;

/** Tells {@link Metrics} what the subscriber of published decoders does not take into service, and where the adapter says it stands. */
record DecoderMetrics(Metrics metrics) implements DecoderListener {

    /** The windows tell: each carries the version it was judged with. */
    @Override
    public void onDecoder(PublishedDecoder decoder) {}

    @Override
    public void onSwapState(String site, SwapState state) {
        SwapState.Waiting waiting = state.waiting();
        metrics.swapsTold(site, state.pinned(), waiting == null ? 0 : waiting.number());
    }

    @Override
    public void onRefused(String site, long version, String reason) {
        metrics.decoderRefused(site);
    }
}
