package io.plumbline.explainer;

import java.util.Arrays;

/**
 * Chooses which pre-activations of some rows become codes. Those of a row come in stretches, in ascending order of
 * feature; stretches of other rows may come between. One owner.
 */
abstract class CodeSelection {

    /** Codes found so far, by row; they grow as needed. */
    private final int[][] feature;

    private final double[][] value;
    private final int[] size;

    CodeSelection(int rows, int expected) {
        feature = new int[rows][expected];
        value = new double[rows][expected];
        size = new int[rows];
    }

    /** Looks at features {@code first .. first + count - 1} of a row: {@code preActivations[at ..]}. */
    abstract void take(int row, int first, double[] preActivations, int at, int count);

    final void add(int row, int index, double activation) {
        int entry = size[row]++;
        if (entry == feature[row].length) {
            int longer = Math.addExact(entry, Math.max(16, entry >> 1));
            feature[row] = Arrays.copyOf(feature[row], longer);
            value[row] = Arrays.copyOf(value[row], longer);
        }
        feature[row][entry] = index;
        value[row][entry] = activation;
    }

    final int size(int row) {
        return size[row];
    }

    /** Returns the value that codes are compared by. */
    double rank(double code) {
        return code;
    }

    /**
     * Keeps the {@code k} codes of a row of largest {@link #rank}, of equal ones those of lower index; returns the
     * smallest rank that is kept.
     */
    final double keepLargest(int row, int k) {
        double[] values = value[row];
        double[] ranks = new double[size[row]];
        for (int entry = 0; entry < ranks.length; entry++) {
            ranks[entry] = rank(values[entry]);
        }
        double smallest = largest(k, ranks.clone());
        int equal = k;
        for (double rank : ranks) {
            if (rank > smallest) {
                equal--;
            }
        }
        int kept = 0;
        for (int entry = 0; entry < ranks.length; entry++) {
            if (ranks[entry] > smallest || (ranks[entry] == smallest && equal-- > 0)) {
                feature[row][kept] = feature[row][entry];
                values[kept++] = values[entry];
            }
        }
        size[row] = kept;
        return smallest;
    }

    /**
     * Returns the k-th largest value by Hoare's selection, which puts the values into another order. Sorting them took
     * a tenth of an encoder's time where there are 3,072 features.
     */
    static double largest(int k, double[] values) {
        int wanted = values.length - k;
        int from = 0;
        int to = values.length - 1;
        while (from < to) {
            double pivot = values[(from + to) >>> 1];
            int up = from;
            int down = to;
            while (up <= down) {
                while (values[up] < pivot) {
                    up++;
                }
                while (values[down] > pivot) {
                    down--;
                }
                if (up <= down) {
                    double other = values[up];
                    values[up++] = values[down];
                    values[down--] = other;
                }
            }
            if (wanted > down && wanted < up) {
                return pivot;
            }
            if (wanted <= down) {
                to = down;
            } else {
                from = up;
            }
        }
        return values[wanted];
    }

    /** Writes the codes of a row that is complete. */
    void finish(int row, SparseCodes.Builder codes) {
        for (int entry = 0; entry < size[row]; entry++) {
            codes.add(feature[row][entry], value[row][entry]);
        }
        codes.endRow();
    }
}
