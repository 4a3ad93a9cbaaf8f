package io.plumbline.topology.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the headers of a record say, against the table in docs/use/producers.md. */
class ProducerNotesTest {

    @Test
    void aRecordWithoutHeadersSaysNothing() {
        assertSame(ProducerNotes.NONE, ProducerNotes.of(new RecordHeaders(), 5));
        assertTrue(ProducerNotes.NONE.isEmpty());
    }

    @Test
    void countsAreReadWhereTheTokensServedAreSaid() {
        Coverage coverage = read(5, "tokens_served", "20", "cached", "9", "not_sampled", "4", "dropped", "1")
                .coverage();
        assertEquals(new Coverage(20, 5, 9, 4, 1), coverage);
        assertEquals(0.45, coverage.share(coverage.cached()));
        assertFalse(read(5, "cached", "9", "dropped", "1").coverage().isKnown());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "1.5", "1e3", "9999999999999", "99999999999999999999999", "²", "seven"})
    void whatIsNoCountIsRefusedByName(String text) {
        for (String header : new String[] {"tokens_served", "cached", "not_sampled", "dropped"}) {
            String said = header.equals("tokens_served") ? "100" : "100000";
            String message = assertThrows(
                            IllegalArgumentException.class, () -> read(0, "tokens_served", said, header, text))
                    .getMessage();
            assertTrue(message.contains("the header " + header + " is \"" + text + "\""), message);
        }
    }

    @ParameterizedTest
    @CsvSource({"7, 0, 0, 0", "3, 2, 1, 1", "0, 7, 0, 0", "0, 0, 7, 0", "0, 0, 0, 7"})
    void moreRowsThanTokensAreRefused(int rows, String cached, String notSampled, String dropped) {
        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> read(
                                rows,
                                "tokens_served",
                                "6",
                                "cached",
                                cached,
                                "not_sampled",
                                notSampled,
                                "dropped",
                                dropped))
                .getMessage();
        assertTrue(message.contains("tokens_served = 6, but the record brings " + rows + " rows"), message);
    }

    /** Tests sums that doubling takes beyond a long, in whatever order they are added. */
    @Test
    void tokensBeyondAnyCountAreSummedToTheMost() {
        Coverage most = new Coverage(1L << 40, 0, 1L << 39, 0, 0);
        Coverage sum = most;
        for (int doubling = 0; doubling < 30; doubling++) {
            sum = sum.plus(sum);
        }
        assertEquals(new Coverage(1L << 60, 0, 1L << 60, 0, 0), sum);
        assertEquals(sum, most.plus(sum));
        assertEquals(sum, sum.plus(most));
    }

    /** Tests two records that together count every token once, whether the rows of the second came or not. */
    @Test
    void tokensThatWereAnnouncedAreCountedOnce() {
        Coverage word = read(0, "tokens_served", "30", "cached", "10").coverage();
        Coverage rows = read(25, "tokens_served", "26", "tokens_announced", "20", "dropped", "1")
                .coverage();
        assertEquals(new Coverage(30, 0, 10, 0, 0), word);
        assertEquals(new Coverage(36, 25, 10, 0, 1), word.plus(rows));
        Coverage allAnnounced =
                read(20, "tokens_served", "20", "tokens_announced", "20").coverage();
        assertTrue(allAnnounced.isKnown());
        assertEquals(20.0 / 30.0, word.plus(allAnnounced).share(20));
        String message = assertThrows(
                        IllegalArgumentException.class, () -> read(2, "tokens_served", "6", "tokens_announced", "7"))
                .getMessage();
        assertTrue(message.contains("7 announced before"), message);
    }

    @Test
    void anOriginIsTheHeadersAndTheTags() {
        Origin origin = read(
                        1,
                        "engine",
                        "vllm",
                        "engine_version",
                        " 0.19.1 ",
                        "tags",
                        "tenant=acme, language = de,beta,,=no name,engine=a tag may not stand for a header")
                .origin();
        assertEquals(
                Map.of(
                        "engine", "vllm",
                        "engine_version", "0.19.1",
                        "tenant", "acme",
                        "language", "de",
                        "beta", "true"),
                origin.values());
    }

    @Test
    void longAndUnprintableTextIsCut() {
        Origin origin = read(1, "adapter", "a\u0000b\u202Ec", "engine", "😀".repeat(100), "tags", "n=1,".repeat(1_000))
                .origin();
        assertEquals("a?b?c", origin.value("adapter"));
        assertEquals("😀".repeat(32), origin.value("engine"));
        StringBuilder many = new StringBuilder();
        for (int tag = 0; tag < 50; tag++) {
            many.append("t").append(tag).append("=x,");
        }
        assertEquals(
                Origin.MOST_TAGS,
                read(1, "tags", many.toString()).origin().values().size());
    }

    private static ProducerNotes read(int rows, String... namesAndValues) {
        RecordHeaders headers = new RecordHeaders();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            headers.add(namesAndValues[i], namesAndValues[i + 1].getBytes(StandardCharsets.UTF_8));
        }
        return ProducerNotes.of(headers, rows);
    }
}
