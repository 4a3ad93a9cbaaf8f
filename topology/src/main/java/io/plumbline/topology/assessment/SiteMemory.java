package io.plumbline.topology.assessment;

import io.plumbline.calibration.DriftState;
import java.nio.ByteBuffer;

/**
 * What the monitor remembers about a site between windows.
 *
 * @param drift debounce and hysteresis
 * @param lastRequestMs end of the window that last asked for an adaptation, {@link #NEVER} before the first
 * @param mayBeAdapted whether an adaptation was asked for since the site was last aligned
 */
record SiteMemory(DriftState drift, long lastRequestMs, boolean mayBeAdapted) {

    static final long NEVER = Long.MIN_VALUE;
    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 10;

    static SiteMemory initial() {
        return new SiteMemory(DriftState.INITIAL, NEVER, false);
    }

    /** Version byte, may be adapted, last request (8 bytes, big endian), then the {@link DriftState}. */
    byte[] encode() {
        byte[] state = drift.encode();
        return ByteBuffer.allocate(HEADER_BYTES + state.length)
                .put(VERSION)
                .put((byte) (mayBeAdapted ? 1 : 0))
                .putLong(lastRequestMs)
                .put(state)
                .array();
    }

    static SiteMemory decode(byte[] bytes) {
        if (bytes.length < HEADER_BYTES || bytes[0] != VERSION) {
            throw new IllegalStateException(
                    "the state store holds a site memory this program did not write; reset the application's state");
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, bytes.length - 1);
        boolean mayBeAdapted = buffer.get() != 0;
        long lastRequestMs = buffer.getLong();
        byte[] state = new byte[buffer.remaining()];
        buffer.get(state);
        return new SiteMemory(DriftState.decode(state), lastRequestMs, mayBeAdapted);
    }
}
