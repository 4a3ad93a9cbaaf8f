package io.plumbline.benchmarks;

import java.util.Comparator;
import java.util.List;

/** Reads the stalls of ingestion as the monitor exports them, {@code plumbline_ingestion_stall_seconds}. */
final class StallHistogram {

    private static final String NAME = "plumbline_ingestion_stall_seconds";
    private static final double MILLIS = 1e3;

    private StallHistogram() {}

    private record Bucket(double upTo, double count) {}

    /**
     * Reads the pauses in a page of metrics.
     *
     * @throws IllegalStateException where the page has no such histogram
     */
    static Pauses read(String what, String page) {
        List<String> lines = page.lines().filter(line -> line.startsWith(NAME)).toList();
        List<Bucket> buckets = lines.stream()
                .filter(line -> line.startsWith(NAME + "_bucket"))
                .map(line -> new Bucket(upperEnd(line), value(line)))
                .sorted(Comparator.comparingDouble(Bucket::upTo))
                .toList();
        if (buckets.isEmpty()) {
            throw new IllegalStateException("the monitor's metrics have no %s_bucket".formatted(NAME));
        }
        double longest = figure(lines, "_max");
        double number = figure(lines, "_count");
        return new Pauses(
                what,
                (long) number,
                MILLIS * percentile(buckets, 0.5 * number, longest),
                MILLIS * percentile(buckets, 0.99 * number, longest),
                MILLIS * longest,
                MILLIS * figure(lines, "_sum"));
    }

    private static double percentile(List<Bucket> buckets, double rank, double longest) {
        return buckets.stream()
                .filter(bucket -> bucket.count() >= rank)
                .mapToDouble(bucket -> Math.min(bucket.upTo(), longest))
                .findFirst()
                .orElse(longest);
    }

    private static double figure(List<String> lines, String suffix) {
        return lines.stream()
                .filter(line -> line.startsWith(NAME + suffix))
                .mapToDouble(StallHistogram::value)
                .sum();
    }

    private static double upperEnd(String line) {
        int from = line.indexOf("le=\"") + 4;
        String end = line.substring(from, line.indexOf('"', from));
        return end.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(end);
    }

    private static double value(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }
}
