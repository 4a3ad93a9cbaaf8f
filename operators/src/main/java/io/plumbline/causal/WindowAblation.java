package io.plumbline.causal;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Holds what removing features of the last row of a window's requests does to the token that the model predicts there.
 * It is reported and judges nothing: it does not rank decoders.
 *
 * @param requests in which features were removed
 * @param excluded of these, those whose logit the trained decoder's features hardly move, which are left out
 * @param trained of the trained decoder: {@code naopc}, {@code ncomp}, {@code ncomp8} and {@code ncomp4}; empty where
 *     all are left out
 * @param active of the decoder in service; null while that is the trained one
 */
public record WindowAblation(
        int requests,
        int excluded,
        Map<String, Figure> trained,
        @Nullable Map<String, Figure> active) {

    public WindowAblation {
        trained = Collections.unmodifiableMap(new TreeMap<>(trained));
        active = active == null ? null : Collections.unmodifiableMap(new TreeMap<>(active));
    }
}
