package io.plumbline.topology.assessment;

import io.plumbline.explainer.Decoder;
import org.jspecify.annotations.Nullable;

/** Which decoder explains a site at the moment. Thread-safe; asked once per window. */
public interface ActiveDecoders {

    /** A published decoder with its version. */
    record Active(Decoder decoder, long version) {}

    /** The newest published decoder of {@code site}; null while there is none and the trained one as it came is active. */
    @Nullable
    Active of(String site);

    /** The same once {@code version} has been read, or what there is after a while without it. */
    default @Nullable Active awaitVersion(String site, long version) {
        return of(site);
    }
}
