package io.plumbline.features;

import java.util.Arrays;

/** Bounds the share of false ones among features that are listed: Benjamini and Hochberg (JRSS B 57, 1995). */
public final class FalseDiscovery {

    private FalseDiscovery() {}

    /**
     * Returns the largest of the ordered chances that is at most its place times the share, over how many there are;
     * minus infinity where none is. Features with a chance up to it are listed.
     *
     * @param logChances natural logarithms, so that the smallest chances differ; above 0 for features not tested
     * @param tested how many are tested
     * @param share of those listed that may be there by chance, on average
     */
    public static double level(double[] logChances, int tested, double share) {
        double[] sorted = logChances.clone();
        Arrays.sort(sorted);
        for (int place = tested; place > 0; place--) {
            if (sorted[place - 1] <= Math.log(share * place / tested)) {
                return sorted[place - 1];
            }
        }
        return Double.NEGATIVE_INFINITY;
    }
}
