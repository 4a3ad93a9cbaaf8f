package io.plumbline.adaptation;

import io.plumbline.explainer.SparseCodes;

/**
 * The entries of sparse codes by feature: those of feature j are {@code start[j] .. start[j + 1] - 1} of {@code row} (ascending)
 * and {@code value}. One pass over the codes.
 */
record CodesByFeature(int[] start, int[] row, double[] value) {

    static CodesByFeature of(SparseCodes codes) {
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

    /** Whether any row has the feature. */
    boolean has(int feature) {
        return start[feature] < start[feature + 1];
    }

    /**
     * Adds {@code z[n] x[n]} over the rows n that have the feature, ascending: {@code ((sum + z[n1] x[n1]) + z[n2] x[n2]) + ...}, each
     * product and each sum rounded by itself.
     *
     * <p>Several terms of a sum are taken in one pass, one after the other: that saves loads and stores and changes no bit, since
     * Java neither reorders nor fuses floating-point operations (JLS 15.4), vectorised or not.
     *
     * @param x a row of as many numbers as {@code sum} has for each row of the codes
     */
    void addTo(int feature, double[][] x, double[] sum) {
        int entry = start[feature];
        int end = start[feature + 1];
        for (; entry + 4 <= end; entry += 4) {
            addFour(
                    sum,
                    value[entry],
                    x[row[entry]],
                    value[entry + 1],
                    x[row[entry + 1]],
                    value[entry + 2],
                    x[row[entry + 2]],
                    value[entry + 3],
                    x[row[entry + 3]]);
        }
        for (; entry < end; entry++) {
            add(sum, value[entry], x[row[entry]]);
        }
    }

    /** Arrays read at one index: the form of this loop that the JVM turns into vector instructions. */
    static void addFour(
            double[] sum, double a, double[] x, double b, double[] y, double c, double[] z, double e, double[] u) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] = (((sum[i] + a * x[i]) + b * y[i]) + c * z[i]) + e * u[i];
        }
    }

    static void add(double[] sum, double factor, double[] row) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] += factor * row[i];
        }
    }
}
