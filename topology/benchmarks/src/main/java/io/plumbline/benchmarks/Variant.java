package io.plumbline.benchmarks;

import java.util.function.Supplier;

/**
 * One way of doing the work of a {@link KernelCase}.
 *
 * @param byTheWall whether it is timed by the clock on the wall, as it must be where several threads work; otherwise by
 *     the calling thread's processor time, which other processes do not change
 * @param work does it once more, on what is there
 * @param answer does it from nothing and returns what {@link KernelCase#expected} names
 */
public record Variant(String name, boolean byTheWall, Runnable work, Supplier<double[]> answer) {

    /** Returns a variant that the calling thread runs alone. */
    public static Variant single(String name, Runnable work, Supplier<double[]> answer) {
        return new Variant(name, false, work, answer);
    }
}
