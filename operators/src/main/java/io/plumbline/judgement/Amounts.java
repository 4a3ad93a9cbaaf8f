package io.plumbline.judgement;

import java.util.Locale;

/**
 * Writes numbers, counts and times for sentences: three digits are enough to act on, whole numbers have all of them.
 */
public final class Amounts {

    private static final double SECOND = 1_000.0;
    private static final double MINUTE = 60.0 * SECOND;
    private static final double HOUR = 60.0 * MINUTE;
    private static final double DAY = 24.0 * HOUR;
    private static final double EXACT_UP_TO = 1e15;

    /** The number of significant digits that tell every two doubles apart. */
    private static final int LONGEST = 17;

    private Amounts() {}

    /** Writes how many there are, with the plural that the number asks for: {@code 1 site}, {@code 1,200 sites}. */
    public static String count(long number, String noun) {
        return String.format(Locale.ROOT, number == 1 ? "%,d %s" : "%,d %ss", number, noun);
    }

    /** Writes a number: whole ones and those from a thousand on as {@code 817,152}, others with three digits. */
    public static String number(double value) {
        double rounded = Math.rint(value);
        boolean isWhole = Math.abs(value - rounded) < 1e-6 * Math.abs(value);
        return (isWhole || Math.abs(value) >= 1e3) && Math.abs(value) < EXACT_UP_TO
                ? String.format(Locale.ROOT, "%,d", (long) rounded)
                : String.format(Locale.ROOT, "%.3g", value);
    }

    /** Writes a number with so many significant digits, or with as many more as tell it from {@code other}. */
    public static String apart(double value, double other, int digits) {
        int enough = digits;
        while (value != other && enough < LONGEST && significant(value, enough).equals(significant(other, enough))) {
            enough++;
        }
        return significant(value, enough);
    }

    private static String significant(double value, int digits) {
        return String.format(Locale.ROOT, "%." + digits + "g", value);
    }

    /** Writes a time in the largest unit that it holds at least once. */
    public static String time(double milliseconds) {
        if (milliseconds >= DAY) {
            return number(milliseconds / DAY) + " d";
        }
        if (milliseconds >= HOUR) {
            return number(milliseconds / HOUR) + " h";
        }
        return milliseconds >= MINUTE ? number(milliseconds / MINUTE) + " min" : number(milliseconds / SECOND) + " s";
    }
}
