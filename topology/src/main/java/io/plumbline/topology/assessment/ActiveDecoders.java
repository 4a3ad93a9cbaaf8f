package io.plumbline.topology.assessment;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.Subspace;
import org.jspecify.annotations.Nullable;

/** Knows which decoder explains a site at the moment. Thread-safe; asked once per window. */
public interface ActiveDecoders {

    /**
     * A published decoder with its version.
     *
     * @param subspace the directions it writes in, at the site's rank; null until that was computed, which takes a
     *     second or some for a wide one, and where the decoder does not determine them
     * @param explainerSha256 of the trained decoder it was made from, which names its encoder; null: the site's own
     */
    record Active(
            Decoder decoder,
            long version,
            @Nullable Subspace subspace,
            @Nullable String explainerSha256) {

        public Active(Decoder decoder, long version) {
            this(decoder, version, null, null);
        }
    }

    /**
     * The newest published decoder of {@code site}; null while there is none and the trained one as it came is active.
     */
    @Nullable
    Active of(String site);

    /** Returns the decoder in service once {@code version} has been read, or what there is after a while without it. */
    default @Nullable Active awaitVersion(String site, long version) {
        return of(site);
    }
}
