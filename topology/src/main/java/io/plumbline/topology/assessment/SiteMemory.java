package io.plumbline.topology.assessment;

import io.plumbline.calibration.DriftState;
import java.nio.ByteBuffer;

/**
 * What the monitor remembers about a site between windows.
 *
 * @param drift debounce and hysteresis
 * @param warning the same of the statistics that warn
 * @param lastRequestMs end of the window that last asked for an adaptation, {@link #NEVER} before the first
 * @param mayBeAdapted whether an adaptation was asked for since the site was last aligned
 */
record SiteMemory(DriftState drift, DriftState warning, long lastRequestMs, boolean mayBeAdapted) {

    static final long NEVER = Long.MIN_VALUE;
    /** Version 1 had no state of warnings: its sites start without one. */
    private static final byte BEFORE_WARNINGS = 1;

    private static final byte VERSION = 2;
    private static final int HEADER_BYTES = 10;

    static SiteMemory initial() {
        return new SiteMemory(DriftState.INITIAL, DriftState.INITIAL, NEVER, false);
    }

    /** Version byte, may be adapted, last request (8 bytes, big endian), then the {@link DriftState} of triggers and of warnings. */
    byte[] encode() {
        byte[] state = drift.encode();
        return ByteBuffer.allocate(HEADER_BYTES + 2 * state.length)
                .put(VERSION)
                .put((byte) (mayBeAdapted ? 1 : 0))
                .putLong(lastRequestMs)
                .put(state)
                .put(warning.encode())
                .array();
    }

    static SiteMemory decode(byte[] bytes) {
        if (bytes.length < HEADER_BYTES
                || (bytes[0] != VERSION && bytes[0] != BEFORE_WARNINGS)
                || (bytes[0] == VERSION && bytes.length % 2 != 0)) {
            throw new IllegalStateException(
                    "the state store holds a site memory this program did not write; reset the application's state");
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, bytes.length - 1);
        boolean mayBeAdapted = buffer.get() != 0;
        long lastRequestMs = buffer.getLong();
        boolean warns = bytes[0] == VERSION;
        byte[] state = new byte[warns ? buffer.remaining() / 2 : buffer.remaining()];
        buffer.get(state);
        DriftState drift = DriftState.decode(state);
        if (!warns) {
            return new SiteMemory(drift, DriftState.INITIAL, lastRequestMs, mayBeAdapted);
        }
        buffer.get(state);
        return new SiteMemory(drift, DriftState.decode(state), lastRequestMs, mayBeAdapted);
    }
}
