package io.plumbline.explainer;

import java.util.Arrays;

/** A selection that tells of each pre-activation by itself whether it becomes a code, and lists those that do. */
abstract class ListedCodes implements CodeSelection {

    private static final int EXPECTED = 2 * PIECE;

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
            grow(row);
        }
        feature[row][entry] = index;
        value[row][entry] = activation;
    }

    /** Adds those of a stretch that are above the level, without a branch for each. */
    final void addAbove(double level, int row, int first, double[] preActivations, int at, int count) {
        for (int from = 0; from < count; from += PIECE) {
            int length = Math.min(PIECE, count - from);
            int entry = size[row];
            if (entry + length > feature[row].length) {
                grow(row);
            }
            int[] features = feature[row];
            double[] values = value[row];
            for (int j = from; j < from + length; j++) {
                features[entry] = first + j;
                values[entry] = preActivations[at + j];
                entry += CodeSelection.isAbove(preActivations[at + j], level);
            }
            size[row] = entry;
        }
    }

    /** Makes room for half as many codes again, a piece or more. */
    private void grow(int row) {
        int longer = Math.addExact(feature[row].length, feature[row].length >> 1);
        feature[row] = Arrays.copyOf(feature[row], longer);
        value[row] = Arrays.copyOf(value[row], longer);
    }

    @Override
    public final void finish(int row, SparseCodes.Builder codes) {
        for (int entry = 0; entry < size[row]; entry++) {
            codes.add(feature[row][entry], value[row][entry]);
        }
        codes.endRow();
    }
}
