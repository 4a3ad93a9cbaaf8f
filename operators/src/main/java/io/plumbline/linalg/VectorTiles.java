package io.plumbline.linalg;

import jdk.incubator.vector.FloatVector;

/** What the vector panels share: the shape of their register tiles. */
final class VectorTiles {

    private static final int BITS = FloatVector.SPECIES_PREFERRED.vectorBitSize();

    /**
     * Columns of a tile of three vectors' width. 512 bits come with 32 registers, which hold 8 x 3 sums and the operands; with
     * 16 registers it is 4 x 3.
     */
    static final int ROWS = BITS == 512 ? 8 : 4;

    static final String SHAPE = "%d bits, tiles of %d by 3 vectors".formatted(BITS, ROWS);

    /** Strips worked on together: with 128 rows they stay in a second-level cache of 512 KiB. */
    static final int STRIPS_IN_CACHE = 8;

    private VectorTiles() {}

    /** Entries of a packed lower triangle before {@code row}; as a product of ints it would overflow from 46,341 on. */
    static int startOfRow(int row) {
        return (int) ((long) row * (row + 1) / 2);
    }

    static int strips(int dimension, int width) {
        return (dimension - 1) / width + 1;
    }
}
