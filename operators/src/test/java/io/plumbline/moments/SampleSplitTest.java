package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SampleSplitTest {

    private static final long MINUTE_MS = 60_000;

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 24, 33, 79, 80, 200, 800})
    void partsAreWholeRequestsThatAreNoNeighboursInTime(int requests) {
        SampleSplit split = SampleSplit.of(rows(requests), 0.25);
        assertTrue(split.judgeIsIndependent());
        assertEquals(requests, split.requests());
        assertEquals(rows(requests).size(), split.all().size());
        assertApart(minutes(split.fit()), minutes(split.choose()));
        assertApart(minutes(split.refit()), minutes(split.judge()));
        assertTrue(minutes(split.refit()).containsAll(minutes(split.fit())));
        assertTrue(minutes(split.refit()).containsAll(minutes(split.choose())));
        double judged = minutes(split.judge()).size() / (double) requests;
        double chosen = minutes(split.choose()).size() / (double) requests;
        if (requests >= 33) {
            assertTrue(judged > 0.2 && judged < 0.27, requests + " requests: " + judged);
        }
        assertTrue(chosen > 0.11 && chosen < 0.27, requests + " requests: " + chosen);
        int guards = requests
                - minutes(split.refit()).size()
                - minutes(split.judge()).size();
        assertTrue(guards <= 0.09 * requests, requests + " requests: " + guards + " guards");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.01, 0.1, 0.25, 0.49})
    void eightRequestsJudgeHoweverSmallTheirShare(double share) {
        for (int requests = SampleSplit.LEAST_REQUESTS; requests < 130; requests++) {
            SampleSplit split = SampleSplit.of(rows(requests), share);
            String what = "%d requests, share %s".formatted(requests, share);
            assertTrue(minutes(split.judge()).size() >= SampleSplit.LEAST_TO_JUDGE, what);
            assertTrue(minutes(split.fit()).size() >= 4, what);
            assertTrue(minutes(split.choose()).size() >= 2, what);
        }
    }

    @Test
    void aLongWindowIsJudgedInSeveralPlaces() {
        Set<Long> judge = minutes(SampleSplit.of(rows(400), 0.25).judge());
        for (int fifth = 0; fifth < 5; fifth++) {
            long from = fifth * 80L;
            assertTrue(judge.stream().anyMatch(minute -> minute >= from && minute < from + 80), "fifth " + fifth);
        }
    }

    @Test
    void rowsToJudgeOnStandInTheOrderOfTheirTimes() {
        List<SampledRow> shuffled = new ArrayList<>(rows(100));
        Collections.shuffle(shuffled, new Random(4));
        List<Long> times = SampleSplit.of(shuffled, 0.25).judge().stream()
                .map(SampledRow::timestampMs)
                .toList();
        assertEquals(times.stream().sorted().toList(), times);
    }

    @Test
    void theSplitIsThatOfTheRowsInAnyOrder() {
        List<SampledRow> rows = rows(40);
        List<SampledRow> other = new ArrayList<>(rows);
        Collections.shuffle(other, new Random(3));
        SampleSplit split = SampleSplit.of(rows, 0.25);
        SampleSplit again = SampleSplit.of(other, 0.25);
        assertEquals(minutes(split.fit()), minutes(again.fit()));
        assertEquals(minutes(split.choose()), minutes(again.choose()));
        assertEquals(minutes(split.judge()), minutes(again.judge()));
    }

    /** Tests pools of two kinds, in blocks, in turn and at random. */
    @ParameterizedTest
    @ValueSource(ints = {40, 41, 100, 230})
    void everyKindIsFittedAndJudged(int requests) {
        Random random = new Random(requests);
        for (int order = 0; order < 3; order++) {
            List<SampledRow> rows = new ArrayList<>();
            boolean[] first = new boolean[requests];
            for (int request = 0; request < requests; request++) {
                first[request] =
                        order == 0 ? request < requests / 2 : order == 1 ? request % 2 == 0 : random.nextBoolean();
                rows.addAll(rowsOf(request, kind(first[request], random)));
            }
            SampleSplit split = SampleSplit.of(rows, 0.25);
            String what = requests + " requests, order " + order;
            for (List<SampledRow> part : List.of(split.fit(), split.judge())) {
                Set<Long> minutes = minutes(part);
                long ofFirst =
                        minutes.stream().filter(at -> first[at.intValue()]).count();
                assertTrue(ofFirst >= 0.15 * minutes.size() && ofFirst <= 0.85 * minutes.size(), what + " " + minutes);
            }
            assertEquals(2, split.kinds(), what);
            assertApart(minutes(split.fit()), minutes(split.choose()));
            assertApart(minutes(split.refit()), minutes(split.judge()));
            assertTrue(minutes(split.judge()).size() > 0.2 * requests, what);
            assertTrue(minutes(split.fit()).size() > 0.2 * requests, what);
        }
    }

    @Test
    void requestsOfOneKindAreCutByTimeAlone() {
        Random random = new Random(5);
        List<SampledRow> rows = new ArrayList<>();
        for (int request = 0; request < 40; request++) {
            rows.addAll(rowsOf(request, kind(true, random)));
        }
        SampleSplit split = SampleSplit.of(rows, 0.25);
        assertEquals(1, split.kinds());
        assertEquals(minutes(SampleSplit.of(rows(40), 0.25).judge()), minutes(split.judge()));
    }

    private static float[] kind(boolean first, Random random) {
        float[] values = new float[16];
        for (int j = 0; j < values.length; j++) {
            values[j] = (float) ((j == 0 ? first ? 4.0 : -4.0 : 10.0) + random.nextGaussian());
        }
        return values;
    }

    @Test
    void tooFewRequestsForThreePartsMakeTwo() {
        assertFalse(SampleSplit.of(rows(15), 0.25).judgeIsIndependent());
        SampleSplit split = SampleSplit.of(rows(11), 0.25);
        assertFalse(split.judgeIsIndependent());
        assertEquals(split.fit(), split.refit());
        assertEquals(8, minutes(split.fit()).size());
        assertEquals(3, minutes(split.judge()).size());
        assertEquals(1, minutes(SampleSplit.of(rows(2), 0.4).judge()).size());
        assertEquals(0, SampleSplit.of(rows(1), 0.4).judge().size());
        assertEquals(0, SampleSplit.of(List.of(), 0.4).fit().size());
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.5, Double.NaN})
    void aShareThatLeavesNothingIsRefused(double share) {
        assertThrows(IllegalArgumentException.class, () -> SampleSplit.of(rows(20), share));
    }

    @Test
    void everyShareLeavesARequestToFitOn() {
        for (int requests = 2; requests < 60; requests++) {
            SampleSplit split = SampleSplit.of(rows(requests), 0.49);
            assertTrue(!split.fit().isEmpty() && !split.judge().isEmpty(), requests + " requests");
        }
    }

    private static void assertApart(Set<Long> some, Set<Long> others) {
        for (long minute : some) {
            for (long near = minute - 1; near <= minute + 1; near++) {
                assertFalse(others.contains(near), "minutes " + minute + " and " + near);
            }
        }
    }

    /** Returns a request a minute, of 3 to 5 rows. */
    private static List<SampledRow> rows(int requests) {
        List<SampledRow> rows = new ArrayList<>();
        for (int request = 0; request < requests; request++) {
            rows.addAll(rowsOf(request, new float[] {1}));
        }
        return rows;
    }

    private static List<SampledRow> rowsOf(int request, float[] values) {
        List<SampledRow> rows = new ArrayList<>();
        for (int row = 0; row < 3 + request % 3; row++) {
            rows.add(new SampledRow(
                    RowSample.hash(request, row),
                    RowSample.requestHash("r" + request),
                    request * MINUTE_MS,
                    values,
                    null));
        }
        return rows;
    }

    private static Set<Long> minutes(List<SampledRow> rows) {
        return rows.stream().map(row -> row.timestampMs() / MINUTE_MS).collect(Collectors.toCollection(TreeSet::new));
    }
}
