package io.plumbline.refit;

/** The way in which Step 1 turns the dictionary onto the window's subspace. */
public enum Rotation {
    /**
     * The rotation as the paper prints it: the part of the dictionary in its own top-r subspace is turned onto the
     * window's, the
     * rest is deleted. {@code rank W~ = min(r, rank W)}.
     */
    PRINTED,
    /**
     * The printed rotation for the top-r part, and the complement is turned onto the complement by a Procrustes
     * rotation of its
     * own: the same gap, and nothing is deleted.
     */
    FULL_RANK
}
