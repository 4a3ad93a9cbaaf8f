package io.plumbline.wire;

import java.util.regex.Pattern;

/** Text of others, made fit for logs, terminals and alerts. */
public final class Printable {

    /** Matches control and format characters, and ends of lines and paragraphs. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

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
}
