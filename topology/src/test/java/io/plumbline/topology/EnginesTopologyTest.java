package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that two engines of one site are compared in each window, on requests that both served. */
class EnginesTopologyTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;

    @TempDir
    private Path folder;

    /** A record of one engine. */
    private record Sent(String engine, String request, Matrix rows, long timeMs) {
        static Sent of(String engine, int request, Matrix rows) {
            return new Sent(engine, "request-" + request, rows, T0 + request * 100L + (engine.equals("bf16") ? 0 : 1));
        }

        byte[] value() {
            return SafetensorsWriter.create()
                    .add("activations", DType.F32, rows)
                    .addLongs("token_ids", ids())
                    .toBytes();
        }

        private long[] ids() {
            long[] ids = new long[rows.rows()];
            Arrays.setAll(ids, i -> i);
            return ids;
        }
    }

    /** Returns the report of a window with these records. */
    private JsonNode report(String by, Iterable<Sent> sent) throws IOException {
        MonitorConfig config = FiringFolder.create(folder, "unused:9092", "{}\n      breakdown_by: " + by);
        try (Streaming stream = Streaming.monitor(config, folder.resolve("state"), new DriftListener() {})) {
            sent.forEach(one -> stream.send(
                    config.topics().activations(),
                    WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    one.value(),
                    headers(one),
                    one.timeMs()));
            stream.send(
                    config.topics().activations(),
                    WatchedFolder.SITE,
                    ActivationRecords.blob(WatchedFolder.quiet(1)),
                    T0 + WINDOW_MS);
            return new ObjectMapper()
                    .readTree(
                            stream.read(config.topics().windowReports()).get(0).value());
        }
    }

    private static Headers headers(Sent sent) {
        return new RecordHeaders()
                .add("request", sent.request().getBytes(StandardCharsets.UTF_8))
                .add("quantization", sent.engine().getBytes(StandardCharsets.UTF_8));
    }

    /** Returns quiet rows as a bad engine has them: with energy that the decoder misses, and one dimension twice. */
    private static Matrix damaged(int request) {
        Matrix rows = WatchedFolder.quiet(request).plus(0.6, WatchedFolder.drifted(request));
        for (int i = 0; i < rows.rows(); i++) {
            rows.set(i, 0, rows.get(i, 1));
        }
        return rows;
    }

    /** Returns requests that both engines served, and one more of the first. */
    private static List<Sent> both(IntFunction<Matrix> other) {
        List<Sent> sent = new ArrayList<>();
        for (int request = 0; request < 24; request++) {
            sent.add(Sent.of("bf16", request, WatchedFolder.quiet(request)));
            sent.add(Sent.of("int4", request, other.apply(request)));
        }
        sent.add(Sent.of("bf16", 24, WatchedFolder.quiet(24)));
        return sent;
    }

    @Test
    void twoEnginesAreComparedOnTheRequestsThatBothServed() throws IOException {
        JsonNode engines =
                report("quantization", both(EnginesTopologyTest::damaged)).get("engines");
        assertEquals("quantization", engines.get("by").asText());
        assertEquals(24, engines.get("shared").asInt(), engines.toString());
        assertEquals("bf16", engines.at("/engines/0/value").asText());
        assertEquals(25L * WatchedFolder.ROWS, engines.at("/engines/0/rows").asLong());
        assertEquals("int4", engines.at("/engines/1/value").asText());
        assertEquals(24, engines.at("/engines/1/records").asInt());
        JsonNode comparison = engines.get("comparison");
        assertTrue(comparison.get("unpaired").isNull(), engines.toString());
        assertEquals(24L * WatchedFolder.ROWS, comparison.at("/rows/1").asLong());
        assertTrue(comparison.at("/figures/fvu_rise/low").asDouble() > 0.0, engines.toString());
        assertTrue(comparison.at("/figures/survival/value").asDouble() < 1.0, engines.toString());
        assertTrue(comparison.at("/figures/row_cosine/value").asDouble() < 1.0, engines.toString());
        assertFalse(comparison.get("figures").has("gap"), engines.toString());
    }

    @Test
    void enginesOfTheSameRowsDifferInNothing() throws IOException {
        JsonNode comparison = report("quantization", both(WatchedFolder::quiet))
                .get("engines")
                .get("comparison");
        assertTrue(comparison.get("identical").asBoolean(), comparison.toString());
        assertEquals(0.0, comparison.at("/figures/fvu_rise/value").asDouble());
        assertEquals(1.0, comparison.at("/figures/survival/low").asDouble());
        assertEquals(0, comparison.get("causes").size(), comparison.toString());
    }

    @Test
    void enginesOfDifferentRequestsAreComparedWithoutPairsAndItIsSaid() throws IOException {
        List<Sent> sent = new ArrayList<>();
        for (int request = 0; request < 24; request++) {
            sent.add(
                    request < 14
                            ? Sent.of("bf16", request, WatchedFolder.quiet(request))
                            : Sent.of("int4", request, damaged(request)));
        }
        JsonNode engines = report("quantization", sent).get("engines");
        assertEquals(0, engines.get("shared").asInt());
        assertEquals(
                "no request was served by both engines",
                engines.at("/comparison/unpaired").asText());
        assertEquals(14, engines.at("/comparison/requests/0").asInt());
        assertEquals(10, engines.at("/comparison/requests/1").asInt());
        assertTrue(engines.at("/comparison/figures/fvu_rise/low").asDouble() > 0.0, engines.toString());
        assertFalse(engines.at("/comparison/figures").has("row_cosine"));
    }

    @Test
    void aSharedRequestWhoseLengthDiffersIsNoPair() throws IOException {
        List<Sent> sent = both(EnginesTopologyTest::damaged);
        Sent shorter = sent.get(1);
        sent.set(1, new Sent("int4", shorter.request(), shorter.rows().rowRange(0, 5), shorter.timeMs()));
        JsonNode engines = report("quantization", sent).get("engines");
        assertEquals(24, engines.get("shared").asInt());
        assertEquals(23, engines.at("/comparison/requests/0").asInt(), engines.toString());
    }

    @Test
    void oneEngineIsNotCompared() throws IOException {
        List<Sent> one = both(EnginesTopologyTest::damaged).stream()
                .filter(sent -> sent.engine().equals("bf16"))
                .toList();
        assertTrue(report("quantization", one).get("engines").isNull());
    }

    @Test
    void aBreakdownByWhatIsNoEngineComparesNone() throws IOException {
        assertTrue(report("tenant", both(EnginesTopologyTest::damaged))
                .get("engines")
                .isNull());
    }
}
