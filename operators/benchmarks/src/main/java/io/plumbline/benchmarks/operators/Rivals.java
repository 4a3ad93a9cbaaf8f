package io.plumbline.benchmarks.operators;

import io.plumbline.linalg.kernel.UpdateKernel;
import io.plumbline.linalg.kernel.UpdateKernels;
import java.util.SplittableRandom;

/** Holds what both benchmarks need: the two kernels, rows, and the check that all variants compute the same. */
final class Rivals {

    private Rivals() {}

    static UpdateKernel kernel(String name) {
        return UpdateKernels.named(name);
    }

    /** Returns integers up to 50, so that every variant's sums are exact. */
    static double[] integers(int count, long seed) {
        return new SplittableRandom(seed).ints(count, -50, 51).asDoubleStream().toArray();
    }

    static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    /** Compares one number of a variant's answer, which is exact. */
    static void require(String variant, double expected, double found) {
        if (expected != found) {
            throw new IllegalStateException("%s gives %s instead of %s".formatted(variant, found, expected));
        }
    }
}
