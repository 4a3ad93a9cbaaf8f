package io.plumbline.benchmarks;

import java.util.List;

/**
 * Says how a cost grows with one size, everything else held.
 *
 * @param what the work
 * @param variable the size that grows
 * @param unit of the cost
 * @param exponent slope of log cost over log size by least squares
 * @param error standard error of the slope; 0 with two points
 */
public record Curve(String what, String variable, String unit, List<Point> points, double exponent, double error) {

    /** A size and its cost, both positive. */
    public record Point(double x, double y) {}

    /**
     * Fits the exponent.
     *
     * @throws IllegalArgumentException with fewer than two different sizes
     */
    static Curve through(String what, String variable, String unit, List<Point> points) {
        int n = points.size();
        double meanX = points.stream().mapToDouble(p -> Math.log(p.x)).average().orElse(0.0);
        double meanY = points.stream().mapToDouble(p -> Math.log(p.y)).average().orElse(0.0);
        double xx = 0.0;
        double xy = 0.0;
        for (Point point : points) {
            double x = Math.log(point.x) - meanX;
            xx += x * x;
            xy += x * (Math.log(point.y) - meanY);
        }
        if (!(xx > 0.0)) {
            throw new IllegalArgumentException("%s: an exponent needs two different sizes".formatted(what));
        }
        double slope = xy / xx;
        double residual = 0.0;
        for (Point point : points) {
            double off = Math.log(point.y) - meanY - slope * (Math.log(point.x) - meanX);
            residual += off * off;
        }
        double error = n > 2 ? Math.sqrt(residual / (n - 2) / xx) : 0.0;
        return new Curve(what, variable, unit, List.copyOf(points), slope, error);
    }
}
