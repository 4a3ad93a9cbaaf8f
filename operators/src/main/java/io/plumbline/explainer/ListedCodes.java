package io.plumbline.explainer;

import java.util.Arrays;

/** A selection that tells of each pre-activation by itself whether it becomes a code, and lists those that do. */
abstract class ListedCodes implements CodeSelection {

    private static final int EXPECTED = 64;

    /** Codes found so far, by row; they grow as needed. */
    private final int[][] feature;

    private final double[][] value;
    private final int[] size;

    ListedCodes(int rows) {
        feature = new int[rows][EXPECTED];
        value = new double[rows][EXPECTED];
        size = new int[rows];
    }

    final void add(int row, int index, double activation) {
        int entry = size[row]++;
        if (entry == feature[row].length) {
            int longer = Math.addExact(entry, entry >> 1);
            feature[row] = Arrays.copyOf(feature[row], longer);
            value[row] = Arrays.copyOf(value[row], longer);
        }
        feature[row][entry] = index;
        value[row][entry] = activation;
    }

    @Override
    public final void finish(int row, SparseCodes.Builder codes) {
        for (int entry = 0; entry < size[row]; entry++) {
            codes.add(feature[row][entry], value[row][entry]);
        }
        codes.endRow();
    }
}
