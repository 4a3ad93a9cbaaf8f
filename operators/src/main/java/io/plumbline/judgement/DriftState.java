package io.plumbline.judgement;

import java.nio.ByteBuffer;

/**
 * The memory of a site that a {@link DriftPolicy} keeps between windows.
 *
 * <pre>
 * offset  bytes  field
 * 0       1      version = 1
 * 1       1      1 = drifted, 0 = not
 * 2       1      number of windows remembered, 0 .. 64
 * 3       8      their outcomes, bit 0 the newest, 1 = on the far side of the level in force, big endian
 * </pre>
 */
public record DriftState(boolean drifted, int remembered, long outcomes) {

    /** The state of a site before its first window. */
    public static final DriftState INITIAL = new DriftState(false, 0, 0L);

    static final int LONGEST_MEMORY = 64;
    private static final byte VERSION = 1;
    private static final int BYTES = 11;

    public DriftState {
        if (remembered < 0 || remembered > LONGEST_MEMORY) {
            throw new IllegalArgumentException(
                    "a memory of %d windows: expected 0 to %d".formatted(remembered, LONGEST_MEMORY));
        }
    }

    public byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .put(VERSION)
                .put((byte) (drifted ? 1 : 0))
                .put((byte) remembered)
                .putLong(outcomes)
                .array();
    }

    /** @throws IllegalArgumentException when the bytes are of another length or version */
    public static DriftState decode(byte[] bytes) {
        if (bytes.length != BYTES || bytes[0] != VERSION || (bytes[1] & ~1) != 0) {
            throw new IllegalArgumentException("a drift state of %d bytes%s: expected %d bytes of version %d"
                    .formatted(bytes.length, bytes.length == 0 ? "" : ", version " + bytes[0], BYTES, VERSION));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, BYTES - 1);
        return new DriftState(buffer.get() == 1, buffer.get(), buffer.getLong());
    }

    DriftState remembering(boolean outcome, int memory) {
        long mask = memory == LONGEST_MEMORY ? -1L : (1L << memory) - 1;
        return new DriftState(drifted, Math.min(memory, remembered + 1), ((outcomes << 1) | (outcome ? 1 : 0)) & mask);
    }

    /** Returns the same standing with no window remembered: those before were compared with something else. */
    public DriftState begunAnew() {
        return new DriftState(drifted, 0, 0L);
    }

    DriftState changed() {
        return new DriftState(!drifted, 0, 0L);
    }
}
