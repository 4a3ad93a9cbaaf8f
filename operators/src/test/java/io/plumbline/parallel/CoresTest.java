package io.plumbline.parallel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CoresTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 9})
    void everyPartIsDoneOnce(int threads) {
        AtomicIntegerArray calls = new AtomicIntegerArray(500);
        Cores.each(500, calls::incrementAndGet, threads);
        int[] expected = new int[500];
        Arrays.fill(expected, 1);
        int[] found = new int[500];
        Arrays.setAll(found, calls::get);
        assertArrayEquals(expected, found);
        Cores.each(0, part -> calls.incrementAndGet(-1), threads);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 9})
    void whatAPartThrowsReachesTheCallerOnceNobodyWorksAnyMore(int threads) {
        AtomicIntegerArray running = new AtomicIntegerArray(1);
        ArithmeticException thrown = assertThrows(
                ArithmeticException.class,
                () -> Cores.each(
                        1_000,
                        part -> {
                            running.incrementAndGet(0);
                            try {
                                if (part == 7) {
                                    throw new ArithmeticException("part 7");
                                }
                            } finally {
                                running.decrementAndGet(0);
                            }
                        },
                        threads));
        assertTrue(String.valueOf(thrown.getMessage()).contains("part 7"), String.valueOf(thrown.getMessage()));
        assertEquals(0, running.get(0));
    }

    /** Tests sums of rows beside a refit that holds the pool for seconds. */
    @Test
    @Timeout(60)
    void nobodyWaitsForHelpersThatHaveNotBegun() {
        CountDownLatch refit = new CountDownLatch(1);
        List<ForkJoinTask<Boolean>> busy = new ArrayList<>();
        for (int i = 0; i < 4 * Math.max(1, ForkJoinPool.getCommonPoolParallelism()); i++) {
            busy.add(ForkJoinPool.commonPool().submit(() -> refit.await(50, TimeUnit.SECONDS)));
        }
        AtomicInteger calls = new AtomicInteger();
        Cores.each(20, part -> calls.incrementAndGet(), 9);
        assertEquals(20, calls.get());
        refit.countDown();
        busy.forEach(one -> assertTrue(one.join(), "the parts were done after the refit"));
    }

    @Test
    @Timeout(60)
    void theCallerWaitsForPartsThatHelpersHaveBegun() {
        AtomicInteger done = new AtomicInteger();
        for (int round = 0; round < 20; round++) {
            Cores.each(
                    4,
                    part -> {
                        sleep(part == 3 ? 0 : 3);
                        done.incrementAndGet();
                    },
                    9);
            assertEquals(4 * (round + 1), done.get());
        }
    }

    /** Helpers of one time may come late and find the next. */
    @Test
    @Timeout(60)
    void sharedWorkDoneOverAndOverDoesEveryPartOnceEachTime() {
        AtomicIntegerArray calls = new AtomicIntegerArray(7);
        AtomicInteger rounds = new AtomicInteger();
        SharedWork work = new SharedWork(part -> {
            calls.incrementAndGet(part);
            assertEquals(rounds.get() + 1, calls.get(part));
        });
        for (int round = 0; round < 100_000; round++) {
            rounds.set(round);
            work.each(7, 1 + round % 9);
            for (int part = 0; part < 7; part++) {
                assertEquals(round + 1, calls.get(part), "part " + part);
            }
        }
    }

    @Test
    @Timeout(60)
    void helpersComeAgain() {
        Assumptions.assumeTrue(Runtime.getRuntime().availableProcessors() > 1);
        AtomicInteger byOthers = new AtomicInteger();
        Thread owner = Thread.currentThread();
        SharedWork work = new SharedWork(part -> {
            sleep(5);
            byOthers.addAndGet(Thread.currentThread() == owner ? 0 : 1);
        });
        for (int times = 0; times < 3; times++) {
            int before = byOthers.get();
            while (byOthers.get() == before) {
                work.each(4, 2);
            }
        }
    }

    @Test
    @Timeout(60)
    void sharedWorkGoesOnAfterAPartThrew() {
        AtomicInteger calls = new AtomicInteger();
        SharedWork work = new SharedWork(part -> {
            if (calls.incrementAndGet() == 2) {
                throw new ArithmeticException("part " + part);
            }
        });
        assertThrows(ArithmeticException.class, () -> work.each(5, 3));
        int before = calls.get();
        work.each(5, 3);
        assertEquals(before + 5, calls.get());
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void partsMayShareOutPartsOfTheirOwn() {
        AtomicIntegerArray calls = new AtomicIntegerArray(1);
        Cores.each(20, part -> Cores.each(20, inner -> calls.incrementAndGet(0), 3), 3);
        assertEquals(400, calls.get(0));
    }

    @Test
    void theNumberOfThreadsIsBoundedByTheMachineAndRefusedWithASentence() {
        assertEquals(Runtime.getRuntime().availableProcessors(), Cores.threads(null));
        assertEquals(1, Cores.threads("1"));
        assertEquals(Runtime.getRuntime().availableProcessors(), Cores.threads("100000"));
        for (String wrong : new String[] {"0", "-1", "two", ""}) {
            IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> Cores.threads(wrong));
            assertEquals(
                    "-Dplumbline.threads=%s: expected a number of threads from 1 on, or nothing for all cores"
                            .formatted(wrong),
                    refused.getMessage());
        }
    }
}
