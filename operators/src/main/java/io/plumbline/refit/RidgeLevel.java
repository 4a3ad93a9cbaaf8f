package io.plumbline.refit;

/** The solutions of Step 2's system at one ridge level, N x d, and what they give for rows. */
interface RidgeLevel extends Solutions {

    /** Returns what these solutions give for some rows, {@code cross X}. */
    Solutions on(RefitRows rows);
}
