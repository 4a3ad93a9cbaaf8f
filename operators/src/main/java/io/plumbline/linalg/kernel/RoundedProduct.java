package io.plumbline.linalg.kernel;

/**
 * Multiplies by a matrix B so that everybody gets the same bits: an entry of {@code A B} is {@code ((0 + a0 b0) + a1
 * b1) + ...}, the terms in their order, each product and each sum rounded by itself. For numbers that are made anew
 * elsewhere; fused steps in any order are up to twice as fast.
 *
 * <p>Twins agree to the last bit. Immutable; any number of threads.
 */
public interface RoundedProduct {

    /**
     * Computes {@code C = A B} in {@code 2 n p} flops for each row, B being n x p.
     *
     * @param a as many rows of n numbers as {@code c} has
     * @param c rows of p numbers, whatever they hold
     */
    void multiply(double[][] a, double[][] c);
}
