package io.plumbline.baseline;

/** The rank to take where nothing speaks for another: how many leading directions a gap compares. */
public final class UsualRank {

    /** The rule in words. */
    public static final String RULE = "32, or a quarter of the width below 128";

    private static final int MOST = 32;
    private static final int SHARE = 4;

    private UsualRank() {}

    /** @param width of the rows that the explainer writes */
    public static int of(int width) {
        return Math.min(MOST, Math.max(1, width / SHARE));
    }
}
