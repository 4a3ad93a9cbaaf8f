package io.plumbline.linalg.kernel;

import jdk.incubator.vector.FloatVector;

/**
 * The shapes of the tiles whose sums stay in registers.
 *
 * <p><b>Vectors of one length.</b> The vector kernels use vectors of the preferred length alone, and hand none to a
 * method of their own. The JVM's compiler learns from a profile which class a vector has, and that profile belongs to
 * the library's method, for all callers: once vectors of two lengths have been stored, it no longer knows which one a
 * loop stores, and makes each sum in the loop an object, 50 times slower, for as long as the process lives.
 */
enum VectorTiles {
    /**
     * 18 sums, for the 32 registers of machines with vectors of 512 bits. Triangles, and eight rows alone, are
     * multiplied in tiles of 8 by 3 there.
     */
    SIX_BY_THREE(6, 3),

    /**
     * 18 sums, for shorter vectors, 32 registers, and an instruction for each factor: ARM. With vectors of up to 256
     * bits: six of 512 are more than a strip.
     */
    THREE_BY_SIX(3, 6),

    /**
     * 12 sums, for 16 registers, where 24 are put aside and fetched again, at less than half of the speed.
     * With vectors of 256 bits alone: two of 512 do not fill a strip, and two of 128 hold fewer doubles than a tile has
     * rows, which the layout of its factors rules out.
     */
    SIX_BY_TWO(6, 2);

    static final int BITS = FloatVector.SPECIES_PREFERRED.vectorBitSize();

    /** Strips worked on together: with 128 rows they stay in a second-level cache of 512 KiB. */
    static final int STRIPS_IN_CACHE = 8;

    private final int rows;
    private final int vectors;

    VectorTiles(int rows, int vectors) {
        this.rows = rows;
        this.vectors = vectors;
    }

    /** Returns the shape that suits this machine's registers, see {@link #of}. */
    static VectorTiles ofMachine() {
        return of(BITS, System.getProperty("os.arch", ""));
    }

    /**
     * Returns the shape for vectors of {@code bits} and an {@code architecture} as {@code os.arch} names it.
     *
     * <p>Vectors of 128 bits are for ARM alone: elsewhere so short ones are those of processors that cannot multiply
     * and add in one step, which Java then computes number by number, a thousand times slower.
     *
     * @throws UnsupportedOperationException if plain loops are faster there, or no strip fits the vectors
     */
    static VectorTiles of(int bits, String architecture) {
        boolean arm = architecture.startsWith("aarch64");
        if (bits == 512) {
            return SIX_BY_THREE;
        }
        if (bits == 256 && !arm) {
            return SIX_BY_TWO;
        }
        // On ARM the fences of six by two are instructions, and there are 32 registers.
        if (arm && (bits == 256 || bits == 128)) {
            return THREE_BY_SIX;
        }
        throw new UnsupportedOperationException("vectors of %d bits on %s".formatted(bits, architecture));
    }

    /** Returns the rows of a tile. */
    int rows() {
        return rows;
    }

    /** Returns the vectors side by side in a tile. */
    int vectors() {
        return vectors;
    }

    /** Writes the shape, for example {@code 256 bits, tiles of 6 by 2 vectors}. */
    @Override
    public String toString() {
        return "%d bits, tiles of %d by %d vectors".formatted(BITS, rows, vectors);
    }

    /** Entries of a packed lower triangle before {@code row}; as a product of ints it would overflow from 46,341 on. */
    static int startOfRow(int row) {
        return (int) ((long) row * (row + 1) / 2);
    }

    static int strips(int dimension, int width) {
        return (dimension - 1) / width + 1;
    }
}
