package io.plumbline.topology.console;

import io.plumbline.judgement.Verdict;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Draws windows over event time as one SVG element: each value holds from the start of its window to its end. Colours
 * are the page's classes.
 */
final class SvgChart {

    private static final int WIDTH = 960;
    private static final int LEFT = 46;
    private static final int RIGHT = 8;
    private static final int TOP = 14;
    private static final int BOTTOM = 22;
    private static final int TICKS = 6;
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("MM-dd HH:mm", Locale.ROOT).withZone(ZoneOffset.UTC);

    private record Line(String name, Function<WindowPoint, @Nullable Double> value) {}

    private final List<WindowPoint> windows;
    private final int height;
    private final List<Line> lines = new ArrayList<>();
    private double low = Double.POSITIVE_INFINITY;
    private double high = Double.NEGATIVE_INFINITY;

    SvgChart(List<WindowPoint> windows, int height) {
        this.windows = windows;
        this.height = height;
    }

    /** @param name class of the line */
    SvgChart line(String name, Function<WindowPoint, @Nullable Double> value) {
        lines.add(new Line(name, value));
        for (WindowPoint window : windows) {
            Double found = value.apply(window);
            if (found != null) {
                low = Math.min(low, found);
                high = Math.max(high, found);
            }
        }
        return this;
    }

    /** @param label the text for a reader who does not see the chart */
    void writeTo(Markup page, String label) {
        page.raw("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"".formatted(WIDTH, height))
                .text(label)
                .raw("\">");
        if (low > high) {
            page.raw("<text x=\"%d\" y=\"30\">undefined in every window</text></svg>".formatted(LEFT));
            return;
        }
        double pad = high == low ? Math.max(0.1, Math.abs(high) / 10) : (high - low) * 0.08;
        low -= pad;
        high += pad;
        tint(page);
        grid(page);
        lines.forEach(line -> path(page, line));
        swaps(page);
        page.raw("</svg>");
    }

    private void tint(Markup page) {
        for (WindowPoint window : windows) {
            if (window.judged().verdict() != Verdict.ALIGNED) {
                page.raw("<rect class=\"%s\" x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\"/>"
                        .formatted(
                                window.judged().verdict().label(),
                                number(x(window.header().windowStartMs())),
                                TOP,
                                number(Math.max(
                                        1,
                                        x(window.header().windowEndMs())
                                                - x(window.header().windowStartMs()))),
                                height - TOP - BOTTOM));
            }
        }
    }

    private void grid(Markup page) {
        for (int i = 0; i <= 3; i++) {
            double value = low + (high - low) * i / 3;
            page.raw("<path class=\"grid\" d=\"M%d %sH%d\"/><text x=\"%d\" y=\"%s\" text-anchor=\"end\">%s</text>"
                    .formatted(
                            LEFT,
                            number(y(value)),
                            WIDTH - RIGHT,
                            LEFT - 6,
                            number(y(value) + 4),
                            String.format(Locale.ROOT, "%.3g", value)));
        }
        for (int i = 0; i <= TICKS; i++) {
            long time = first() + (last() - first()) * i / TICKS;
            page.raw("<text x=\"%s\" y=\"%d\" text-anchor=\"%s\">%s</text>"
                    .formatted(
                            number(x(time)),
                            height - 6,
                            i == 0 ? "start" : i == TICKS ? "end" : "middle",
                            TIME.format(Instant.ofEpochMilli(time))));
        }
    }

    private void path(Markup page, Line line) {
        StringBuilder path = new StringBuilder();
        long endOfLast = Long.MIN_VALUE;
        for (WindowPoint window : windows) {
            Double value = line.value().apply(window);
            if (value == null) {
                endOfLast = Long.MIN_VALUE;
                continue;
            }
            path.append(endOfLast == window.header().windowStartMs() ? 'L' : 'M')
                    .append(number(x(window.header().windowStartMs())))
                    .append(' ')
                    .append(number(y(value)))
                    .append('H')
                    .append(number(x(window.header().windowEndMs())));
            endOfLast = window.header().windowEndMs();
        }
        page.raw("<path class=\"line %s\" d=\"%s\"/>".formatted(line.name(), path));
    }

    private void swaps(Markup page) {
        for (int i = 1; i < windows.size(); i++) {
            WindowPoint window = windows.get(i);
            if (window.inService().decoderVersion()
                    != windows.get(i - 1).inService().decoderVersion()) {
                page.raw("<path class=\"swap\" d=\"M%s %dV%d\"/><text class=\"swap\" x=\"%s\" y=\"%d\">v%d</text>"
                        .formatted(
                                number(x(window.header().windowStartMs())),
                                TOP,
                                height - BOTTOM,
                                number(x(window.header().windowStartMs()) + 4),
                                TOP + 11,
                                window.inService().decoderVersion()));
            }
        }
    }

    private long first() {
        return windows.get(0).header().windowStartMs();
    }

    private long last() {
        return windows.get(windows.size() - 1).header().windowEndMs();
    }

    private double x(long ms) {
        return LEFT + (double) (ms - first()) / (last() - first()) * (WIDTH - LEFT - RIGHT);
    }

    private double y(double value) {
        return height - BOTTOM - (value - low) / (high - low) * (height - TOP - BOTTOM);
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
