package io.plumbline.topology.config;

import java.util.Collection;

/** Finds the name someone probably meant: the one at the smallest edit distance. */
public final class Nearest {

    /**
     * The longest word that is looked at: nobody mistypes a longer one, and the rest would cost time and say nothing.
     */
    private static final int LONGEST_WORD = 80;

    private Nearest() {}

    /** Returns the name nearest to what was typed; empty where there is no name. */
    public static String to(String typed, Collection<String> names) {
        String word = typed.length() <= LONGEST_WORD ? typed : typed.substring(0, LONGEST_WORD);
        String nearest = "";
        int least = Integer.MAX_VALUE;
        for (String name : names) {
            int distance = editDistance(word, name);
            if (distance < least) {
                least = distance;
                nearest = name;
            }
        }
        return nearest;
    }

    /**
     * Returns how many insertions, deletions and replacements turn one word into the other (Levenshtein), in two rows.
     */
    static int editDistance(String from, String to) {
        int[] previous = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int[] current = new int[to.length() + 1];
            current[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = previous[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
            }
            previous = current;
        }
        return previous[to.length()];
    }
}
