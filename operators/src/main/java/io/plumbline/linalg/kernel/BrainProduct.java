package io.plumbline.linalg.kernel;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * The product of matrices of bfloat16 with sums in float32, by a library of the machine; stateless and thread-safe.
 *
 * <p>A product of two such numbers is exact in float32, so an entry errs by the rounding of its sums alone. Their order
 * is the library's: {@link BrainOrder} finds out what it means for the error.
 */
public interface BrainProduct {

    /** Finds the library; the one implementation is in a module of its own, which few processes have. */
    interface Finder {
        /**
         * Returns the product.
         *
         * @throws UnsupportedOperationException if the machine has none, with what to install
         */
        BrainProduct find();
    }

    /**
     * Computes {@code C = A^T B} for A of {@code count} rows and {@code m} columns and B of as many rows and {@code n}
     * columns. Subnormal numbers may be taken for 0. {@code 2 m n count} flops.
     *
     * @param numbers direct, of two bytes each in the machine's order, those of A and of B
     * @param pitch the numbers from one row to the next: entry (h, i) of A is number {@code a + h pitch + i}, entry
     *     (h, j) of B is number {@code b + h pitch + j}
     * @param c direct; entry (i, j) at {@code i n + j}
     */
    void multiply(ByteBuffer numbers, int pitch, int count, int a, int m, int b, int n, FloatBuffer c);
}
