package io.plumbline.linalg;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Large products done by several cores: the parts of one piece of work are taken one after the other by the caller and by helpers
 * from the common pool. Where those are busy the caller does all of it.
 *
 * <p>What the parts are never depends on how many threads there are, and no part touches what another one writes: results are the
 * same to the last bit for any number of threads.
 *
 * <p>The system property {@value #PROPERTY} bounds how many cores one caller uses, itself included; without it all that are there.
 */
public final class Cores {

    /** A number of threads, 1 or more. */
    public static final String PROPERTY = "plumbline.threads";

    /** Some tenths of a millisecond; handing work over costs some hundredths. */
    private static final double FLOPS_WORTH_SHARING = 1e7;

    private Cores() {}

    /**
     * Calls {@code part} with 0 to {@code count - 1}, each once, and returns when all are done.
     *
     * @throws IllegalArgumentException if {@value #PROPERTY} is no number of threads
     * @throws RuntimeException the first thing that a part threw; parts that had not begun are then left out
     */
    public static void each(int count, IntConsumer part) {
        each(count, part, count < 2 ? 1 : threads(System.getProperty(PROPERTY)));
    }

    /** The same by the caller alone where all of it has too few {@code flops} to be worth another's time. */
    static void each(int count, double flops, IntConsumer part) {
        if (flops >= FLOPS_WORTH_SHARING) {
            each(count, part);
            return;
        }
        for (int index = 0; index < count; index++) {
            part.accept(index);
        }
    }

    static void each(int count, IntConsumer part, int threads) {
        AtomicInteger next = new AtomicInteger();
        AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
        Runnable work = () -> {
            try {
                for (int index = next.getAndIncrement(); index < count; index = next.getAndIncrement()) {
                    part.accept(index);
                }
            } catch (RuntimeException | Error e) {
                thrown.compareAndSet(null, e);
                // The others need not begin what nobody will look at.
                next.set(count);
            }
        };
        List<ForkJoinTask<?>> helpers = new ArrayList<>();
        for (int helper = 1; helper < Math.min(threads, count); helper++) {
            helpers.add(ForkJoinPool.commonPool().submit(work));
        }
        work.run();
        helpers.forEach(ForkJoinTask::join);
        Throwable first = thrown.get();
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException exception) {
            throw exception;
        }
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
