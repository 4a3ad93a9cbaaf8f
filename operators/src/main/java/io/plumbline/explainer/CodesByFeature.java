package io.plumbline.explainer;

/**
 * The entries of sparse codes by feature instead of by row: those of feature j are {@code start[j] .. start[j + 1] - 1}
 * of {@code row} (ascending) and {@code value}.
 *
 * <p><b>Size.</b> 12 bytes an entry and 4 a feature. The arrays are not copied: whoever holds them does not write to
 * them.
 */
public record CodesByFeature(int[] start, int[] row, double[] value) {

    /** Sorts the entries by feature, in one pass over the codes. */
    public static CodesByFeature of(SparseCodes codes) {
        int[] start = new int[codes.features() + 1];
        for (int feature : codes.feature()) {
            start[feature + 1]++;
        }
        for (int j = 0; j < codes.features(); j++) {
            start[j + 1] += start[j];
        }
        int[] next = start.clone();
        int[] row = new int[codes.nonZeros()];
        double[] value = new double[codes.nonZeros()];
        for (int i = 0; i < codes.rows(); i++) {
            for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
                int at = next[codes.feature()[entry]]++;
                row[at] = i;
                value[at] = codes.value()[entry];
            }
        }
        return new CodesByFeature(start, row, value);
    }
}
