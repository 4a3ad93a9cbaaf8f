package io.plumbline.parallel;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Shares large products among several cores: the parts of one piece of work are taken one after the other by the caller
 * and by helpers from the common pool. Where those are busy the caller does all of it, and waits for nobody who has not
 * begun.
 *
 * <p>What the parts are never depends on how many threads there are, and no part touches what another one writes:
 * results are the same to the last bit for any number of threads.
 *
 * <p>The system property {@value #PROPERTY} bounds how many cores one caller uses, itself included; without it all that
 * are there.
 */
public final class Cores {

    /** The property that names a number of threads, 1 or more. */
    public static final String PROPERTY = "plumbline.threads";

    /**
     * The number of flops that are worth sharing: some tenths of a millisecond; handing work over costs some
     * hundredths.
     */
    private static final double FLOPS_WORTH_SHARING = 1e7;

    private Cores() {}

    /**
     * Calls {@code part} with 0 to {@code count - 1}, each once, and returns when all are done.
     *
     * @throws IllegalArgumentException if {@value #PROPERTY} is no number of threads
     * @throws RuntimeException the first thing that a part threw; parts that had not begun are then left out
     */
    public static void each(int count, IntConsumer part) {
        each(count, part, count < 2 ? 1 : threads());
    }

    /**
     * Calls {@code part} for each index on all cores, or by the caller alone where {@code flops} are too few to share.
     */
    public static void each(int count, double flops, IntConsumer part) {
        if (areWorthSharing(flops)) {
            each(count, part);
            return;
        }
        for (int index = 0; index < count; index++) {
            part.accept(index);
        }
    }

    static void each(int count, IntConsumer part, int threads) {
        new SharedWork(part).each(count, threads);
    }

    /** Returns whether work of so many flops is worth another core's time. */
    public static boolean areWorthSharing(double flops) {
        return flops >= FLOPS_WORTH_SHARING;
    }

    /** Returns how many threads one caller may use, itself included. */
    public static int threads() {
        return threads(System.getProperty(PROPERTY));
    }

    static int threads(@Nullable String wish) {
        int there = Runtime.getRuntime().availableProcessors();
        if (wish == null) {
            return there;
        }
        try {
            int threads = Integer.parseInt(wish.strip());
            if (threads >= 1) {
                return Math.min(threads, there);
            }
        } catch (NumberFormatException e) {
            // Said below, for both.
        }
        throw new IllegalArgumentException(
                "-D%s=%s: expected a number of threads from 1 on, or nothing for all cores".formatted(PROPERTY, wish));
    }
}
