package io.plumbline.topology.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Curves as an SVG: a panel each, both axes logarithmic, points measured, line fitted. */
final class ScalingPlot {

    private static final int PANEL_WIDTH = 300;
    private static final int PANEL_HEIGHT = 220;
    private static final int COLUMNS = 3;
    private static final int LEFT = 62;
    private static final int RIGHT = 14;
    private static final int TOP = 40;
    private static final int BOTTOM = 38;

    private ScalingPlot() {}

    static void write(Path file, List<Curve> curves, String caption) throws IOException {
        int rows = (curves.size() + COLUMNS - 1) / COLUMNS;
        int width = COLUMNS * PANEL_WIDTH;
        int height = rows * PANEL_HEIGHT + 24;
        StringBuilder svg = new StringBuilder();
        svg.append("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" \
                font-family="sans-serif" font-size="11" role="img" aria-label="costs over sizes">
                <rect width="%1$d" height="%2$d" fill="white"/>
                """.formatted(width, height));
        for (int i = 0; i < curves.size(); i++) {
            svg.append("<g transform=\"translate(%d %d)\">%n"
                    .formatted(i % COLUMNS * PANEL_WIDTH, i / COLUMNS * PANEL_HEIGHT));
            panel(svg, curves.get(i));
            svg.append("</g>\n");
        }
        svg.append("<text x=\"8\" y=\"%d\" fill=\"#555\">%s</text>%n</svg>%n".formatted(height - 8, escaped(caption)));
        Files.writeString(file, svg);
    }

    private static void panel(StringBuilder svg, Curve curve) {
        Axis x = Axis.over(curve.points().stream().mapToDouble(Curve.Point::x).toArray(), LEFT, PANEL_WIDTH - RIGHT);
        Axis y = Axis.over(curve.points().stream().mapToDouble(Curve.Point::y).toArray(), PANEL_HEIGHT - BOTTOM, TOP);
        text(svg, LEFT, 16, "start", "#000", curve.what());
        text(
                svg,
                LEFT,
                30,
                "start",
                "#06c",
                String.format(Locale.ROOT, "~ %s^%.2f", curve.variable(), curve.exponent()));
        line(svg, LEFT, PANEL_HEIGHT - BOTTOM, PANEL_WIDTH - RIGHT, PANEL_HEIGHT - BOTTOM, "#888");
        line(svg, LEFT, TOP, LEFT, PANEL_HEIGHT - BOTTOM, "#888");
        double meanX = 0.0;
        double meanY = 0.0;
        for (Curve.Point point : curve.points()) {
            meanX += Math.log(point.x()) / curve.points().size();
            meanY += Math.log(point.y()) / curve.points().size();
            text(
                    svg,
                    x.at(point.x()),
                    PANEL_HEIGHT - BOTTOM + 14,
                    "middle",
                    "#555",
                    String.format(Locale.ROOT, "%,.0f", point.x()));
            svg.append(String.format(
                    Locale.ROOT,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#06c\"/>%n",
                    x.at(point.x()),
                    y.at(point.y())));
        }
        double first = curve.points().get(0).x();
        double last = curve.points().get(curve.points().size() - 1).x();
        double atFirst = Math.exp(meanY + curve.exponent() * (Math.log(first) - meanX));
        double atLast = Math.exp(meanY + curve.exponent() * (Math.log(last) - meanX));
        line(svg, x.at(first), y.at(atFirst), x.at(last), y.at(atLast), "#9bd");
        text(svg, LEFT - 4, y.at(y.least) + 4, "end", "#555", number(y.least));
        text(svg, LEFT - 4, y.at(y.most) + 4, "end", "#555", number(y.most));
        text(svg, LEFT - 4, TOP - 12, "end", "#555", curve.unit());
        text(svg, PANEL_WIDTH - RIGHT, PANEL_HEIGHT - 8, "end", "#555", curve.variable());
    }

    /** From values to places, logarithmically. */
    private record Axis(double least, double most, double from, double to) {

        static Axis over(double[] values, double from, double to) {
            double least = java.util.Arrays.stream(values).min().orElseThrow();
            double most = java.util.Arrays.stream(values).max().orElseThrow();
            return new Axis(least, most, from, to);
        }

        double at(double value) {
            double share = most > least ? Math.log(value / least) / Math.log(most / least) : 0.5;
            double margin = (to - from) * 0.06;
            return from + margin + share * (to - from - 2 * margin);
        }
    }

    private static void line(StringBuilder svg, double x1, double y1, double x2, double y2, String colour) {
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>%n",
                x1,
                y1,
                x2,
                y2,
                colour));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String colour, String text) {
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>%n",
                x,
                y,
                anchor,
                colour,
                escaped(text)));
    }

    private static String number(double value) {
        return value >= 100 ? String.format(Locale.ROOT, "%,.0f", value) : String.format(Locale.ROOT, "%.3g", value);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
