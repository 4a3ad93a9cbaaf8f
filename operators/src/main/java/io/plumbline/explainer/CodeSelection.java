package io.plumbline.explainer;

/**
 * Chooses which pre-activations of some rows become codes. Those of a row come in stretches, in ascending order of
 * feature; stretches of other rows may come between. One owner.
 */
interface CodeSelection {

    /**
     * Returns what a pre-activation of this row must be above to be looked at: stretches in which none is are left
     * out.
     */
    double level(int row);

    /** Looks at features {@code first .. first + count - 1} of a row: {@code preActivations[at ..]}. */
    void take(int row, int first, double[] preActivations, int at, int count);

    /** Writes the codes of a row that is complete. */
    void finish(int row, SparseCodes.Builder codes);
}
