package io.plumbline.linalg.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Arrays;

/**
 * Finds out in which order a {@link BrainProduct} adds, as far as the error of a sum depends on it.
 *
 * <p>The sum of n products is a tree of additions, each rounded. Product i errs by at most {@code depth 2^-24} of its
 * size, with its depth the additions on its way up. Where product i is {@code M = 2^60}, product j is {@code -M} and
 * all others are 1, the ones that are added before M and -M meet are lost beside M, and the others are counted exactly:
 * the sum says how large the branch is in which i and j meet. Branches around i lie within each other, so their sizes
 * differ, and their number is the depth of i. One product of matrices asks for many i and all j.
 */
final class BrainOrder {

    /** Columns are handed to a product by as many, and rows of its result. */
    static final int STEP = 32;

    /** 1, 2^60 and -2^60. */
    private static final short ONE = 0x3F80;

    private static final short LARGE = 0x5D80;
    private static final short MINUS_LARGE = (short) 0xDD80;

    private BrainOrder() {}

    /**
     * Returns the most additions that a product passes in a sum of {@code count}, for results of {@code m} by n, n
     * being {@value #STEP} and {@code count}: libraries may have loops of their own for narrow ones.
     *
     * @param count at least {@code m}, a multiple of {@value #STEP} as that is
     */
    static int depth(BrainProduct product, int count, int m) {
        int pitch = m + count;
        ByteBuffer rows = ByteBuffer.allocateDirect(Short.BYTES * pitch * count).order(ByteOrder.nativeOrder());
        FloatBuffer c = ByteBuffer.allocateDirect(Float.BYTES * m * count)
                .order(ByteOrder.nativeOrder())
                .asFloatBuffer();
        for (int h = 0; h < count; h++) {
            for (int i = 0; i < m; i++) {
                rows.putShort(Short.BYTES * (h * pitch + i), h == place(i, m, count) ? LARGE : ONE);
            }
            for (int j = 0; j < count; j++) {
                rows.putShort(Short.BYTES * (h * pitch + m + j), h == j ? MINUS_LARGE : ONE);
            }
        }
        int depth = 0;
        for (int n : new int[] {count, STEP}) {
            float[][] sums = new float[m][count];
            for (int from = 0; from < count; from += n) {
                product.multiply(rows, pitch, count, 0, m, m + from, n, c);
                for (int i = 0; i < m; i++) {
                    c.get(i * n, sums[i], from, n);
                }
            }
            for (int i = 0; i < m; i++) {
                depth = Math.max(depth, different(sums[i], place(i, m, count)));
            }
        }
        return depth;
    }

    /** Returns which product is the large one in row i of the result: first ones, last ones, and all over. */
    private static int place(int i, int m, int count) {
        return (int) ((long) i * (count - 1) / (m - 1));
    }

    /** Returns how many different numbers there are, but for the one at {@code without}. */
    private static int different(float[] sums, int without) {
        sums[without] = Float.NaN;
        Arrays.sort(sums);
        int different = 1;
        for (int i = 1; i < sums.length - 1; i++) {
            different += sums[i] == sums[i - 1] ? 0 : 1;
        }
        return different;
    }
}
