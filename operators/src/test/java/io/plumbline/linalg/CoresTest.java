package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
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
