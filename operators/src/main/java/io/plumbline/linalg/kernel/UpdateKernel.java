package io.plumbline.linalg.kernel;

import org.jspecify.annotations.Nullable;

/**
 * The rank-n update {@code M += X^T X}, which is nearly all the work of watching a site: {@code n d (d + 1)} flops for
 * n rows.
 *
 * <p>And the product {@code C += A B}, which is most of the work of encoding and refitting.
 *
 * <p>There are two: plain loops, and the vector instructions of the processor; a library of the machine may take the
 * rows of bfloat16 from either. They agree up to rounding, and to the last bit on integers within the limits of {@link
 * FloatPanel} and {@link DoublePanel}. {@link UpdateKernels} says which one runs.
 *
 * <p>Immutable and thread-safe; the panels are not.
 */
public interface UpdateKernel {

    /** The name by which the property {@value UpdateKernels#PROPERTY} chooses this kernel. */
    String name();

    /** An empty panel for rows of {@code dimension} floats. */
    FloatPanel floats(int dimension);

    /** An empty panel for rows of {@code dimension} numbers of bfloat16; null where they are widened to floats. */
    default @Nullable BrainPanel brains(int dimension) {
        return null;
    }

    /**
     * An empty panel for rows of {@code dimension} doubles.
     *
     * @param capacity rows it can hold, 1 to {@value DoublePanel#ROWS}
     */
    DoublePanel doubles(int dimension, int capacity);

    /** Lays out the right-hand matrix of products. */
    PackedMatrix pack(MatrixView b);

    /** A packed copy of a right-hand matrix whose values are floats, see {@link PackedFloatMatrix#holds}. */
    PackedFloatMatrix packFloats(MatrixRows b);

    /** Returns the tile operations that triangular factors and systems are made of. */
    TileKernel tiles();

    /** Returns the tile operations in float32, which only test whether a matrix can be factored. */
    FloatTileKernel floatTiles();

    /** Returns the loops that rows of float32 weights are read with. */
    FloatRowOps floatRowOps();
}
