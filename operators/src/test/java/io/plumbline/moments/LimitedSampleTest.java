package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Samples that hold only the rows up to a hash, as producers of moments send them. */
class LimitedSampleTest {

    @Test
    void aMergedSampleHasTheRowsUpToTheSmallestLimit() {
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 200; round++) {
            long[] all = random.longs(60).distinct().toArray();
            int capacity = 1 + random.nextInt(40);
            RowSample merged = RowSample.ofCapacity(capacity);
            long limit = Long.MAX_VALUE;
            int from = 0;
            while (from < all.length) {
                int to = Math.min(all.length, from + 1 + random.nextInt(20));
                long[] part = Arrays.copyOfRange(all, from, to);
                Arrays.sort(part);
                int kept = 1 + random.nextInt(part.length);
                limit = kept < part.length ? Math.min(limit, part[kept - 1]) : limit;
                RowSample sent = sample(capacity, Arrays.copyOf(part, kept));
                if (kept < part.length) {
                    sent.limitTo(part[kept - 1]);
                }
                if (random.nextBoolean()) {
                    merged.merge(sent);
                } else {
                    sent.encode(200).forEach(merged::mergeEncoded);
                }
                from = to;
            }
            long most = limit;
            long[] expected = Arrays.stream(all)
                    .filter(hash -> hash <= most)
                    .sorted()
                    .limit(capacity)
                    .toArray();
            assertArrayEquals(expected, merged.hashes(), "round " + round);
        }
    }

    @Test
    void aRowAboveTheLimitDoesNotEnterAndTheLimitShows() {
        RowSample sample = sample(10, 1, 2, 3);
        assertFalse(sample.isLimited());
        sample.limitTo(2);
        assertTrue(sample.isLimited());
        assertEquals(2, sample.threshold());
        sample.offer(3, 0, 0, new float[] {1}, null);
        assertArrayEquals(new long[] {1, 2}, sample.hashes());
    }

    @Test
    void aFullSampleIsNotLimited() {
        RowSample sample = sample(2, 1, 2, 3);
        sample.limitTo(5);
        assertFalse(sample.isLimited());
        assertEquals(2, sample.threshold());
    }

    @Test
    void theLimitTravelsWithEveryPart() {
        RowSample sample = sample(10, 1, 2, 3);
        sample.limitTo(3);
        for (byte[] part : sample.encode(150)) {
            RowSample read = RowSample.ofCapacity(10);
            read.mergeEncoded(part);
            assertEquals(3, read.threshold());
        }
    }

    @Test
    void aPartThatEndsInItsLimitIsRefused() {
        RowSample sample = sample(10, 1);
        sample.limitTo(3);
        byte[] part = sample.encode(100).get(0);
        for (int length = 0; length < part.length; length++) {
            byte[] cut = Arrays.copyOf(part, length);
            assertThrows(IllegalArgumentException.class, () -> RowSample.ofCapacity(10)
                    .mergeEncoded(cut));
        }
    }

    private static RowSample sample(int capacity, long... hashes) {
        RowSample sample = RowSample.ofCapacity(capacity);
        for (long hash : hashes) {
            sample.offer(hash, 0, 0, new float[] {hash}, null);
        }
        return sample;
    }
}
