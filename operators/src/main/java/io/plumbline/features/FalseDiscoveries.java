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
     *
     * @param pValues above 1 for what is not tested, whose q-value is NaN
     */
    public static double[] qValues(double... pValues) {
        Integer[] order = new Integer[pValues.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingDouble(i -> pValues[i]));
        double[] adjusted = new double[pValues.length];
        Arrays.fill(adjusted, Double.NaN);
        int tested = (int) Arrays.stream(pValues).filter(p -> p <= 1.0).count();
        double least = 1.0;
        for (int place = tested; place > 0; place--) {
            least = Math.min(least, pValues[order[place - 1]] * tested / place);
            adjusted[order[place - 1]] = least;
        }
        return adjusted;
    }
}
