package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.records.MomentTile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.function.LongFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;

/** Tests records that a monitor does not expect: thin, huge, foreign, and of impossible times. */
class MonitorTopologyInputTest extends MonitoredStream {

    private static final byte TILE = 1;
    private static final byte SAMPLE_PART = 2;

    @Test
    void tooFewRowsAreUndecidedAndChangeNothing() {
        record(QUIET, T0, 1);
        send(T0 + WINDOW_MS, DRIFTED, DRIFTED);
        assertEquals(List.of("undecided", "drifted"), texts(reports(), "verdict"));
    }

    @Test
    void theLargestValuesThatAreTakenDoNotStopTheStream() {
        LongFunction<Matrix> huge = seed -> {
            Matrix rows = WatchedFolder.quiet(seed);
            for (int i = 0; i < rows.values().length; i++) {
                rows.values()[i] = Math.signum(rows.values()[i]) * Float.MAX_VALUE;
            }
            return rows;
        };
        send(QUIET, huge, QUIET, QUIET);
        List<JsonNode> reports = reports();
        assertEquals(3, reports.size());
        assertFalse(
                reports.get(1).toString().contains("\"NaN\""), reports.get(1).toString());
        assertEquals("aligned", reports.get(2).get("verdict").asText());
    }

    @Test
    void foreignRecordsOnTheMomentsTopicAreCountedAndSkipped() {
        String moments = config.topics().moments();
        List<MomentTile> other = MomentTile.cut(9, 5, new double[MomentTile.stateLength(9)]);
        stream.send(moments, (byte[]) null, new byte[] {1}, T0);
        stream.send(moments, WatchedFolder.SITE, null, T0);
        stream.send(moments, WatchedFolder.SITE, new byte[0], T0);
        stream.send(moments, WatchedFolder.SITE, "not a pane message".getBytes(StandardCharsets.UTF_8), T0);
        stream.send(moments, "another", new byte[] {1}, T0);
        stream.send(moments, WatchedFolder.SITE, tile(T0, other.get(0)), T0);
        List<MomentTile> ours =
                MomentTile.cut(WatchedFolder.WIDTH, 5, new double[MomentTile.stateLength(WatchedFolder.WIDTH)]);
        stream.send(moments, WatchedFolder.SITE, tile(T0 + 1, ours.get(0)), T0);
        stream.send(moments, WatchedFolder.SITE, tile(Long.MAX_VALUE, ours.get(0)), T0);
        stream.send(moments, WatchedFolder.SITE, samplePart(T0), T0);
        assertEquals(9, watcher.foreign);
        send(QUIET, QUIET);
        assertEquals(
                WatchedFolder.ROWS * WatchedFolder.RECORDS,
                reports().get(0).get("rows").asInt());
    }

    /** The head of a message that this application could have written, from source partition 0. */
    private static ByteBuffer ours(byte kind, int bodyBytes) {
        UUID application = UUID.nameUUIDFromBytes("small-monitor".getBytes(StandardCharsets.UTF_8));
        return ByteBuffer.allocate(14 + bodyBytes)
                .put((byte) 2)
                .put(kind)
                .putLong(application.getMostSignificantBits())
                .putInt(0);
    }

    private static byte[] tile(long paneStartMs, MomentTile tile) {
        byte[] body = tile.encode();
        return ours(TILE, 24 + body.length)
                .putLong(paneStartMs)
                .putLong(WINDOW_MS)
                .putLong(1)
                .put(body)
                .array();
    }

    /** A part of a sample of other rows: what stands on the topic after a change of the explainer. */
    private static byte[] samplePart(long paneStartMs) {
        RowSample sample = RowSample.ofCapacity(3);
        sample.offer(1, 1, 0, new float[WatchedFolder.WIDTH + 1], null);
        byte[] body = sample.encode(1_000).get(0);
        return ours(SAMPLE_PART, 16 + body.length)
                .putLong(paneStartMs)
                .putLong(WINDOW_MS)
                .put(body)
                .array();
    }

    @Test
    void aRecordAheadOfTheClockIsADeadLetterOfItsOwnTimeAndHeaders() {
        String activations = config.topics().activations();
        byte[] value = ActivationRecords.blob(WatchedFolder.quiet(1));
        stream.send(activations, WatchedFolder.SITE, value, MonitorTopology.LATEST_EVENT_MS);
        TestRecord<byte[], byte[]> letter =
                stream.read(config.topics().deadLetters()).get(0);
        assertEquals(MonitorTopology.LATEST_EVENT_MS, letter.timestamp());
        assertEquals("plumbline.reason", letter.headers().toArray()[0].key());
        assertEquals(
                Long.toString(MonitorTopology.LATEST_EVENT_MS),
                new String(letter.headers().lastHeader("plumbline.timestamp").value(), StandardCharsets.UTF_8));
        send(QUIET, QUIET);
        assertEquals(List.of("aligned"), texts(reports(), "verdict"));
    }

    @Test
    void timesNobodyCanMeanAreBroughtIntoRange() {
        assertEquals(0, extracted(-1));
        assertEquals(T0, extracted(T0));
        assertEquals(MonitorTopology.LATEST_EVENT_MS, extracted(Long.MAX_VALUE));
    }

    private static long extracted(long timestampMs) {
        ConsumerRecord<Object, Object> record = new ConsumerRecord<>(
                "activations",
                0,
                0,
                timestampMs,
                timestampMs < 0
                        ? org.apache.kafka.common.record.TimestampType.NO_TIMESTAMP_TYPE
                        : org.apache.kafka.common.record.TimestampType.CREATE_TIME,
                0,
                0,
                null,
                null,
                new org.apache.kafka.common.header.internals.RecordHeaders(),
                java.util.Optional.empty());
        return MonitorTopology.eventTime().extract(record, 0);
    }
}
