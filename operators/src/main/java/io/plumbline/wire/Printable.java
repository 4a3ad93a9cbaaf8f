package io.plumbline.wire;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Text of others, made fit for logs, terminals and alerts. */
public final class Printable {

    /** Matches control and format characters, and ends of lines and paragraphs. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    /** Matches what a value of {@code key=value} may hold without quotes. */
    private static final Pattern PLAIN = Pattern.compile("[^\\s\"=]+");

    private Printable() {}

    /** Returns the text with {@code ?} for each character that could move a cursor or begin a line. */
    public static String of(String text) {
        return UNPRINTABLE.matcher(text).replaceAll("?");
    }

    /** Returns the same, of at most {@code longest} characters and an ellipsis where more stood there. */
    public static String of(String text, int longest) {
        if (text.length() <= longest) {
            return of(text);
        }
        int end = Character.isHighSurrogate(text.charAt(longest - 1)) ? longest - 1 : longest;
        return of(text.substring(0, end)) + "…";
    }

    /**
     * Returns a value for {@code key=value} in a line of the log: on one line, in quotes where it needs them, and
     * {@code none} where there is none.
     */
    public static String value(@Nullable Object value) {
        String text = value == null ? "none" : of(value.toString());
        return PLAIN.matcher(text).matches()
                ? text
                : '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
