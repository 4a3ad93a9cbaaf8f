package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationBlob;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.wire.KnownHeaders;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EngineRequestsTest {

    private static final int WIDTH = 4;
    private static final int PART = 4_096;

    private static ActivationBlob rows(int seed, int count) {
        return ActivationBlob.parse(
                ActivationRecords.blob(ActivationRecords.integerRows(seed, count, WIDTH)), new KnownHeaders());
    }

    private static EngineRequests of(String engine, int from, int to) {
        EngineRequests requests = new EngineRequests();
        for (int i = from; i < to; i++) {
            requests.offer(
                    engine, RowSample.requestHash("request " + i), 31L * i + engine.hashCode(), rows(i, 3 + i % 20));
        }
        return requests;
    }

    @Test
    void enginesThatServeTheSameRequestsKeepTheSameOnesAndTheSameRows() {
        EngineRequests requests = of("a", 0, 400).merge(of("b", 0, 400));
        List<EngineRequests.Kept> a = kept(requests, "a");
        List<EngineRequests.Kept> b = kept(requests, "b");
        assertEquals(EngineRequests.REQUESTS, a.size());
        assertEquals(a, b);
        for (EngineRequests.Kept one : a) {
            assertEquals(Math.min(EngineRequests.ROWS, one.came()), one.rows().rows());
        }
    }

    @Test
    void theRowsAreSpreadOverTheRequest() {
        EngineRequests requests = new EngineRequests();
        requests.offer("a", 1, 2, rows(7, 16));
        Matrix sent = ActivationRecords.integerRows(7, 16, WIDTH);
        Matrix kept = kept(requests, "a").get(0).rows().activations();
        for (int i = 0; i < EngineRequests.ROWS; i++) {
            assertEquals(sent.rowRange(2 * i, 2 * i + 1), kept.rowRange(i, i + 1));
        }
    }

    @Test
    void partsMergeInAnyOrderAlsoOfMoreEnginesThanAreKept() {
        List<byte[]> parts = new ArrayList<>();
        EngineRequests whole = new EngineRequests();
        for (String engine : List.of("f", "b", "a", "e", "d", "c")) {
            EngineRequests some = of(engine, 0, 60);
            parts.addAll(some.encode(PART));
            whole.merge(some);
        }
        assertEquals(List.of("a", "b", "c", "d"), List.copyOf(whole.kept().keySet()));
        assertTrue(parts.stream().allMatch(part -> part.length <= PART));
        EngineRequests read = new EngineRequests();
        // Pieces of one request stay in order; parts of one engine do.
        List<List<byte[]>> byEngine = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            if (i == 0 || parts.get(i)[3] != parts.get(i - 1)[3]) {
                byEngine.add(new ArrayList<>());
            }
            byEngine.get(byEngine.size() - 1).add(parts.get(i));
        }
        Collections.shuffle(byEngine, new Random(5));
        byEngine.forEach(some -> some.forEach(read::mergeEncoded));
        assertEquals(whole.kept(), read.kept());
    }

    @Test
    void aRequestInTwoRecordsOfOneEngineIsNotKeptForIt() {
        EngineRequests requests = of("a", 0, 3);
        requests.offer("a", RowSample.requestHash("request 1"), -1, rows(9, 4));
        assertEquals(2, kept(requests, "a").size());
        assertEquals(requests.kept(), of("a", 0, 3).merge(requests).kept());
    }

    @Test
    void requestsHaveTheSameRowsWhereLengthsAndTokensAgree() {
        Matrix rows = Matrix.zeros(2, WIDTH);
        EngineRequests.Kept one = kept(1, 2, new ActivationBatch(rows, null, new long[] {5, 6}));
        assertTrue(one.hasRowsOf(kept(1, 2, new ActivationBatch(rows, null, new long[] {5, 6}))));
        assertTrue(one.hasRowsOf(kept(1, 2, new ActivationBatch(rows, null, null))));
        assertFalse(one.hasRowsOf(kept(1, 2, new ActivationBatch(rows, null, new long[] {5, 7}))));
        assertFalse(one.hasRowsOf(kept(1, 3, new ActivationBatch(rows, null, new long[] {5, 6}))));
    }

    @Test
    void bytesThatAreNoPartChangeNothing() {
        EngineRequests requests = of("a", 0, 3);
        byte[] part = requests.encode(PART).get(0);
        for (int length = 0; length < part.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(part, length);
            EngineRequests holding = of("b", 5, 2);
            Map<String, List<EngineRequests.Kept>> before = holding.kept();
            try {
                holding.mergeEncoded(cut);
                assertEquals(before.get("b"), holding.kept().get("b"), "cut to " + length);
            } catch (IllegalArgumentException refused) {
                assertEquals(before, holding.kept(), "cut to " + length);
            }
        }
        assertThrows(IllegalArgumentException.class, () -> new EngineRequests().mergeEncoded(new byte[] {1, 0, 9, 1}));
        assertThrows(IllegalArgumentException.class, () -> new EngineRequests().mergeEncoded(new byte[] {2, 0, 1, 65}));
    }

    @Test
    void onlyHeadersOfEnginesOfASiteWithAnExplainerCompare() {
        assertEquals("quantization", EngineRequests.header("quantization", true));
        assertNull(EngineRequests.header("quantization", false));
        assertNull(EngineRequests.header("tenant", true));
        assertNull(EngineRequests.header(null, true));
    }

    private static EngineRequests.Kept kept(long request, int came, ActivationBatch rows) {
        return new EngineRequests.Kept(request, came, rows);
    }

    private static List<EngineRequests.Kept> kept(EngineRequests requests, String engine) {
        return requests.kept().getOrDefault(engine, List.of());
    }
}
