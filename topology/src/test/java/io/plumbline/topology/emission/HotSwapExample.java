package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Shows the hot swap as the README does, so that it compiles; the lines between the marks are compared word for word.
 */
abstract class HotSwapExample {

    @SuppressWarnings("try") // the subscriber is held open, not used
    void swap(Path folder, Properties kafka) throws IOException {
        // README begins
        Explainer explainer = Explainer.read(folder);
        AtomicReference<Decoder> active = new AtomicReference<>(explainer.decoder());
        DecoderSubscription subscription = DecoderSubscription.of(Map.of("encoder.layer.2", explainer.decoder()));
        try (DecoderSubscriber subscriber = DecoderSubscriber.start(
                kafka, "decoders", subscription, published -> active.set(published.decoder()))) {
            serve(explainer.encoder(), active);
        }
        // README ends
    }

    abstract void serve(Encoder encoder, AtomicReference<Decoder> active);
}
