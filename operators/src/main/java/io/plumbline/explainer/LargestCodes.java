package io.plumbline.explainer;

import java.util.Arrays;

/**
 * Keeps the k pre-activations of a row of largest rank, which is their value or their amount; equal ones go to the
 * lower feature index.
 *
 * <p>A row is read once. What is above a level is set aside, and once that is much more than k, what is surely not
 * among the k largest is dropped and the level raised: {@code O(features + k log features)} for values in random order.
 * Which values come in is chance, and a branch that is guessed wrongly costs as much as ten entries: so in these
 * loops chance decides none.
 */
final class LargestCodes implements CodeSelection {

    private static final int LEAST_SPARE = 64;

    private final int k;
    private final boolean byAmount;
    private final int spare;

    /** Entries there is room for, a row. */
    private final int room;

    private final int[] feature;
    private final double[] value;
    private final int[] size;
    private final double[] level;
    private final long[] keys;

    private LargestCodes(int rows, int k, boolean byAmount, double level) {
        this.k = k;
        this.byAmount = byAmount;
        this.spare = Math.max(k, LEAST_SPARE);
        this.room = Math.addExact(k, spare + PIECE);
        this.feature = new int[Math.multiplyExact(rows, room)];
        this.value = new double[feature.length];
        this.size = new int[rows];
        this.level = new double[rows];
        this.keys = new long[room];
        Arrays.fill(this.level, level);
    }

    /** Returns a selection of the largest values, of those above 0. */
    static LargestCodes positive(int rows, int k) {
        return new LargestCodes(rows, k, false, 0.0);
    }

    /** Returns a selection of the largest values of either sign. */
    static LargestCodes ofValue(int rows, int k) {
        return new LargestCodes(rows, k, false, Double.NEGATIVE_INFINITY);
    }

    /** Returns a selection of the values of largest amount. */
    static LargestCodes ofAmount(int rows, int k) {
        return new LargestCodes(rows, k, true, Double.NEGATIVE_INFINITY);
    }

    @Override
    public double level(int row) {
        return byAmount ? Double.NEGATIVE_INFINITY : level[row];
    }

    @Override
    public void take(int row, int first, double[] preActivations, int at, int count) {
        for (int from = 0; from < count; from += PIECE) {
            setAside(row, first + from, preActivations, at + from, Math.min(PIECE, count - from));
            if (size[row] >= k + spare) {
                drop(row, k + spare / 4);
            }
        }
    }

    private void setAside(int row, int first, double[] preActivations, int at, int count) {
        int[] features = feature;
        double[] values = value;
        double above = level[row];
        int start = row * room;
        int entry = start + size[row];
        for (int j = 0; j < count; j++) {
            double activation = preActivations[at + j];
            features[entry] = first + j;
            values[entry] = activation;
            entry += CodeSelection.isAbove(rank(activation), above);
        }
        size[row] = entry - start;
    }

    private double rank(double code) {
        return byAmount ? Math.abs(code) : code;
    }

    /**
     * Drops what is not among the k largest of a row, or keeps up to {@code most} where they are found sooner. Halves
     * the range of keys until k to {@code most} are above its middle, 64 times at most.
     */
    private void drop(int row, int most) {
        int count = size[row];
        int start = row * room;
        long low = Long.MAX_VALUE;
        long high = Long.MIN_VALUE;
        for (int entry = 0; entry < count; entry++) {
            long key = key(rank(value[start + entry]));
            keys[entry] = key;
            low = Math.min(low, key);
            high = Math.max(high, key);
        }
        while (low < high) {
            long middle = low + ((high - low) >>> 1);
            int above = above(middle, count);
            if (above < k) {
                high = middle;
            } else if (above > most) {
                low = middle + 1;
            } else {
                keep(row, middle, 0);
                return;
            }
        }
        // The k-th largest has equals, and some of them are kept.
        keep(row, low, k - above(low, count));
    }

    /** Keeps what is above the limit, and as many as {@code equal} that are equal to it. */
    private void keep(int row, long limit, int equal) {
        int start = row * room;
        int kept = start;
        int left = equal;
        for (int entry = 0; entry < size[row]; entry++) {
            feature[kept] = feature[start + entry];
            value[kept] = value[start + entry];
            kept += keys[entry] > limit ? 1 : 0;
            if (keys[entry] == limit && left > 0) {
                left--;
                kept++;
            }
        }
        size[row] = kept - start;
        level[row] = rankOf(limit);
    }

    /** Returns a number whose order among longs is that of a rank. */
    private static long key(double rank) {
        long bits = Double.doubleToRawLongBits(rank);
        return bits ^ (bits >> 63 >>> 1);
    }

    private static double rankOf(long key) {
        return Double.longBitsToDouble(key ^ (key >> 63 >>> 1));
    }

    private int above(long limit, int count) {
        int above = 0;
        for (int entry = 0; entry < count; entry++) {
            above += keys[entry] > limit ? 1 : 0;
        }
        return above;
    }

    @Override
    public void finish(int row, SparseCodes.Builder codes) {
        if (size[row] > k) {
            drop(row, k);
        }
        for (int entry = row * room; entry < row * room + size[row]; entry++) {
            codes.add(feature[entry], value[entry]);
        }
        codes.endRow();
    }
}
