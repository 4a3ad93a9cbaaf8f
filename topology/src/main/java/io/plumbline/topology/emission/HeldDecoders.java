package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The published decoders that somebody in this process holds, by what they are made of, so that the process makes and
 * holds each of them once: the adapter that publishes one, the monitor that watches it and every {@link
 * DecoderSubscriber} share it. Making one of factors takes {@code 4 k d r} flops and a SHA-256 of {@code 4 k d} bytes,
 * reading one that travels as weights {@code 4 k d} bytes.
 *
 * <p>A decoder is found by three SHA-256: of the artefact, whose bytes a reader has hashed itself, of the trained
 * decoder, and of the decoder they make, which was computed from its weights in this process; of weights the first is
 * the last. What the topic says alone finds nothing. References are weak: a decoder that nobody uses any more is given
 * up. Thread-safe.
 */
final class HeldDecoders {

    /** The decoders that this process holds. */
    static final HeldDecoders OF_THIS_PROCESS = new HeldDecoders();

    private record Name(String parentSha256, String artefactSha256, String sha256) {
        static Name of(DecoderManifest manifest) {
            return new Name(manifest.parentSha256(), manifest.sha256OfArtefact(), manifest.sha256());
        }
    }

    private final Map<Name, WeakReference<Decoder>> held = new ConcurrentHashMap<>();

    /**
     * Says that a decoder is held.
     *
     * @param manifest of the artefact that makes exactly this decoder
     */
    void hold(DecoderManifest manifest, Decoder decoder) {
        held.values().removeIf(reference -> reference.get() == null);
        held.put(Name.of(manifest), new WeakReference<>(decoder));
    }

    /**
     * Returns the decoder of a manifest: the one that is held, or a new one. Who asks for a decoder that somebody else
     * is making waits for it.
     *
     * @param manifest whose artefact the caller has hashed
     * @param make makes and checks the decoder; what it throws leaves nothing behind
     */
    Decoder of(DecoderManifest manifest, Supplier<Decoder> make) {
        Decoder[] found = new Decoder[1];
        held.compute(Name.of(manifest), (name, reference) -> {
            @Nullable Decoder known = reference == null ? null : reference.get();
            found[0] = known == null ? make.get() : known;
            return reference == null || known == null ? new WeakReference<>(found[0]) : reference;
        });
        return found[0];
    }
}
