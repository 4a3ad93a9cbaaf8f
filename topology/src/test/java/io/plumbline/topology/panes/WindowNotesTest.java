package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.moments.RowSample;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.windows.WindowPipeline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what producers say, on its way through both levels, and the bytes it takes. */
class WindowNotesTest {

    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final Origin ACME = Origin.of(Map.of("tenant", "acme", "engine", "vllm"));
    private static final Origin GLOBEX = Origin.of(Map.of("tenant", "globex", "engine", "vllm"));

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void windowsAddUpWhatProducersSayHoweverTheRecordsAreSpread(int partitions) {
        try (WindowPipeline pipeline = new WindowPipeline(settings(), partitions, folder)) {
            for (int record = 0; record < 90; record++) {
                String tenant = record % 3 == 0 ? "acme" : "globex";
                Map<String, String> said = Map.of(
                        "request", "r" + record, "tags", "tenant=" + tenant, "tokens_served", "10", "cached", "6");
                byte[] rows = ActivationRecords.blob(ActivationRecords.integerRows(record, 2, WindowPipeline.WIDTH));
                pipeline.readWith(said, record % partitions, rows, T0 + 500L * record);
            }
            pipeline.passSeconds(120);
            pipeline.deliverAll();
            // 90 records of 0.5 s in panes of 12 s: the first window has 24 of them.
            WindowNotes notes = pipeline.windows.get(0).notes();
            assertEquals(new Coverage(240, 48, 144, 0, 0), notes.coverage());
            assertEquals(
                    Map.of(
                            Origin.of(Map.of("tenant", "acme")), new WindowNotes.Counts(16, 8),
                            Origin.of(Map.of("tenant", "globex")), new WindowNotes.Counts(32, 16)),
                    notes.origins());
            assertEquals("acme", notes.originOf(request("r3")).value("tenant"));
            assertEquals("globex", notes.originOf(request("r4")).value("tenant"));
            assertEquals(Origin.UNSAID, notes.originOf(request("r60")));
        }
    }

    @Test
    void aRecordWhoseCountsCannotBeIsADeadLetter() {
        try (WindowPipeline pipeline = new WindowPipeline(settings(), 1, folder)) {
            byte[] rows = ActivationRecords.blob(ActivationRecords.integerRows(1, 2, WindowPipeline.WIDTH));
            pipeline.readWith(Map.of("tokens_served", "1"), 0, rows, T0);
            pipeline.readWith(Map.of("tokens_served", "2"), 0, rows, T0);
            assertEquals(List.of(DeadLetter.Reason.MALFORMED), pipeline.refusals);
            assertEquals(2, pipeline.rowsAccepted);
        }
    }

    @Test
    void notesMergeInAnyOrderToTheSameBytes() {
        WindowNotes one = notes(0, 40_000, ACME);
        WindowNotes two = notes(39_000, 50_000, GLOBEX);
        WindowNotes forth = new WindowNotes();
        WindowNotes back = new WindowNotes();
        one.encode().forEach(forth::mergeEncoded);
        two.encode().forEach(forth::mergeEncoded);
        two.encode().forEach(back::mergeEncoded);
        one.encode().forEach(back::mergeEncoded);
        assertEquals(2, one.encode().size(), "40,000 requests do not fit one part");
        assertEquals(forth.coverage(), back.coverage());
        assertEquals(forth.origins(), back.origins());
        assertEquals(new WindowNotes.Counts(40_000, 1), forth.origins().get(ACME));
        for (long request : new long[] {0, 38_999, 39_500, 45_000, 50_001}) {
            assertEquals(forth.originOf(request), back.originOf(request), "request " + request);
        }
        assertEquals(GLOBEX, forth.originOf(45_000));
        for (byte[] part : forth.encode()) {
            assertTrue(part.length <= 512 * 1024, part.length + " bytes");
        }
    }

    @Test
    void whatIsBeyondTheBoundsCountsAsUnsaid() {
        WindowNotes notes = new WindowNotes();
        for (int tenant = 0; tenant < WindowNotes.MOST_ORIGINS + 5; tenant++) {
            notes.add(of(Origin.of(Map.of("tenant", "t" + tenant)), 1), 1, new long[] {tenant});
        }
        assertEquals(WindowNotes.MOST_ORIGINS, notes.origins().size());
        assertEquals(Origin.UNSAID, notes.originOf(WindowNotes.MOST_ORIGINS));
        assertEquals(WindowNotes.MOST_ORIGINS + 5, notes.coverage().served(), "coverage has no bound");
        WindowNotes many = notes(0, WindowNotes.MOST_REQUESTS + 1, ACME);
        assertEquals(ACME, many.originOf(WindowNotes.MOST_REQUESTS - 1));
        assertEquals(Origin.UNSAID, many.originOf(WindowNotes.MOST_REQUESTS));
    }

    @Test
    void bytesThatAreNoNotesAreRefused() {
        byte[] part = notes(0, 3, ACME).encode().get(0);
        for (int length = 0; length < part.length; length++) {
            byte[] cut = Arrays.copyOf(part, length);
            assertThrows(IllegalArgumentException.class, () -> new WindowNotes().mergeEncoded(cut), length + " bytes");
        }
        byte[] other = part.clone();
        other[other.length - 1] = 7;
        assertThrows(IllegalArgumentException.class, () -> new WindowNotes().mergeEncoded(other));
    }

    @Test
    void whoSaysNothingPaysNothing() {
        WindowNotes notes = new WindowNotes();
        notes.add(ProducerNotes.NONE, 5, new long[] {1});
        assertEquals(List.of(), notes.encode());
        assertArrayEquals(new Object[0], notes.origins().keySet().toArray());
    }

    private static WindowNotes notes(int from, int to, Origin origin) {
        WindowNotes notes = new WindowNotes();
        long[] requests = LongStream.range(from, to).toArray();
        notes.add(of(origin, requests.length), requests.length, requests);
        return notes;
    }

    private static ProducerNotes of(Origin origin, int rows) {
        return new ProducerNotes(new Coverage(rows, rows, 0, 0, 0), origin);
    }

    private static long request(String name) {
        return RowSample.requestHash(name);
    }

    private static WindowSettings settings() {
        return new WindowSettings(
                Duration.ofSeconds(12), Duration.ofSeconds(12), Duration.ofSeconds(1), Duration.ofSeconds(30), null);
    }
}
