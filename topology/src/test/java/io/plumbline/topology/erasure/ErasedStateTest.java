package io.plumbline.topology.erasure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SplitMix;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.RequestRecord;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneKeys;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.windows.StoredPanes;
import io.plumbline.wire.KnownHeaders;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.Test;

class ErasedStateTest extends StoredPanes {

    private static final String ERASED = "request 2";
    private static final List<String> NAMES =
            List.of("request 0", "request 1", ERASED, "request 20", "an old request 2", "request 2 again");
    private static final String PANES = "app-panes-changelog";

    private final RequestTrace trace = new RequestTrace(ERASED);

    @Test
    void everyPartOfAPaneLosesTheRequestAndKeepsTheOthers() {
        PaneStore<SiteClock> store = store();
        for (int i = 0; i < 6; i++) {
            add(store, NAMES.get(i), i);
            if (i % 2 == 1) {
                store.writeDirty();
            }
        }
        Pane before = pane(store);
        Set<Byte> holding = new TreeSet<>();
        List<KeyValue<Bytes, byte[]>> entries = new ArrayList<>();
        try (KeyValueIterator<Bytes, byte[]> all = inner.all()) {
            all.forEachRemaining(entries::add);
        }
        for (KeyValue<Bytes, byte[]> entry : entries) {
            byte[] kept = ErasedState.without(PANES, entry.key.get(), entry.value, trace);
            assertEquals(trace.isHashedIn(entry.value), kept != entry.value);
            assertFalse(trace.isHashedIn(kept));
            assertSame(kept, ErasedState.without(PANES, entry.key.get(), kept, trace), "twice is once");
            if (kept != entry.value) {
                holding.add(PaneKeys.decode(entry.key).part());
                inner.put(entry.key, kept);
            }
        }
        assertEquals(
                Set.of(
                        PaneParts.SAMPLE.number(),
                        PaneParts.TOTALS.number(),
                        PaneParts.NOTES.number(),
                        PaneParts.WHOLE.number(),
                        PaneParts.ENGINES.number()),
                holding);

        PaneStore<SiteClock> restored = store();
        restored.reset(Map.of());
        Pane after = pane(restored);
        assertTrue(after.isComplete());
        assertEquals(before.counted(), after.counted());
        assertArrayEquals(
                before.moment().snapshot().state(), after.moment().snapshot().state());
        long erased = RowSample.requestHash(ERASED);
        assertEquals(sampled(before, erased), sampled(after, 0));
        assertEquals(10, sampled(after, 0).size());
        assertEquals(
                before.value(PaneParts.TOTALS).totals().stream()
                        .filter(total -> total.request() != erased)
                        .toList(),
                after.value(PaneParts.TOTALS).totals());
        assertEquals(6, after.value(PaneParts.TOTALS).records(), "as many records as came");
        assertEquals(5, after.value(PaneParts.WHOLE).requests().size());
        assertEquals(Origin.UNSAID, after.value(PaneParts.NOTES).originOf(erased));
        assertEquals(
                before.value(PaneParts.NOTES).origins(),
                after.value(PaneParts.NOTES).origins());
        assertEquals(
                Set.of(0, 1, 3, 4, 5).stream()
                        .map(i -> RowSample.requestHash(NAMES.get(i)))
                        .map(SplitMix::mix)
                        .collect(Collectors.toSet()),
                after.value(PaneParts.ENGINES).kept().get("a").stream()
                        .map(one -> one.request())
                        .collect(Collectors.toSet()));
    }

    @Test
    void aNameIsFoundAloneOrInASentenceAndNotInsideAnother() {
        assertTrue(new RequestTrace("r-7").isNamedIn(json("\"r-7\"")));
        assertTrue(new RequestTrace("r-7").isNamedIn(json("\"most of the evidence: r-7 (40 %)\"")));
        assertFalse(new RequestTrace("r-7").isNamedIn(json("\"r-77 and r-7-1 and xr-7\"")));
        assertFalse(new RequestTrace("7").isNamedIn(json("7")), "a number is no name");
        assertTrue(new RequestTrace("a\"b\nc").isNamedIn(json("\"a\\\"b?c\"")), "as reports print it");
        String hexadecimal = "%016x".formatted(RowSample.recordHash(new byte[] {1}, 5, null));
        assertTrue(new RequestTrace(hexadecimal).hashes().contains(RowSample.recordHash(new byte[] {1}, 5, null)));
    }

    @Test
    void aNameInsideAnotherIsThatOfAnother() {
        RequestTrace one = new RequestTrace("request-1");
        assertTrue(one.isIn(letter("request-1", "{}")));
        assertTrue(one.isIn(letter("other", "{\"id\":\"request-1\"}")));
        assertTrue(one.isIn(letter("other", "request-10 request-1")), "the second place");
        for (String other : List.of("request-10", "request-1.5", "my-request-1", "old request-1 again")) {
            assertFalse(one.isIn(letter(other, "{}")), other);
        }
        assertFalse(one.isIn(letter("other", "{\"id\":\"request-10\",\"of\":\"xrequest-1\"}")));
        assertFalse(new RequestTrace("7").isIn(letter("77", "7")));
        byte[] hash = ByteBuffer.allocate(10)
                .put((byte) 'x')
                .putLong(RowSample.requestHash("request-1"))
                .put((byte) 'x')
                .array();
        assertTrue(one.isHashedIn(hash), "a hash has no edges");
    }

    private static ConsumerRecord<byte[], byte[]> letter(String request, String value) {
        ConsumerRecord<byte[], byte[]> letter =
                new ConsumerRecord<>("dead-letters", 0, 0, null, value.getBytes(StandardCharsets.UTF_8));
        letter.headers().add("request", request.getBytes(StandardCharsets.UTF_8));
        return letter;
    }

    private static byte[] json(String text) {
        return "{\"a\": [{\"b\": %s}]}".formatted(text).getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> sampled(Pane pane, long without) {
        return pane.value(PaneParts.SAMPLE).rows().stream()
                .filter(row -> row.request() != without)
                .map(row -> row.hash() + Arrays.toString(row.activation()))
                .toList();
    }

    private PaneStore<SiteClock> store() {
        return new PaneStore<>(
                inner,
                SiteClock.CODEC,
                Map.of(SITE, WIDTH),
                CAPACITY,
                TOTALLING.keeping(Map.of(SITE, 8)).comparing(Map.of(SITE, "engine")));
    }

    private static Pane pane(PaneStore<SiteClock> store) {
        return Objects.requireNonNull(store.panes(SITE).get(0L));
    }

    private static void add(PaneStore<SiteClock> store, String request, int record) {
        byte[] rows = ActivationRecords.blob(ActivationRecords.integerRows(record, 2, WIDTH));
        store.paneToChange(SITE, 0)
                .add(
                        new Ingested.Rows(
                                SITE,
                                null,
                                new ProducerNotes(Coverage.UNKNOWN, Origin.of(Map.of("engine", "a"))),
                                record,
                                new Ingested.Request(RowSample.requestHash(request), request),
                                new RowMask.Kept<>(ActivationBlob.parse(rows, new KnownHeaders()), MaskedRows.NONE),
                                RequestRecord.parse(rows, new KnownHeaders(), null)),
                        record);
    }
}
