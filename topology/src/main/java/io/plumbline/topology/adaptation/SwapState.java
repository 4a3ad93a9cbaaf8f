package io.plumbline.topology.adaptation;

import io.plumbline.topology.assessment.Json;

/**
 * What the adapter has committed itself to for a site. In its store: JSON with snake-case keys; keys it does not know are
 * passed over, so that a key can be added.
 *
 * @param version of the decoder published last, 0 before the first
 * @param adapted whether that one is an adapted decoder
 */
record SwapState(long version, boolean adapted) {

    static final SwapState INITIAL = new SwapState(0, false);

    SwapState published(long newVersion, boolean isAdapted) {
        return new SwapState(newVersion, isAdapted);
    }

    byte[] encode() {
        return Json.bytes(this);
    }

    static SwapState decode(byte[] bytes) {
        try {
            return Json.read(bytes, SwapState.class);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(
                    "the state store holds a swap state this program did not write; reset the application's state", e);
        }
    }
}
