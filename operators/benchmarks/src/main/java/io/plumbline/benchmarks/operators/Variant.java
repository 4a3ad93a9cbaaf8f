package io.plumbline.benchmarks.operators;

import java.util.function.Supplier;

/**
 * One way of doing a piece of work, on numbers that lie ready.
 *
 * @param run does it once more, on what is there
 * @param answer does it from nothing and returns the numbers that are compared
 */
record Variant(Runnable run, Supplier<double[]> answer) {

    /**
     * Returns the work, once it was seen to give the right numbers.
     *
     * @throws IllegalStateException when it computes something else
     */
    Runnable checked(String name, double[] expected, double tolerance) {
        double[] found = answer.get();
        for (int i = 0; i < expected.length; i++) {
            // Written so that NaN fails it.
            if (!(Math.abs(found[i] - expected[i]) <= tolerance)) {
                throw new IllegalStateException("%s gives %s instead of %s (number %d, tolerance %s); nothing was timed"
                        .formatted(name, found[i], expected[i], i, tolerance));
            }
        }
        return run;
    }
}
