package io.plumbline.topology.config;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads durations as people write them: a number and a unit, {@code 500ms}, {@code 60s}, {@code 10m}, {@code 1h},
 * {@code 30d}. A number alone is refused: whether {@code 60} means seconds or milliseconds is the mistake this
 * prevents.
 */
public final class DurationText {

    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*(ms|s|m|h|d)");
    private static final Pattern NUMBER_ALONE = Pattern.compile("[+-]?\\d+(?:\\.\\d+)?");
    private static final String[] UNITS_DESCENDING = {"d", "h", "m", "s"};

    private DurationText() {}

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException saying what to write instead
     */
    public static Duration parse(String text) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip());
        if (!matcher.matches()) {
            String hint = NUMBER_ALONE.matcher(text.strip()).matches()
                    ? "expected a unit; write %ss for seconds or %sms for milliseconds"
                            .formatted(text.strip(), text.strip())
                    : "expected a number and a unit, such as 500ms, 60s, 10m, 1h or 30d";
            throw new IllegalArgumentException(hint);
        }
        BigDecimal milliseconds =
                new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(milliseconds(matcher.group(2))));
        try {
            return Duration.ofMillis(milliseconds.longValueExact());
        } catch (ArithmeticException notWhole) {
            throw new IllegalArgumentException("expected a whole number of milliseconds that fits 64 bits", notWhole);
        }
    }

    /** The shortest text that {@link #parse} reads back. */
    public static String format(Duration duration) {
        long milliseconds = duration.toMillis();
        for (String unit : UNITS_DESCENDING) {
            long length = milliseconds(unit);
            if (milliseconds != 0 && milliseconds % length == 0) {
                return milliseconds / length + unit;
            }
        }
        return milliseconds == 0 ? "0s" : milliseconds + "ms";
    }

    private static long milliseconds(String unit) {
        return switch (unit) {
            case "d" -> 86_400_000L;
            case "h" -> 3_600_000L;
            case "m" -> 60_000L;
            case "s" -> 1_000L;
            default -> 1L;
        };
    }
}
