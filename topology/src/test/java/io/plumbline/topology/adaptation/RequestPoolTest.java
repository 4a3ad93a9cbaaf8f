package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.assessment.AdaptationMessage.RequestPart;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RequestPoolTest {

    private static final String SITE = "layer.2";
    private static final int PART_BYTES = 400;

    private final KeyValueStore<String, byte[]> store = Stores.keyValueStoreBuilder(
                    Stores.inMemoryKeyValueStore("parts"), Serdes.String(), Serdes.ByteArray())
            .withLoggingDisabled()
            .build();
    private final RequestPool pool = new RequestPool(store);

    @BeforeEach
    void open() {
        store.init(new MockProcessorContext<>().getStateStoreContext(), store);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void keep(String site, long endMs, long... requests) {
        WholeRequests whole = WholeRequests.ofCapacity(16);
        for (long request : requests) {
            whole.offer(request, request, request, () -> new byte[300]);
        }
        List<byte[]> parts = whole.encode(PART_BYTES);
        for (int i = 0; i < parts.size(); i++) {
            RequestPart part = new RequestPart(endMs, i, parts.get(i));
            pool.keep(site, part, part.encode());
        }
    }

    private static RowPool of(long... ends) {
        List<RowPool.Window> windows = LongStream.of(ends)
                .mapToObj(end -> new RowPool.Window(end, 100, 1, 64))
                .toList();
        return new RowPool(windows, 100, RowPool.NEVER, 0);
    }

    private List<Long> groups(String site) {
        return pool.of(site).stream().map(WholeRequests.Kept::group).sorted().toList();
    }

    private int parts() {
        int count = 0;
        try (KeyValueIterator<String, byte[]> all = store.all()) {
            while (all.hasNext()) {
                all.next();
                count++;
            }
        }
        return count;
    }

    @Test
    void requestsOfAllPooledWindowsCountOnceAndThoseOfOthersGo() {
        keep(SITE, 10_000, 1, 2, 3);
        keep(SITE, 20_000, 3, 4);
        keep("layer.20", 10_000, 7);
        assertEquals(List.of(1L, 2L, 3L, 4L), groups(SITE));
        pool.keepOnly(SITE, of(20_000), 20_000);
        assertEquals(List.of(3L, 4L), groups(SITE));
        assertEquals(List.of(7L), groups("layer.20"));
        pool.keepOnly(SITE, RowPool.EMPTY, 20_000);
        assertEquals(List.of(), groups(SITE));
        assertEquals(List.of(7L), groups("layer.20"));
    }

    @Test
    void partsOfAWindowThatWasNotAnsweredWaitForItsRequest() {
        keep(SITE, 10_000, 1);
        keep(SITE, 20_000, 2);
        keep(SITE, 30_000, 3);
        pool.keepOnly(SITE, of(10_000), 20_000);
        assertEquals(List.of(1L, 3L), groups(SITE));
    }

    @Test
    void aRequestOfWhichAPieceIsMissingIsNotHeldWhole() {
        keep(SITE, 10_000, 1, 2, 3);
        store.delete(SITE + "#10000#w1");
        assertTrue(groups(SITE).size() < 3, groups(SITE)::toString);
    }

    @Test
    void partsThatCannotBeReadAreLeftOut() {
        keep(SITE, 10_000, 1);
        RequestPart broken = new RequestPart(10_000, 9, new byte[] {1, 2, 3});
        pool.keep(SITE, broken, broken.encode());
        assertEquals(List.of(1L), groups(SITE));
    }

    @Test
    void theOldestWindowsGoWhereAllAreTooLarge() {
        int megabyte = 1 << 20;
        long half = RequestPool.MOST_BYTES / megabyte / 2;
        for (long end : new long[] {10_000, 20_000, 30_000}) {
            for (int i = 0; i < half - 1; i++) {
                RequestPart part = new RequestPart(end, i, new byte[megabyte]);
                pool.keep(SITE, part, part.encode());
            }
        }
        pool.keepOnly(SITE, of(10_000, 20_000, 30_000), 30_000);
        assertTrue(parts() <= 2 * half, "parts: " + parts());
        assertEquals(
                half - 1,
                LongStream.range(0, half)
                        .filter(i -> store.get(SITE + "#30000#w" + i) != null)
                        .count());
        assertEquals(
                0,
                LongStream.range(3, half)
                        .filter(i -> store.get(SITE + "#10000#w" + i) != null)
                        .count());
    }
}
