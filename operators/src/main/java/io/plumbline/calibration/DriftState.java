package io.plumbline.calibration;

import java.nio.ByteBuffer;

/**
 * What a {@link DriftPolicy} remembers about a site between windows.
 *
 * @param drifted whether the site stands as drifted
 * @param over bit i: the i-th last decided window was over the threshold
 * @param clear bit i: it was at or below the clear level
 * @param decided decided windows so far, at most 64 counted
 */
public record DriftState(boolean drifted, long over, long clear, int decided) {

    private static final byte VERSION = 1;
    private static final int BYTES = 22;

    /** A site nothing is known of. */
    public static DriftState initial() {
        return new DriftState(false, 0, 0, 0);
    }

    DriftState seen(boolean isOver, boolean isClear) {
        return new DriftState(
                drifted, over << 1 | (isOver ? 1 : 0), clear << 1 | (isClear ? 1 : 0), Math.min(64, decided + 1));
    }

    /** The windows before a change of state say nothing about the next one. */
    DriftState turned(boolean nowDrifted) {
        return new DriftState(nowDrifted, 0, 0, 0);
    }

    /** Version byte, drifted, over, clear, decided; big endian. */
    public byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .put(VERSION)
                .put((byte) (drifted ? 1 : 0))
                .putLong(over)
                .putLong(clear)
                .putInt(decided)
                .array();
    }

    /** Throws {@link IllegalArgumentException} when the bytes are not a state of this version. */
    public static DriftState decode(byte[] bytes) {
        if (bytes.length != BYTES || bytes[0] != VERSION) {
            throw new IllegalArgumentException("drift state of %d bytes, version %d: expected %d bytes, version %d"
                    .formatted(bytes.length, bytes.length == 0 ? -1 : bytes[0], BYTES, VERSION));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, BYTES - 1);
        return new DriftState(buffer.get() != 0, buffer.getLong(), buffer.getLong(), buffer.getInt());
    }
}
