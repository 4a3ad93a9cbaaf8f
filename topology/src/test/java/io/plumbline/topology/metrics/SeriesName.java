package io.plumbline.topology.metrics;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The name and the labels of a series; bounds and quantiles are numbers, which every form writes its own way. */
record SeriesName(String metric, Map<String, String> labels) implements Comparable<SeriesName> {

    private static final Pattern LINE =
            Pattern.compile("(?m)^([a-z0-9_]+)(?:\\{(.*?)})? (\\S+)(?: # \\{(.*)} (\\S+) \\S+)?$");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    SeriesName {
        labels = Collections.unmodifiableMap(new TreeMap<>(labels));
    }

    /** Reads Prometheus text, or OpenMetrics. */
    static Map<SeriesName, Double> read(String text) {
        Map<SeriesName, Double> series = new TreeMap<>();
        Matcher line = LINE.matcher(text);
        while (line.find()) {
            SeriesName name = new SeriesName(line.group(1), Map.of());
            for (Map.Entry<String, String> label :
                    labels(line.group(2) == null ? "" : line.group(2)).entrySet()) {
                name = name.with(label.getKey(), label.getValue());
            }
            series.put(name, number(line.group(3)));
        }
        return series;
    }

    /** Reads the exemplars of OpenMetrics: the name of each without the bound of its bucket, its labels and value. */
    static Map<SeriesName, String> exemplars(String text) {
        Map<SeriesName, String> exemplars = new TreeMap<>();
        Matcher line = LINE.matcher(text);
        while (line.find()) {
            if (line.group(4) != null) {
                Map<String, String> labels = labels(line.group(2));
                labels.remove("le");
                exemplars.put(
                        new SeriesName(line.group(1).replaceFirst("_bucket$", ""), labels),
                        labels(line.group(4)) + " " + number(line.group(5)));
            }
        }
        return exemplars;
    }

    private static Map<String, String> labels(String text) {
        Map<String, String> labels = new TreeMap<>();
        Matcher label = LABEL.matcher(text);
        while (label.find()) {
            labels.put(label.group(1), label.group(2));
        }
        return labels;
    }

    SeriesName with(String label, String value) {
        boolean isNumber = label.equals("le") || label.equals("quantile");
        Map<String, String> more = new TreeMap<>(labels);
        more.put(label, isNumber ? Double.toString(number(value)) : value);
        return new SeriesName(metric, more);
    }

    private static double number(String text) {
        return Double.parseDouble(text.replaceFirst("Inf$", "Infinity"));
    }

    @Override
    public int compareTo(SeriesName other) {
        return toString().compareTo(other.toString());
    }
}
