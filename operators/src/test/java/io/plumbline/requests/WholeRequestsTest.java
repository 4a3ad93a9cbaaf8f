package io.plumbline.requests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WholeRequestsTest {

    private static byte[] bytes(long request) {
        byte[] bytes = new byte[100 + (int) (request % 50)];
        Arrays.fill(bytes, (byte) request);
        return bytes;
    }

    private static WholeRequests of(int capacity, List<Long> requests) {
        WholeRequests sample = WholeRequests.ofCapacity(capacity);
        requests.forEach(request -> sample.offer(request, request, request, () -> bytes(request)));
        return sample;
    }

    private static List<Long> thousand() {
        List<Long> requests = new ArrayList<>();
        for (long i = 0; i < 1_000; i++) {
            requests.add(i);
        }
        return requests;
    }

    private static void assertSame(WholeRequests expected, WholeRequests found) {
        assertEquals(expected.split(), found.split());
        assertEquals(expected.requests().size(), found.requests().size());
        for (int i = 0; i < expected.requests().size(); i++) {
            assertArrayEquals(expected.requests().get(i), found.requests().get(i));
        }
    }

    @Test
    void mergedPartsAreTheSampleOfTheWholeInAnyOrder() {
        List<Long> all = thousand();
        WholeRequests whole = of(16, all);
        assertEquals(16, whole.requests().size());
        Random random = new Random(7);
        for (int again = 0; again < 5; again++) {
            Collections.shuffle(all, random);
            int cut = random.nextInt(all.size());
            WholeRequests left = of(16, all.subList(0, cut));
            WholeRequests right = of(16, all.subList(cut, all.size()));
            assertSame(whole, right.merge(left));
        }
    }

    @Test
    void onlyRequestsThatAreKeptAreAskedForTheirBytes() {
        AtomicInteger asked = new AtomicInteger();
        WholeRequests sample = WholeRequests.ofCapacity(4);
        for (long i = 0; i < 10_000; i++) {
            sample.offer(i, i, i, () -> {
                asked.incrementAndGet();
                return new byte[] {1};
            });
        }
        assertTrue(asked.get() < 200, "asked " + asked);
    }

    @Test
    void aRequestInSeveralRecordsIsSplitInWhateverOrderTheyCome() {
        WholeRequests once = WholeRequests.ofCapacity(4);
        once.offer(1, 1, 10, () -> bytes(1));
        once.offer(1, 1, 10, () -> bytes(1));
        assertEquals(1, once.requests().size(), "the same record again counts once");
        WholeRequests other = WholeRequests.ofCapacity(4);
        other.offer(1, 1, 11, () -> bytes(1));
        WholeRequests merged = WholeRequests.ofCapacity(4).merge(other).merge(once);
        assertEquals(List.of(), merged.requests());
        assertEquals(1, merged.split());
        WholeRequests read = WholeRequests.ofCapacity(4);
        merged.encode(1_000).forEach(read::mergeEncoded);
        once.encode(1_000).forEach(read::mergeEncoded);
        assertEquals(1, read.split());
        once.merge(read);
        assertEquals(List.of(), once.requests());
    }

    @Test
    void smallPartsAreReadBackToTheSameSample() {
        WholeRequests whole = of(16, thousand());
        whole.offer(1_001, 1_001, 1, () -> bytes(1));
        List<byte[]> parts = whole.encode(77);
        assertTrue(parts.stream().allMatch(part -> part.length <= 77));
        WholeRequests read = WholeRequests.ofCapacity(100);
        parts.forEach(read::mergeEncoded);
        assertSame(whole, read);
        assertEquals(16, read.capacity(), "the bottom k of a union is known up to the smaller k alone");
        parts.forEach(read::mergeEncoded);
        assertSame(whole, read);
    }

    @Test
    void whatIsStoredInStepsIsReadBackWhole() {
        WholeRequests sample = WholeRequests.ofCapacity(4);
        List<byte[]> stored = new ArrayList<>();
        for (long i = 0; i < 50; i++) {
            long request = i;
            sample.offer(request, request, request, () -> bytes(request));
            stored.addAll(sample.encodeNew(1_000));
        }
        assertEquals(List.of(), sample.encodeNew(1_000), "nothing is new");
        WholeRequests read = WholeRequests.ofCapacity(4);
        stored.forEach(read::mergeEncoded);
        assertSame(sample, read);
        for (long i = 0; i < 50; i++) {
            long request = i;
            sample.offer(request, request, -1, () -> bytes(request));
        }
        assertEquals(4, sample.split());
        sample.encodeNew(1_000).forEach(read::mergeEncoded);
        assertSame(sample, read);
    }

    @Test
    void bytesThatAreNoPartAreRefused() {
        byte[] part = of(4, List.of(1L)).encode(1_000).get(0);
        WholeRequests read = WholeRequests.ofCapacity(4);
        for (int length = 0; length < part.length; length++) {
            byte[] cut = Arrays.copyOf(part, length);
            if (length != 5) {
                assertThrows(IllegalArgumentException.class, () -> read.mergeEncoded(cut), "cut at " + length);
            }
        }
        byte[] version = part.clone();
        version[0] = 9;
        assertThrows(IllegalArgumentException.class, () -> read.mergeEncoded(version));
        byte[] huge = part.clone();
        Arrays.fill(huge, 29, 33, (byte) 0x7f);
        assertThrows(IllegalArgumentException.class, () -> read.mergeEncoded(huge));
        assertEquals(List.of(), read.requests());
    }

    @Test
    void theFirstWholeRequestsThatFitAreASampleOfTheirOwnWithTheirGroups() {
        WholeRequests whole = WholeRequests.ofCapacity(8);
        for (long i = 0; i < 6; i++) {
            long request = i;
            whole.offer(request, 100 + request, request, () -> new byte[10]);
        }
        whole.offer(3, 103, 77, () -> new byte[10]);
        WholeRequests read = WholeRequests.ofCapacity(8);
        whole.within(35).encode(1_000).forEach(read::mergeEncoded);
        assertEquals(3, read.kept().size());
        assertEquals(0, read.split());
        for (int i = 0; i < 3; i++) {
            assertEquals(whole.kept().get(i).hash(), read.kept().get(i).hash());
            assertEquals(whole.kept().get(i).group(), read.kept().get(i).group());
        }
        assertEquals(
                List.of(100L, 101L, 102L, 104L, 105L),
                whole.kept().stream().map(WholeRequests.Kept::group).sorted().toList());
        assertEquals(5, whole.within(1_000).kept().size());
        assertEquals(List.of(), whole.within(9).kept());
    }

    @Test
    void aClaimedSizeAllocatesNothing() {
        WholeRequests requests = WholeRequests.ofCapacity(4);
        requests.mergeEncoded(java.nio.ByteBuffer.allocate(42)
                .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                .put((byte) 1)
                .putInt(4)
                .putLong(1)
                .putLong(1)
                .putLong(2)
                .putInt(1 << 28)
                .putInt(0)
                .putInt(1)
                .put((byte) 7)
                .array());
        assertTrue(requests.bytes() < 100, "bytes: " + requests.bytes());
        assertEquals(0, requests.requests().size());
    }
}
