package io.plumbline.judgement;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The memory of a {@link SequentialDetector} about one statistic of a site between windows. Immutable.
 *
 * <pre>
 * offset  bytes  field, big endian
 * 0       4      hash of the clean values
 * 4       8      windows since it started
 * 12      8      n, values compared with since then
 * 20      1      ranks of clean values that are counted
 * 21      2      numbers of evidence
 * 23      12     for each rank: the rank (4), how many of the n lie above that clean value (8)
 * ...     8      for each cut and share: R
 * </pre>
 */
public final class SequentialState {

    /** The state in which nothing was seen yet. */
    public static final SequentialState INITIAL = new SequentialState(0, 0, 0, new int[0], new long[0], new double[0]);

    private static final int HEADER_BYTES = 23;

    private final int clean;
    private final long windows;
    private final long values;
    private final int[] ranks;
    private final long[] above;
    private final double[] evidence;

    private SequentialState(int clean, long windows, long values, int[] ranks, long[] above, double[] evidence) {
        this.clean = clean;
        this.windows = windows;
        this.values = values;
        this.ranks = ranks;
        this.above = above;
        this.evidence = evidence;
    }

    static SequentialState started(double[] cleanValues, SequentialCuts cuts) {
        int[] ranks = cuts.ranks();
        return new SequentialState(
                Arrays.hashCode(cleanValues),
                0,
                0,
                ranks,
                new long[ranks.length],
                new double[cuts.cuts().size() * SequentialDetector.SHARES.length]);
    }

    /** Returns whether a detector goes on with these clean values; with others it starts over. */
    public boolean goesOnWith(double[] cleanValues) {
        return clean == Arrays.hashCode(cleanValues);
    }

    /** Returns whether a detector goes on with these clean values and cuts. */
    boolean goesOnWith(double[] cleanValues, SequentialCuts cuts) {
        return goesOnWith(cleanValues)
                && Arrays.equals(ranks, cuts.ranks())
                && evidence.length == cuts.cuts().size() * SequentialDetector.SHARES.length;
    }

    /** Returns the number of windows since the detector started. */
    public long windows() {
        return windows;
    }

    /** Returns the number of values that new ones are compared with, beside the clean ones. */
    public long values() {
        return values;
    }

    /** Returns how many of the values lie above the clean value of this rank. */
    long above(int rank) {
        for (int i = 0; i < ranks.length; i++) {
            if (ranks[i] == rank) {
                return above[i];
            }
        }
        throw new IllegalArgumentException("rank %d: expected one of %s".formatted(rank, Arrays.toString(ranks)));
    }

    /** Returns R of one cut and share. */
    double evidence(int index) {
        return evidence[index];
    }

    SequentialState after(double[] newEvidence, double[] joining, SequentialCuts cuts) {
        long[] more = above.clone();
        for (int i = 0; i < ranks.length; i++) {
            double cleanValue = cuts.cleanValue(ranks[i]);
            more[i] +=
                    Arrays.stream(joining).filter(value -> value > cleanValue).count();
        }
        return new SequentialState(clean, windows + 1, values + joining.length, ranks, more, newEvidence);
    }

    public byte[] encode() {
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + 12 * ranks.length + Double.BYTES * evidence.length)
                .putInt(clean)
                .putLong(windows)
                .putLong(values)
                .put((byte) ranks.length)
                .putShort((short) evidence.length);
        for (int i = 0; i < ranks.length; i++) {
            buffer.putInt(ranks[i]).putLong(above[i]);
        }
        for (double r : evidence) {
            buffer.putDouble(r);
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
        long windows = bytes.getLong();
        long values = bytes.getLong();
        int ranks = Byte.toUnsignedInt(bytes.get());
        int evidence = Short.toUnsignedInt(bytes.getShort());
        if (windows < 0 || values < 0 || bytes.remaining() < 12L * ranks + (long) Double.BYTES * evidence) {
            throw new IllegalArgumentException("a sequential state of %d windows, %d values, %d ranks, and %d bytes"
                    .formatted(windows, values, ranks, bytes.remaining()));
        }
        int[] rank = new int[ranks];
        long[] above = new long[ranks];
        for (int i = 0; i < ranks; i++) {
            rank[i] = bytes.getInt();
            above[i] = bytes.getLong();
            if (rank[i] < 1 || above[i] < 0 || above[i] > values) {
                throw new IllegalArgumentException("a sequential state with %d of %d values above clean value %d"
                        .formatted(above[i], values, rank[i]));
            }
        }
        double[] r = new double[evidence];
        for (int i = 0; i < evidence; i++) {
            r[i] = bytes.getDouble();
            if (!(r[i] >= 0.0 && r[i] < Double.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException("a sequential state with evidence " + r[i]);
            }
        }
        return new SequentialState(clean, windows, values, rank, above, r);
    }

    /** Compares by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof SequentialState state && Arrays.equals(encode(), state.encode());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(encode());
    }
}
