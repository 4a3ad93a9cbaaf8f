package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The published decoders that somebody in this process holds, so that the process holds each of them once: the adapter
 * that publishes one, the monitor that watches it and every {@link DecoderSubscriber} share its {@code 4 k d} bytes.
 *
 * <p>A decoder is found by the SHA-256 of the artefact, whose bytes a reader has hashed itself: what the topic says
 * alone finds nothing. References are weak: a decoder that nobody uses any more is given up. Thread-safe.
 */
final class HeldDecoders {

    /** The decoders that this process holds. */
    static final HeldDecoders OF_THIS_PROCESS = new HeldDecoders();

    private final Map<String, WeakReference<Decoder>> held = new ConcurrentHashMap<>();

    /**
     * Says that a decoder is held.
     *
     * @param sha256 of the artefact that is read as exactly this decoder
     */
    void hold(String sha256, Decoder decoder) {
        held.values().removeIf(reference -> reference.get() == null);
        held.put(sha256, new WeakReference<>(decoder));
    }

    /**
     * Returns the decoder of an artefact: the one that is held, or a new one. Who asks for a decoder that somebody else
     * is reading waits for it.
     *
     * @param sha256 of the artefact, as the caller has hashed it
     * @param read reads and checks the decoder; what it throws leaves nothing behind
     */
    Decoder of(String sha256, Supplier<Decoder> read) {
        Decoder[] found = new Decoder[1];
        held.compute(sha256, (name, reference) -> {
            @Nullable Decoder known = reference == null ? null : reference.get();
            found[0] = known == null ? read.get() : known;
            return reference == null || known == null ? new WeakReference<>(found[0]) : reference;
        });
        return found[0];
    }
}
