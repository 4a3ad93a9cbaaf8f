package io.plumbline.detection;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Levels taken from clean windows: for each detector the {@code floor(rate (K+1))}-th largest clean value, which keeps
 * the rate, and, as the rival, mean + 3 standard deviations.
 */
public final class Levels {

    private final Map<String, double[]> ascending = new LinkedHashMap<>();
    private final double rate;

    public Levels(Scores clean, double rate) {
        this.rate = rate;
        for (String detector : clean.detectors()) {
            double[] sorted = clean.of(detector);
            Arrays.sort(sorted);
            ascending.put(detector, sorted);
        }
    }

    public double alone(String detector) {
        double[] values = values(detector);
        return values[values.length - fromTop(detector)];
    }

    public double threeDeviations(String detector) {
        double[] values = values(detector);
        double mean = Arrays.stream(values).average().orElseThrow();
        double squares = Arrays.stream(values)
                .map(value -> (value - mean) * (value - mean))
                .sum();
        return mean + 3.0 * Math.sqrt(squares / (values.length - 1));
    }

    /**
     * The rate that the order statistic of one detector keeps, at most the one asked for unless the windows are too
     * few.
     */
    public double kept(String detector) {
        return (double) fromTop(detector) / (values(detector).length + 1);
    }

    /**
     * Returns the place of the level among the clean values; where the windows are too few for the rate, the largest:
     * it keeps 1/(K+1).
     */
    private int fromTop(String detector) {
        return Math.max(1, (int) Math.floor(rate * (values(detector).length + 1) * (1.0 + 1e-9)));
    }

    private double[] values(String detector) {
        double[] values = ascending.get(detector);
        if (values == null) {
            throw new IllegalArgumentException("no clean values of " + detector);
        }
        return values;
    }
}
