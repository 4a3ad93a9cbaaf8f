package io.plumbline.topology.runtime;

import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.metrics.Metrics;

/** Tells {@link Metrics} what the subscriber of published decoders does not take into service. */
record DecoderMetrics(Metrics metrics) implements DecoderListener {

    /** The windows tell: each carries the version it was judged with. */
    @Override
    public void onDecoder(PublishedDecoder decoder) {}

    @Override
    public void onRefused(String site, long version, String reason) {
        metrics.decoderRefused(site);
    }
}
