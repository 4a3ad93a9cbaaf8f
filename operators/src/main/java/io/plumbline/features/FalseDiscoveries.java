package io.plumbline.features;

import java.util.Arrays;
import java.util.Comparator;

/** Chances of many tests, adjusted so that a bound on them bounds the share of false ones among those taken. */
public final class FalseDiscoveries {

    private FalseDiscoveries() {}

    /**
     * Returns the q-value of each test, in their order: the smallest rate at which Benjamini and Hochberg (JRSS B 57,
     * 1995) take it, {@code min_(j >= i) m p_(j) / j} of the ordered chances. Where nothing has changed, a window has
     * a q-value at or below a rate with at most this rate's chance.
     */
    public static double[] qValues(double... pValues) {
        Integer[] order = new Integer[pValues.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingDouble(i -> pValues[i]));
        double[] adjusted = new double[pValues.length];
        double least = 1.0;
        for (int place = order.length; place > 0; place--) {
            least = Math.min(least, pValues[order[place - 1]] * order.length / place);
            adjusted[order[place - 1]] = least;
        }
        return adjusted;
    }
}
