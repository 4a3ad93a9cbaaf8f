package io.plumbline.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SplitMix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationRecord;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.RequestName;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what is kept of requests, as an object and as bytes; {@link RequestTotalsLawsTest} has the laws of merging. */
class RequestTotalsTest {

    private static final RequestProjection.Id PAIR =
            RequestProjection.of(new Matrix(2, 1, new double[] {1, 2})).id();
    private static final int HEADER_BYTES = 37;

    @Test
    void recordsOfARequestAreAddedUp() {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, 4);
        totals.add(7, "seven", 3, new double[] {1, 2});
        totals.add(8, null, 1, new double[] {5, 5});
        totals.add(7, "seven", 2, new double[] {10, 20});
        assertEquals(new RequestTotal(7, "seven", 5, new double[] {11, 22}), total(totals, 7));
        assertEquals(new RequestTotal(8, null, 1, new double[] {5, 5}), total(totals, 8));
        assertEquals(3, totals.records());
        assertEquals(0, totals.recordsNotKept());
    }

    @Test
    void theRequestsOfSmallestMixedHashAreKeptWithAllTheirRecordsAndTheOthersCounted() {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, 5);
        for (int round = 0; round < 3; round++) {
            for (long request = 0; request < 40; request++) {
                totals.add(request, null, 2, new double[] {request, 1});
            }
        }
        long[] expected = LongStream.range(0, 40)
                .boxed()
                .sorted((a, b) -> Long.compare(SplitMix.mix(a), SplitMix.mix(b)))
                .limit(5)
                .mapToLong(Long::longValue)
                .toArray();
        assertEquals(
                Arrays.stream(expected)
                        .mapToObj(request -> new RequestTotal(request, null, 6, new double[] {3 * request, 3}))
                        .toList(),
                totals.totals());
        assertEquals(120, totals.records());
        assertEquals(105, totals.recordsNotKept());
    }

    @Test
    void aRequestThatIsNotKeptNeedsNoSum() {
        RequestTotals asked = RequestTotals.ofCapacity(PAIR, 3);
        RequestTotals added = RequestTotals.ofCapacity(PAIR, 3);
        for (long record = 0; record < 100; record++) {
            double[] sum = {record, 1};
            added.add(record % 30, null, 1, sum);
            if (asked.keeps(record % 30)) {
                asked.add(record % 30, null, 1, sum);
            } else {
                asked.addNotKept();
            }
        }
        assertEquals(added.totals(), asked.totals());
        assertEquals(added.recordsNotKept(), asked.recordsNotKept());
    }

    /** Tests either order: so a capacity may be changed while totals are stored. */
    @Test
    void theSmallerOfTwoCapacitiesHoldsFromThenOn() {
        RequestTotals whole = filled(3, 0, 40);
        RequestTotals wide = filled(20, 0, 25).merge(filled(3, 25, 40));
        RequestTotals narrow = filled(3, 0, 25).merge(filled(20, 25, 40));
        assertEquals(3, wide.capacity());
        assertEquals(whole.totals(), wide.totals());
        assertEquals(whole.totals(), narrow.totals());
        assertEquals(whole.recordsNotKept(), wide.recordsNotKept());
        assertEquals(whole.recordsNotKept(), narrow.recordsNotKept());
        assertThrows(IllegalArgumentException.class, () -> RequestTotals.ofCapacity(PAIR, 0));
    }

    /** Tests producers that send fewer requests than are kept: the smallest limit holds, in any order of merging. */
    @Test
    void requestsAboveTheSmallestLimitOfMomentsAreLeftOutAndTheOthersAreWhole() {
        RequestProjection projection = RequestProjection.of(new Matrix(2, 1, new double[] {1, 2}));
        RequestTotals whole = RequestTotals.ofCapacity(PAIR, 100);
        List<RequestTotals> parts = new ArrayList<>();
        for (int producer = 0; producer < 3; producer++) {
            int most = List.of(4, 9, 40).get(producer);
            parts.add(RequestTotals.of(projection, 100, moment(whole, producer, most)));
        }
        RequestTotals forwards = RequestTotals.ofCapacity(PAIR, 100);
        parts.forEach(forwards::merge);
        RequestTotals backwards = RequestTotals.ofCapacity(PAIR, 100);
        parts.get(2).encode(200).forEach(part -> backwards.merge(RequestTotals.decode(part)));
        parts.get(1).encode(200).forEach(part -> backwards.merge(RequestTotals.decode(part)));
        backwards.merge(parts.get(0));
        assertEquals(forwards.totals(), backwards.totals());
        assertEquals(whole.totals().subList(0, forwards.size()), forwards.totals());
        assertTrue(forwards.size() >= 4 && forwards.size() < 40, forwards.size() + " requests");
        assertEquals(whole.records(), forwards.records());
        assertEquals(whole.records(), backwards.records());
        long above = LongStream.range(0, 1_000)
                .filter(request -> !forwards.keeps(request))
                .findFirst()
                .orElseThrow();
        forwards.add(above, null, 1, new double[2]);
        assertEquals(backwards.totals(), forwards.totals(), "though there is room");
    }

    /** Returns a moment of some rows of 40 requests, and adds the same rows. */
    private static MomentRecord moment(RequestTotals whole, int producer, int most) {
        List<byte[]> records = new ArrayList<>();
        try (MomentAccumulator accumulator = MomentAccumulator.of(
                new MomentAccumulator.Settings(1, null, RowMask.NONE, 1_000, 0, 4, DType.F32, Long.MAX_VALUE, most),
                (time, value, headers) -> records.add(value))) {
            for (int row = 0; row < 200; row++) {
                String name = "request " + (row + 7 * producer) % 40;
                accumulator.add(new ActivationBatch(new Matrix(1, 1, new double[] {row}), null, null), name, 0);
                whole.add(RowSample.requestHash(name), name, 1, new double[] {row, 2 * row});
            }
        }
        MomentRecord record = (MomentRecord) ActivationRecord.parse(records.get(0), new KnownHeaders());
        assertEquals(most, record.totals().size());
        return record;
    }

    @Test
    void totalsUnderAnotherProjectionAreRefusedAndNothingAdded() {
        RequestTotals totals = filled(8, 0, 4);
        List<RequestTotal> before = totals.totals();
        RequestTotals other = RequestTotals.ofCapacity(new RequestProjection.Id(PAIR.hash() + 1, 2), 2);
        other.add(77, null, 1, new double[] {1, 1});
        assertThrows(IllegalArgumentException.class, () -> totals.merge(other));
        assertEquals(before, totals.totals());
        assertEquals(8, totals.capacity());
    }

    @Test
    void rowsAndSumsThatDoNotFitAreRefused() {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, 4);
        assertThrows(IllegalArgumentException.class, () -> totals.add(1, null, 0, new double[2]));
        assertThrows(IllegalArgumentException.class, () -> totals.add(1, null, 1, new double[3]));
        assertEquals(0, totals.records());
    }

    @Test
    void aNameIsCutButNotThroughACharacter() {
        assertEquals("x".repeat(64), RequestName.shortened("x".repeat(70)));
        assertEquals("x".repeat(64), RequestName.shortened("x".repeat(64)));
        assertEquals("x".repeat(63), RequestName.shortened("x".repeat(63) + "\uD83D\uDE00"));
    }

    /** Two requests of one hash do not happen; should they, the order in which they are merged must not show. */
    @Test
    void ofTwoNamesTheSmallerOneIsKeptInAnyOrder() {
        for (List<String> names : List.of(List.of("a", "b"), List.of("b", "a"))) {
            RequestTotals totals = RequestTotals.ofCapacity(PAIR, 2);
            totals.add(1, null, 1, new double[2]);
            names.forEach(name -> totals.add(1, name, 1, new double[2]));
            assertEquals("a", total(totals, 1).name());
        }
    }

    @Test
    void totalsTravelInPartsBitForBit() {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, 30);
        for (long request = 0; request < 50; request++) {
            totals.add(
                    request, request % 3 == 0 ? null : "Anfrage ü " + request, 2, new double[] {request / 3.0, -1e-300
                    });
        }
        List<byte[]> parts = totals.encode(300);
        assertTrue(parts.size() > 3 && parts.stream().allMatch(part -> part.length <= 300), parts.size() + " parts");
        RequestTotals read = RequestTotals.decode(parts.get(0));
        parts.subList(1, parts.size()).forEach(part -> read.merge(RequestTotals.decode(part)));
        assertEquals(totals.totals(), read.totals());
        assertEquals(20, read.recordsNotKept());
        assertEquals(30, read.capacity());
        assertEquals(PAIR, read.projection());
        assertEquals(totals.bytes(), read.bytes());
    }

    @Test
    void theLongestNamesTravel() {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, 3);
        totals.add(1, "€".repeat(64), 1, new double[2]);
        totals.add(2, "", 1, new double[2]);
        assertEquals(
                totals.totals(),
                RequestTotals.decode(totals.encode(1_000).get(0)).totals());
        assertThrows(IllegalArgumentException.class, () -> totals.encode(100));
    }

    @Test
    void emptyTotalsHaveNoPartsAndRecordsThatAreNotKeptHaveOne() {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, 3);
        assertEquals(List.of(), totals.encode(1_000));
        totals.addNotKept();
        assertEquals(1, RequestTotals.decode(totals.encode(1_000).get(0)).recordsNotKept());
    }

    @Test
    void everyLengthButTheRightOneIsRefused() {
        byte[] whole = part();
        for (int length = 0; length < whole.length; length++) {
            assertRefused(Arrays.copyOf(whole, length));
        }
        assertRefused(Arrays.copyOf(whole, whole.length + 1));
        assertEquals(2, RequestTotals.decode(whole).size());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1, 3, 1_000_000, Integer.MAX_VALUE})
    void anotherNumberOfRequestsIsRefusedBeforeAnythingIsAllocated(int requests) {
        assertRefused(changed(buffer -> buffer.putInt(13, Integer.MAX_VALUE).putInt(33, requests)));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1, 3, 1_025, Integer.MAX_VALUE})
    void anotherNumberOfComponentsIsRefused(int components) {
        assertRefused(changed(buffer -> buffer.putInt(9, components)));
    }

    @Test
    void whatNoSenderWritesIsRefused() {
        assertRefused(changed(buffer -> buffer.put(0, (byte) 2)));
        assertRefused(changed(buffer -> buffer.putInt(13, 1))); // fewer than there are
        assertRefused(changed(buffer -> buffer.putLong(17, -1)));
        assertRefused(changed(buffer -> buffer.putLong(17, Long.MAX_VALUE)));
        assertRefused(changed(buffer -> buffer.putLong(25, Math.min(SplitMix.mix(1), SplitMix.mix(2)))));
        assertRefused(changed(buffer -> buffer.putLong(HEADER_BYTES + 8, 0))); // records
        assertRefused(changed(buffer -> buffer.putLong(HEADER_BYTES + 8, 3))); // more than rows
        assertRefused(changed(buffer -> buffer.putLong(HEADER_BYTES + 16, RequestTotals.MOST + 1))); // rows
        assertRefused(changed(buffer -> buffer.put(HEADER_BYTES + 25, (byte) 0xFF))); // of the name
        assertRefused(changed(buffer -> buffer.putDouble(HEADER_BYTES + 26, Double.NaN)));
        assertRefused(changed(buffer -> buffer.putDouble(HEADER_BYTES + 26, 1e201)));
        // The second request once more in the place of the first: not ascending.
        byte[] twice = part();
        int entry = (twice.length - HEADER_BYTES) / 2;
        System.arraycopy(twice, HEADER_BYTES + entry, twice, HEADER_BYTES, entry);
        assertRefused(twice);
    }

    @Test
    void aNameThatIsTooLongIsRefused() {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, 2);
        totals.add(1, "x".repeat(65), 1, new double[2]);
        assertRefused(totals.encode(1_000).get(0));
    }

    @Test
    void equalTotalsAreEqualByContent() {
        RequestTotal total = new RequestTotal(1, "a", 2, new double[] {1, 2});
        assertEquals(new RequestTotal(1, "a", 2, new double[] {1, 2}).hashCode(), total.hashCode());
        assertNotEquals(total, new RequestTotal(2, "a", 2, new double[] {1, 2}));
        assertNotEquals(total, new RequestTotal(1, null, 2, new double[] {1, 2}));
        assertNotEquals(new RequestTotal(1, null, 2, new double[] {1, 2}), total);
        assertNotEquals(total, new RequestTotal(1, "a", 3, new double[] {1, 2}));
        assertNotEquals(total, new RequestTotal(1, "a", 2, new double[] {1, 3}));
        assertFalse(total.toString().isEmpty());
    }

    private static RequestTotals filled(int capacity, long from, long to) {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, capacity);
        for (long request = from; request < to; request++) {
            totals.add(request, null, 1, new double[] {request, 1});
        }
        return totals;
    }

    private static RequestTotal total(RequestTotals totals, long request) {
        return totals.totals().stream()
                .filter(total -> total.request() == request)
                .findFirst()
                .orElseThrow();
    }

    /** Two requests of one row each, with names of one byte. */
    private static byte[] part() {
        RequestTotals totals = RequestTotals.ofCapacity(PAIR, 2);
        totals.add(1, "a", 2, new double[] {1, 2});
        totals.add(2, "b", 2, new double[] {3, 4});
        return totals.encode(1_000).get(0);
    }

    private static byte[] changed(Consumer<ByteBuffer> change) {
        byte[] part = part();
        change.accept(ByteBuffer.wrap(part).order(ByteOrder.LITTLE_ENDIAN));
        return part;
    }

    private static void assertRefused(byte[] part) {
        assertThrows(IllegalArgumentException.class, () -> RequestTotals.decode(part));
    }
}
