package io.plumbline.moments;

import java.util.Arrays;

/**
 * What an encoder gives for one sampled row, without the zeros; it travels with the row so that nobody need encode it again.
 *
 * <p>The arrays are shared, not copied: treat them as read-only. {@value #ENTRY_BYTES} bytes an entry.
 *
 * @param encoder whose codes these are
 * @param feature ascending, below the encoder's features
 * @param value as many, finite and not 0
 */
public record RowCodes(EncoderId encoder, int[] feature, double[] value) {

    /** Of an entry: its feature and its value. */
    static final int ENTRY_BYTES = Integer.BYTES + Double.BYTES;

    /** Codes that take more bytes than so many times their row do not travel: encoding again is cheaper than carrying them. */
    private static final int MOST_TIMES_THE_ROW = 4;

    public RowCodes {
        if (feature.length != value.length) {
            throw new IllegalArgumentException("%d features, %d values".formatted(feature.length, value.length));
        }
        int before = -1;
        for (int entry = 0; entry < feature.length; entry++) {
            if (feature[entry] <= before || feature[entry] >= encoder.features()) {
                throw new IllegalArgumentException("feature %d after %d: expected ascending ones below %d"
                        .formatted(feature[entry], before, encoder.features()));
            }
            if (!Double.isFinite(value[entry]) || value[entry] == 0.0) {
                throw new IllegalArgumentException("feature %d is %s: expected a finite number that is not 0"
                        .formatted(feature[entry], value[entry]));
            }
            before = feature[entry];
        }
    }

    /** The most entries that travel with a row of {@code values} numbers, targets among them. */
    public static int mostEntries(int values) {
        return (int) ((long) MOST_TIMES_THE_ROW * Float.BYTES * values / ENTRY_BYTES);
    }

    /** The most bytes of codes that travel with a row of {@code values} numbers, of an encoder that gives at most {@code active}. */
    public static long mostBytes(int values, int active) {
        return (long) ENTRY_BYTES * Math.min(active, mostEntries(values));
    }

    int entries() {
        return feature.length;
    }

    long bytes() {
        return (long) ENTRY_BYTES * feature.length;
    }

    /** By content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof RowCodes codes
                && encoder.equals(codes.encoder)
                && Arrays.equals(feature, codes.feature)
                && Arrays.equals(value, codes.value);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * encoder.hashCode() + Arrays.hashCode(feature)) + Arrays.hashCode(value);
    }

    @Override
    public String toString() {
        return "RowCodes[%d of %d features]".formatted(feature.length, encoder.features());
    }
}
