package io.plumbline.topology.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationBlob;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.wire.KnownHeaders;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestPartsTest {

    private final List<RequestParts.Whole> taken = new ArrayList<>();
    private final RequestParts parts = new RequestParts(taken::add);

    private static ActivationBlob row(double value) {
        return ActivationRecords.undecoded(new Matrix(1, 2, new double[] {value, -value}));
    }

    private List<String> names() {
        return taken.stream()
                .map(request -> "%s %d".formatted(request.name(), request.rows()))
                .toList();
    }

    @Test
    void recordsOfOneNameAndTimeAreOneRequestEvenWithOthersBetweenThem() throws IOException {
        assertTrue(parts.add("a", 5, 1, row(1.0)));
        assertTrue(parts.add("b", 6, 2, row(2.0)));
        assertTrue(parts.add("a", 5, 3, row(3.0)));
        assertTrue(parts.add("a", 5, 4, row(1.0)));
        parts.end();
        assertEquals(List.of("a 3", "b 1"), names());
        assertEquals(
                new Matrix(3, 2, new double[] {1, -1, 3, -3, 1, -1}),
                taken.get(0).batch().activations());
        assertEquals(0, parts.apart());
    }

    @Test
    void aRecordWithoutANameIsARequest() throws IOException {
        assertTrue(parts.add("", 5, 1, row(1.0)));
        assertTrue(parts.add("", 5, 2, row(2.0)));
        parts.end();
        assertEquals(List.of(" 1", " 1"), names());
        assertEquals(0, parts.apart());
    }

    @Test
    void aRecordThatComesAgainIsNotAdded() throws IOException {
        assertTrue(parts.add("a", 5, 1, row(1.0)));
        assertFalse(parts.add("a", 5, 1, row(1.0)));
        parts.end();
        assertEquals(List.of("a 1"), names());
    }

    @Test
    void aNameThatComesAtAnotherTimeIsAnotherRequestAndCounted() throws IOException {
        assertTrue(parts.add("a", 5, 1, row(1.0)));
        assertTrue(parts.add("a", 6, 2, row(2.0)));
        for (int i = 0; i < RequestParts.OPEN; i++) {
            assertTrue(parts.add("other" + i, 7, 10 + i, row(3.0)));
        }
        assertEquals(List.of("a 1", "a 1"), names());
        assertTrue(parts.add("a", 5, 3, row(4.0)));
        parts.end();
        assertEquals(RequestParts.OPEN + 3, taken.size());
        assertEquals(2, parts.apart());
    }

    @Test
    void joinedRecordsKeepTargetsAndTokenIdsWhereAllHaveThem() throws IOException {
        Matrix one = new Matrix(1, 2, new double[] {1, 2});
        Matrix wider = new Matrix(1, 3, new double[] {3, 4, 5});
        byte[] targets = ActivationRecords.blob(one, wider);
        assertTrue(parts.add("a", 5, 1, ActivationBlob.parse(targets, new KnownHeaders())));
        assertTrue(parts.add("a", 5, 2, ActivationBlob.parse(targets, new KnownHeaders())));
        byte[] tokens = ActivationRecords.blob(one, 7);
        assertTrue(parts.add("b", 5, 3, ActivationBlob.parse(tokens, new KnownHeaders())));
        assertTrue(parts.add("b", 5, 4, ActivationBlob.parse(tokens, new KnownHeaders())));
        assertTrue(parts.add("c", 5, 5, ActivationBlob.parse(tokens, new KnownHeaders())));
        assertTrue(parts.add("c", 5, 6, ActivationRecords.undecoded(one)));
        parts.end();
        ActivationBatch a = taken.get(0).batch();
        assertEquals(new Matrix(2, 3, new double[] {3, 4, 5, 3, 4, 5}), a.targets());
        assertEquals(new Matrix(2, 2, new double[] {1, 2, 1, 2}), a.activations());
        assertArrayEquals(new long[] {7, 7}, taken.get(1).batch().tokenIds());
        assertArrayEquals(null, taken.get(2).batch().tokenIds());
    }
}
