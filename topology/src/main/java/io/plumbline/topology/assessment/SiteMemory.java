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
 * @param swap how the decoder in service has done since its swap
 */
record SiteMemory(DriftState drift, DriftState warning, long lastRequestMs, boolean mayBeAdapted, SwapWatch swap) {

    static final long NEVER = Long.MIN_VALUE;
    /** Version 1 had no state of warnings: its sites start without one. */
    private static final byte BEFORE_WARNINGS = 1;

    /** Version 2 did not watch swaps: a decoder in service counts as swapped in anew. */
    private static final byte BEFORE_SWAPS = 2;

    private static final byte VERSION = 3;
    private static final int SWAP_BYTES = 16;
    private static final int HEADER_BYTES = 10;

    static SiteMemory initial() {
        return new SiteMemory(DriftState.INITIAL, DriftState.INITIAL, NEVER, false, SwapWatch.NONE);
    }

    /**
     * Version byte, may be adapted, last request (8 bytes, big endian), the {@link DriftState} of triggers and of warnings, then
     * of the {@link SwapWatch} version (8), windows (4) and worse (4).
     */
    byte[] encode() {
        byte[] state = drift.encode();
        return ByteBuffer.allocate(HEADER_BYTES + 2 * state.length + SWAP_BYTES)
                .put(VERSION)
                .put((byte) (mayBeAdapted ? 1 : 0))
                .putLong(lastRequestMs)
                .put(state)
                .put(warning.encode())
                .putLong(swap.version())
                .putInt(swap.windows())
                .putInt(swap.worse())
                .array();
    }

    static SiteMemory decode(byte[] bytes) {
        byte version = bytes.length < HEADER_BYTES ? 0 : bytes[0];
        int states = version == BEFORE_WARNINGS ? 1 : 2;
        int stateBytes = bytes.length - HEADER_BYTES - (version > BEFORE_SWAPS ? SWAP_BYTES : 0);
        if (version < BEFORE_WARNINGS || version > VERSION || stateBytes < 0 || stateBytes % states != 0) {
            throw new IllegalStateException(
                    "the state store holds a site memory this program did not write; reset the application's state");
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, bytes.length - 1);
        boolean mayBeAdapted = buffer.get() != 0;
        long lastRequestMs = buffer.getLong();
        byte[] state = new byte[stateBytes / states];
        buffer.get(state);
        DriftState drift = DriftState.decode(state);
        DriftState warning = DriftState.INITIAL;
        if (version > BEFORE_WARNINGS) {
            buffer.get(state);
            warning = DriftState.decode(state);
        }
        SwapWatch swap = version > BEFORE_SWAPS
                ? new SwapWatch(buffer.getLong(), buffer.getInt(), buffer.getInt())
                : SwapWatch.NONE;
        return new SiteMemory(drift, warning, lastRequestMs, mayBeAdapted, swap);
    }
}
