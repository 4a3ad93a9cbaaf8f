package io.plumbline.linalg.kernel;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;

/**
 * Multiplies bfloat16 in plain loops: as many products as {@code block} are summed one after the other, and then these
 * sums, as libraries do it.
 */
public record PlainBrainProduct(int block) implements BrainProduct {

    /** Returns a kernel that sums by plain loops all rows but those of bfloat16, its order known to be in blocks. */
    public static UpdateKernel kernel(BrainProduct product) {
        return new NativeKernel(UpdateKernels.plain(), product, BrainPanel.TOGETHER);
    }

    @Override
    public void multiply(ByteBuffer numbers, int pitch, int count, int a, int m, int b, int n, FloatBuffer c) {
        float[][] left = rows(numbers, pitch, count, a, m);
        float[][] right = rows(numbers, pitch, count, b, n);
        float[] sums = new float[n];
        float[] of = new float[n];
        for (int i = 0; i < m; i++) {
            Arrays.fill(sums, 0f);
            for (int from = 0; from < count; from += block) {
                Arrays.fill(of, 0f);
                for (int h = from; h < Math.min(from + block, count); h++) {
                    addMultiple(of, left[h][i], right[h]);
                }
                addMultiple(sums, 1f, of);
            }
            c.put(i * n, sums);
        }
    }

    private static void addMultiple(float[] sums, float factor, float[] row) {
        for (int j = 0; j < sums.length; j++) {
            sums[j] += factor * row[j];
        }
    }

    private static float[][] rows(ByteBuffer numbers, int pitch, int count, int from, int columns) {
        float[][] rows = new float[count][columns];
        for (int h = 0; h < count; h++) {
            for (int i = 0; i < columns; i++) {
                rows[h][i] = Float.intBitsToFloat(numbers.getShort(Short.BYTES * (from + h * pitch + i)) << Short.SIZE);
            }
        }
        return rows;
    }
}
