package io.plumbline.records;

import org.jspecify.annotations.Nullable;

/** Cuts the names of requests to what is kept of them. */
public final class RequestName {

    /** The most characters of a name that are kept. */
    public static final int LONGEST = 64;

    /** Stands for half of a surrogate pair, as in UTF-8. */
    private static final int UNKNOWN = '?';

    private RequestName() {}

    /** Returns the first {@value #LONGEST} characters of a name, without half of a surrogate pair at the end. */
    public static String shortened(String name) {
        if (name.length() <= LONGEST) {
            return name;
        }
        boolean splitsPair = Character.isHighSurrogate(name.charAt(LONGEST - 1));
        return name.substring(0, splitsPair ? LONGEST - 1 : LONGEST);
    }

    /** Returns the code points of a name; each half of a surrogate pair that stands alone becomes a question mark. */
    static int[] codePoints(String name) {
        return name.codePoints().map(point -> isText(point) ? point : UNKNOWN).toArray();
    }

    /** Returns the name of these code points; null where they are no text, or one that is too long. */
    static @Nullable String of(long[] codePoints) {
        StringBuilder name = new StringBuilder();
        for (long point : codePoints) {
            if (point != (int) point || !isText((int) point)) {
                return null;
            }
            name.appendCodePoint((int) point);
        }
        return name.length() > LONGEST ? null : name.toString();
    }

    private static boolean isText(int point) {
        return Character.isValidCodePoint(point) && Character.getType(point) != Character.SURROGATE;
    }
}
