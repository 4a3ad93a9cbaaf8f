package io.plumbline.calibration;

import java.util.Locale;

/** Writes numbers and times for sentences: three digits are enough to act on. */
final class Amounts {

    private static final double SECOND = 1_000.0;
    private static final double MINUTE = 60.0 * SECOND;
    private static final double HOUR = 60.0 * MINUTE;
    private static final double DAY = 24.0 * HOUR;
    private static final double EXACT_UP_TO = 1e6;

    private Amounts() {}

    static String number(double value) {
        double rounded = Math.rint(value);
        if (Math.abs(value - rounded) < 1e-6 * Math.abs(value) && Math.abs(value) < EXACT_UP_TO) {
            return Long.toString((long) rounded);
        }
        return Math.abs(value) >= 1e3 && Math.abs(value) < EXACT_UP_TO
                ? Long.toString((long) rounded)
                : String.format(Locale.ROOT, "%.3g", value);
    }

    /** Writes a time in the largest unit of which there is at least one. */
    static String time(double milliseconds) {
        if (milliseconds >= DAY) {
            return number(milliseconds / DAY) + " d";
        }
        if (milliseconds >= HOUR) {
            return number(milliseconds / HOUR) + " h";
        }
        return milliseconds >= MINUTE ? number(milliseconds / MINUTE) + " min" : number(milliseconds / SECOND) + " s";
    }
}
