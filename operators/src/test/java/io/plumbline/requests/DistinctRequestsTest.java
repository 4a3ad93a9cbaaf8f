package io.plumbline.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of 100 rows in dimension 48, whose rows share a tenth of their variance. */
class DistinctRequestsTest {

    private static final int WIDTH = 48;
    private static final int LENGTH = 100;
    private static final CleanRequests CLEAN =
            CleanRequests.of(new Window(1).different(20, 0).rows(1.0));

    @Test
    void requestsOfTheirOwnStayAsTheyAre() {
        List<SampledRow> rows = new Window(2).different(40, 0).rows(1.0);
        DistinctRequests found = among(rows, 1.0);
        assertEquals(rows, found.rows());
        assertEquals(40, found.requests());
        assertEquals(0, found.repeats());
        assertNull(found.refusal());
        assertEquals("40 distinct requests", found.count());
    }

    @ParameterizedTest
    @CsvSource({"1.0", "0.5", "0.2", "0.1"})
    void onePromptSentTwentyTimesIsOneRequest(double rate) {
        DistinctRequests found = among(new Window(3).copies(20, 0.0).rows(rate), rate);
        // At a tenth some of the copies share no sampled row with any other.
        assertTrue(found.requests() <= (rate > 0.1 ? 1 : 3), found.count());
        assertEquals(20, found.requests() + found.repeats());
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.01, 0.1})
    void copiesAmongOthersCountOnceAlsoWhereTheyDifferByRounding(double noise) {
        List<SampledRow> rows = new Window(4).different(8, 0).copies(12, noise).rows(1.0);
        DistinctRequests found = among(rows, 1.0);
        assertEquals("9 distinct requests (11 more are copies of others)", found.count());
        Map<Long, Long> sizes = found.rows().stream()
                .collect(Collectors.groupingBy(SampledRow::request, TreeMap::new, Collectors.counting()));
        sizes.forEach((request, size) -> assertEquals(LENGTH, size, "rows of request " + request));
    }

    @ParameterizedTest
    @ValueSource(doubles = {1.0, 0.5, 0.2})
    void threePromptsSixTimesEachAreThree(double rate) {
        Window window = new Window(5);
        for (int prompt = 0; prompt < 3; prompt++) {
            window.copies(6, 0.0);
        }
        assertEquals(3, among(window.rows(rate), rate).requests());
    }

    /** Tests a system prompt of 60 of 100 tokens; at the smaller rate 8 rows a request. */
    @ParameterizedTest
    @CsvSource({"40, 1.0", "300, 0.08"})
    void aCommonOpeningMakesNoCopies(int requests, double rate) {
        DistinctRequests found = among(new Window(6).different(requests, 60).rows(rate), rate);
        assertTrue(found.requests() > 0.9 * requests, found.count());
        Map<List<Float>, Long> contents = found.rows().stream()
                .collect(Collectors.groupingBy(
                        row -> List.of(row.activation()[0], row.activation()[1]), Collectors.counting()));
        contents.values().forEach(times -> assertEquals(1, times, "a row counts once"));
    }

    @Test
    void copiesBehindACommonOpeningAreFoundToo() {
        List<SampledRow> rows =
                new Window(7).opening(60).different(8, 60).copies(12, 0.0).rows(1.0);
        assertEquals(9, among(rows, 1.0).requests());
    }

    @Test
    void ofCopiesAKnownRequestStays() {
        List<SampledRow> rows = new Window(8).different(20, 0).copies(3, 0.0).rows(1.0);
        long last = rows.stream().mapToLong(SampledRow::timestampMs).max().orElseThrow();
        long known = rows.stream()
                .filter(row -> row.timestampMs() == last)
                .findAny()
                .orElseThrow()
                .request();
        DistinctRequests found = DistinctRequests.among(rows, 1.0, CLEAN, Set.of(known));
        assertEquals(21, found.requests());
        assertTrue(found.rows().stream().anyMatch(row -> row.request() == known));
        assertTrue(among(rows, 1.0).rows().stream().noneMatch(row -> row.request() == known));
    }

    @Test
    void rowsDealtOutAnewAreMixed() {
        List<SampledRow> rows = new Window(9).different(30, 0).rows(1.0);
        List<Long> names = rows.stream().map(SampledRow::request).collect(Collectors.toList());
        Collections.shuffle(names, new Random(9));
        List<SampledRow> mixed = new ArrayList<>();
        for (int row = 0; row < names.size(); row++) {
            SampledRow one = rows.get(row);
            mixed.add(new SampledRow(one.hash(), names.get(row), names.get(row), one.activation(), null));
        }
        assertNotNull(among(mixed, 1.0).refusal());
        assertNull(
                DistinctRequests.among(mixed, 1.0, CleanRequests.UNKNOWN, Set.of())
                        .refusal(),
                "nothing to compare with");
        assertNull(among(rows, 1.0).refusal());
    }

    @Test
    void theResultIsThatOfTheRowsInAnyOrder() {
        List<SampledRow> rows = new Window(10).different(9, 0).copies(7, 0.0).rows(0.4);
        List<SampledRow> other = new ArrayList<>(rows);
        Collections.reverse(other);
        assertEquals(hashes(among(rows, 0.4)), hashes(among(other, 0.4)));
    }

    /** Tests coordinates with a standard deviation of 1.05. */
    @ParameterizedTest
    @CsvSource({"0.15, 1.0", "0.2, 1.0", "0.24, 1.0", "0.2, 0.5", "0.2, 0.2"})
    void nearCopiesOfThreePromptsAreThree(double moved, double rate) {
        Window window = new Window(11);
        for (int prompt = 0; prompt < 3; prompt++) {
            window.copies(12, moved);
        }
        List<SampledRow> rows = window.rows(rate);
        DistinctRequests found = DistinctRequests.forRefit(rows, rate, CLEAN, Set.of());
        assertEquals(3, found.requests(), found.count());
        assertEquals(36, found.requests() + found.repeats() + found.linked());
    }

    /** Tests a word that moves all rows after it by more than a row may be from its copy. */
    @ParameterizedTest
    @CsvSource({"0.3, 1.0", "0.6, 1.0", "0.6, 0.5", "0.3, 0.3"})
    void copiesWhoseRowsMoveAlikeAreOne(double moved, double rate) {
        Window window = new Window(17);
        window.different(20, 0).moved(12, 30, moved);
        DistinctRequests found = DistinctRequests.forRefit(window.rows(rate), rate, CLEAN, Set.of());
        assertEquals(21, found.requests(), found.count());
    }

    /** Tests requests of one sampled row each, which are nothing less their own mean. */
    @Test
    void requestsOfFewRowsAreNotComparedLessTheirMeans() {
        List<SampledRow> rows = new Window(18).different(40, 0).rows(1.0);
        List<SampledRow> one = rows.stream()
                .collect(Collectors.groupingBy(SampledRow::request, TreeMap::new, Collectors.toList()))
                .values()
                .stream()
                .map(request -> request.get(0))
                .toList();
        assertEquals(40, DistinctRequests.forRefit(one, 0.01, CLEAN, Set.of()).requests());
    }

    /** Tests templates with one half filled in anew. */
    @Test
    void requestsThatShareHalfOfTheirRowsAreLinked() {
        Window window = new Window(12);
        window.different(20, 0).opening(52).templates(10, 52, 0.2);
        DistinctRequests found = DistinctRequests.forRefit(window.rows(1.0), 1.0, CLEAN, Set.of());
        assertEquals("21 distinct requests (9 more are near copies)", found.count());
    }

    @ParameterizedTest
    @ValueSource(doubles = {1.0, 0.5, 0.2, 0.1})
    void otherRequestsAreNotLinked(double rate) {
        List<SampledRow> rows = new Window(13).different(40, 0).rows(rate);
        DistinctRequests found = DistinctRequests.forRefit(rows, rate, CLEAN, Set.of());
        assertEquals("40 distinct requests", found.count());
        assertEquals(rows, found.rows());
    }

    @Test
    void linkedRequestsHaveTheNameOfAKnownOne() {
        List<SampledRow> rows = new Window(14).different(20, 0).copies(12, 0.2).rows(1.0);
        long known = rows.stream()
                .filter(row -> row.timestampMs() > 20)
                .mapToLong(SampledRow::request)
                .max()
                .orElseThrow();
        DistinctRequests found = DistinctRequests.forRefit(rows, 1.0, CLEAN, Set.of(known));
        assertEquals(21, found.requests());
        assertTrue(found.rows().stream().filter(row -> row.request() == known).count() > 10 * LENGTH);
    }

    @Test
    void longRowsTakeNoPart() {
        List<SampledRow> rows = new ArrayList<>(new Window(15).different(20, 0).rows(1.0));
        List<SampledRow> usual = List.copyOf(rows.subList(20, rows.size()));
        for (int row = 0; row < 20; row++) {
            float[] values = rows.get(row).activation();
            for (int j = 0; j < WIDTH; j++) {
                values[j] *= 300.0f;
            }
        }
        DistinctRequests found = DistinctRequests.forRefit(rows, 1.0, CLEAN, Set.of());
        assertEquals(usual, found.rows());
        assertNull(found.refusal());
    }

    @Test
    void rowsThatOneDirectionDominatesAreRefused() {
        List<SampledRow> rows = new Window(16).different(20, 0).rows(1.0);
        for (int row = 0; row < rows.size(); row++) {
            // A mean is not energy about it.
            rows.get(row).activation()[1] += 20.0f;
        }
        assertNull(DistinctRequests.forRefit(rows, 1.0, CLEAN, Set.of()).refusal());
        for (int row = 0; row < rows.size(); row += 5) {
            rows.get(row).activation()[0] += 30.0f;
        }
        String refusal = DistinctRequests.forRefit(rows, 1.0, CLEAN, Set.of()).refusal();
        assertTrue(String.valueOf(refusal).startsWith("one direction holds 7"), refusal);
    }

    @Test
    void nothingIsDistinctInNothing() {
        assertEquals(0, among(List.of(), 1.0).requests());
        assertThrows(IllegalArgumentException.class, () -> among(List.of(), 0.0));
        assertThrows(IllegalArgumentException.class, () -> among(List.of(), 1.5));
    }

    @ParameterizedTest
    @ValueSource(doubles = {1.0, 0.5})
    void aRetryStormIsCountedWhetherRequestsComeUnderNamesOfTheirOwnOrNot(double rate) {
        RepeatedTraffic usual =
                RepeatedTraffic.of(new Window(11).different(12, 20).rows(rate), rate);
        assertEquals(new RepeatedTraffic(12, 0, 1.0), usual);
        assertFalse(usual.isStorm());
        Window storm = new Window(12);
        for (int i = 0; i < 6; i++) {
            storm.copies(4, 1e-4);
        }
        RepeatedTraffic copies = RepeatedTraffic.of(storm.rows(rate), rate);
        assertEquals(24, copies.requests());
        assertEquals(18, copies.copies());
        assertTrue(copies.isStorm());
        List<SampledRow> again = storm.rows(rate).stream()
                .map(row -> new SampledRow(
                        row.hash(), RowSample.requestHash("r" + row.timestampMs() / 4), 0, row.activation(), null))
                .toList();
        RepeatedTraffic sameName = RepeatedTraffic.of(again, rate);
        assertEquals(0, sameName.copies());
        assertEquals(4.0, sameName.times(), 0.2);
        assertTrue(sameName.isStorm());
    }

    private static Set<Long> hashes(DistinctRequests found) {
        return found.rows().stream().map(SampledRow::hash).collect(Collectors.toSet());
    }

    private static DistinctRequests among(List<SampledRow> rows, double rate) {
        return DistinctRequests.among(rows, rate, CLEAN, Set.of());
    }

    /** Requests one after another, a millisecond each. */
    private static final class Window {

        private final Random random;
        private final List<SampledRow> rows = new ArrayList<>();
        private List<float[]> opening = List.of();
        private int requests;

        Window(long seed) {
            random = new Random(seed);
        }

        /** Sets what all requests begin with from here on. */
        Window opening(int length) {
            opening = text(length);
            return this;
        }

        Window different(int count, int common) {
            if (opening.size() < common) {
                opening(common);
            }
            for (int i = 0; i < count; i++) {
                List<float[]> text = new ArrayList<>(opening);
                text.addAll(text(LENGTH - text.size()));
                request(text, 0.0);
            }
            return this;
        }

        Window copies(int count, double noise) {
            List<float[]> text = new ArrayList<>(opening);
            text.addAll(text(LENGTH - text.size()));
            for (int i = 0; i < count; i++) {
                request(text, noise);
            }
            return this;
        }

        /** Adds copies whose rows behind the first ones are all moved alike, by a move of each copy's own. */
        Window moved(int count, int first, double moved) {
            List<float[]> text = text(LENGTH);
            for (int i = 0; i < count; i++) {
                double[] move = random.doubles(WIDTH)
                        .map(any -> moved * random.nextGaussian())
                        .toArray();
                List<float[]> copy = new ArrayList<>(text.subList(0, first));
                for (float[] row : text.subList(first, LENGTH)) {
                    float[] values = row.clone();
                    for (int j = 0; j < WIDTH; j++) {
                        values[j] += (float) move[j];
                    }
                    copy.add(values);
                }
                request(copy, 0.0);
            }
            return this;
        }

        /** Adds requests whose opening is moved at random and whose other rows are their own. */
        Window templates(int count, int common, double noise) {
            for (int i = 0; i < count; i++) {
                List<float[]> text = new ArrayList<>();
                for (float[] row : opening.subList(0, common)) {
                    float[] values = row.clone();
                    for (int j = 0; j < WIDTH; j++) {
                        values[j] += (float) (noise * random.nextGaussian());
                    }
                    text.add(values);
                }
                text.addAll(text(LENGTH - common));
                request(text, 0.0);
            }
            return this;
        }

        private List<float[]> text(int length) {
            double[] subject = random.doubles(WIDTH, -0.55, 0.55).toArray();
            List<float[]> text = new ArrayList<>();
            for (int token = 0; token < length; token++) {
                float[] values = new float[WIDTH];
                for (int j = 0; j < WIDTH; j++) {
                    values[j] = (float) (subject[j] + random.nextGaussian());
                }
                text.add(values);
            }
            return text;
        }

        private void request(List<float[]> text, double noise) {
            for (int token = 0; token < text.size(); token++) {
                float[] values = text.get(token).clone();
                for (int j = 0; j < WIDTH; j++) {
                    values[j] += (float) (noise * random.nextGaussian());
                }
                long name = RowSample.requestHash("r" + requests);
                rows.add(new SampledRow(RowSample.hash(requests, token), name, requests, values, null));
            }
            requests++;
        }

        /** Returns the rows of the smallest hashes, as in a sample. */
        List<SampledRow> rows(double rate) {
            return rows.stream()
                    .sorted(Comparator.comparingLong(SampledRow::hash))
                    .limit(Math.round(rate * rows.size()))
                    .toList();
        }
    }
}
