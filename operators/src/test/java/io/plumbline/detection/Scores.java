package io.plumbline.detection;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Holds what each detector said of a number of windows, in the order of the windows; larger speaks for drift. */
public final class Scores {

    private final Map<String, List<Double>> byDetector = new LinkedHashMap<>();

    public void add(String detector, double score) {
        byDetector.computeIfAbsent(detector, name -> new ArrayList<>()).add(score);
    }

    public Collection<String> detectors() {
        return byDetector.keySet();
    }

    public double[] of(String detector) {
        return byDetector.getOrDefault(detector, List.of()).stream()
                .mapToDouble(Double::doubleValue)
                .toArray();
    }

    /** The chance that a shifted window scores above a clean one, ties counting half. */
    public static double auc(double[] clean, double[] shifted) {
        double above = 0.0;
        for (double high : shifted) {
            for (double low : clean) {
                above += high > low ? 1.0 : high == low ? 0.5 : 0.0;
            }
        }
        return above / ((double) clean.length * shifted.length);
    }

    public static double shareAbove(double[] scores, double level) {
        return (double) Arrays.stream(scores).filter(score -> score > level).count() / scores.length;
    }

    /**
     * Windows until the first above the level, that one counted, on average over where one begins (going round at the
     * end); infinite where there is none.
     */
    public static double delay(double[] scores, double level) {
        double sum = 0.0;
        for (int from = 0; from < scores.length; from++) {
            int waited = 0;
            while (waited < scores.length && scores[(from + waited) % scores.length] <= level) {
                waited++;
            }
            if (waited == scores.length) {
                return Double.POSITIVE_INFINITY;
            }
            sum += waited + 1.0;
        }
        return sum / scores.length;
    }
}
