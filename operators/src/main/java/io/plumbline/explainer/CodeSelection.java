package io.plumbline.explainer;

/**
 * Chooses which pre-activations of some rows become codes. Those of a row come in stretches, in ascending order of
 * feature; stretches of other rows may come between. One owner.
 */
interface CodeSelection {

    /** Pre-activations that are written where codes are kept before it is known which of them are codes. */
    int PIECE = 64;

    /**
     * Returns what a pre-activation of this row must be above to be looked at: stretches in which none is are left
     * out.
     */
    double level(int row);

    /** Looks at features {@code first .. first + count - 1} of a row: {@code preActivations[at ..]}. */
    void take(int row, int first, double[] preActivations, int at, int count);

    /**
     * Returns 1 where the first is larger, else 0; what is no number is not larger. The JVM's compiler makes a jump of
     * a comparison that is rarely true, and chance has it when this one is.
     */
    static int isAbove(double value, double level) {
        return (int) (Double.doubleToLongBits(level - value) >>> 63);
    }

    /** Writes the codes of a row that is complete. */
    void finish(int row, SparseCodes.Builder codes);
}
