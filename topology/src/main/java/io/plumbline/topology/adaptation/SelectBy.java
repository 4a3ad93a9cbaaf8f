package io.plumbline.topology.adaptation;

/** Says what the candidates of a search that stay within the limits are compared by. */
public enum SelectBy {
    /** The FVU on the rows to choose by. */
    FVU,
    /** The mean of {@code KL(original | patched)} on whole requests of these rows; needs the rest of the model. */
    KL
}
