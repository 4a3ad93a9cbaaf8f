package io.plumbline.calibration;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What a {@link SequentialDetector} remembers of one statistic of a site between windows. Immutable.
 *
 * <pre>
 * offset  bytes  field, big endian
 * 0       4      hash of the clean windows' values
 * 4       8      evidence
 * 12      4      n, windows since it started, 0 .. {@link SequentialDetector#EPOCH}
 * 16      8 n    their values
 * </pre>
 */
public final class SequentialState {

    /** Nothing seen yet. */
    public static final SequentialState INITIAL = startedWith(0);

    private static final int HEADER_BYTES = 16;

    private final int clean;
    private final double evidence;
    private final double[] values;

    private SequentialState(int clean, double evidence, double[] values) {
        this.clean = clean;
        this.evidence = evidence;
        this.values = values;
    }

    static SequentialState startedWith(int clean) {
        return new SequentialState(clean, 0.0, new double[0]);
    }

    double evidence() {
        return evidence;
    }

    /** Whether it goes on with these clean windows; a detector starts over with others, and after an epoch. */
    public boolean goesOnWith(double[] cleanValues) {
        return clean == Arrays.hashCode(cleanValues) && values.length < SequentialDetector.EPOCH;
    }

    /** Windows since it started. */
    public int windows() {
        return values.length;
    }

    long countAtOrAbove(double value) {
        return Arrays.stream(values).filter(other -> other >= value).count();
    }

    SequentialState with(double value, double newEvidence) {
        double[] more = Arrays.copyOf(values, values.length + 1);
        more[values.length] = value;
        return new SequentialState(clean, newEvidence, more);
    }

    public byte[] encode() {
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + Double.BYTES * values.length)
                .putInt(clean)
                .putDouble(evidence)
                .putInt(values.length);
        for (double value : values) {
            buffer.putDouble(value);
        }
        return buffer.array();
    }

    /**
     * Reads one from the buffer's position on.
     *
     * @throws IllegalArgumentException when the bytes are no such state
     */
    public static SequentialState decode(ByteBuffer bytes) {
        if (bytes.remaining() < HEADER_BYTES) {
            throw new IllegalArgumentException(
                    "a sequential state of %d bytes: expected at least %d".formatted(bytes.remaining(), HEADER_BYTES));
        }
        int clean = bytes.getInt();
        double evidence = bytes.getDouble();
        int windows = bytes.getInt();
        if (windows < 0
                || windows > SequentialDetector.EPOCH
                || bytes.remaining() < (long) Double.BYTES * windows
                || !(evidence >= 0.0 && evidence < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("a sequential state of %d windows, evidence %s, and %d bytes of values"
                    .formatted(windows, evidence, bytes.remaining()));
        }
        double[] values = new double[windows];
        for (int i = 0; i < windows; i++) {
            values[i] = bytes.getDouble();
        }
        return new SequentialState(clean, evidence, values);
    }

    /** By content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof SequentialState state
                && clean == state.clean
                && evidence == state.evidence
                && Arrays.equals(values, state.values);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(values) + clean;
    }
}
