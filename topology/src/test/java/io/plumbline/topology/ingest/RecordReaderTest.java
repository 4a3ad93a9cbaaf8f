package io.plumbline.topology.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.plumbline.explainer.DecoderSpace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskRules;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowMask;
import io.plumbline.records.RequestRecord;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.DeadLetter.Reason;
import io.plumbline.topology.ingest.RecordReader.Refused;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordReaderTest {

    private static final long TIME = 1_700_000_000_000L;
    private static final byte[] SAE = bytes("sae");
    private static final byte[] TRANSCODER = bytes("transcoder");

    private final RecordReader reader = new RecordReader(
            Map.of(
                    "sae",
                    new SiteShape("sae", 3, 3, false, RowMask.NONE),
                    "transcoder",
                    new SiteShape("transcoder", 3, 2, true, RowMask.NONE)),
            new Limits(2, 3, 8, 4, Duration.ofMinutes(1), null));

    private final RecordReader masking = new RecordReader(
            Map.of("sae", new SiteShape("sae", 3, 3, false, RowMask.of(new MaskRules(List.of(101L, 102L), 8.0), 2.0))),
            Limits.DEFAULT);

    @Test
    void aLongNameOfARequestIsCutAndStillNamesIt() throws Exception {
        byte[] value = ActivationRecords.blob(ActivationRecords.integerRows(1, 2, 3));
        RecordHeaders first = new RecordHeaders();
        first.add("request", bytes("x".repeat(64) + "first"));
        RecordHeaders second = new RecordHeaders();
        second.add("request", bytes("x".repeat(64) + "second"));
        Ingested.Rows one = rows(reader, SAE, value, first, TIME);
        Ingested.Rows other = rows(reader, SAE, value, second, TIME);
        assertEquals("x".repeat(64), one.request().name());
        assertNotEquals(one.request().hash(), other.request().hash());
    }

    @Test
    void theHeaderNamesTheSiteBeforeTheKeyDoes() throws Refused {
        byte[] value = ActivationRecords.blob(Matrix.zeros(2, 3));
        assertEquals("sae", reader.read(SAE, value, new RecordHeaders(), TIME).site());
        RecordHeaders headers = new RecordHeaders();
        headers.add("site", SAE);
        Ingested.Rows read = rows(reader, bytes("any key"), value, headers, TIME);
        assertEquals("sae", read.site());
        assertEquals(2, read.rows());
    }

    @Test
    void recordsOfOneRequestHeaderAreOneRequestAndOthersAreTheirOwn() throws Refused {
        byte[] value = ActivationRecords.blob(Matrix.zeros(1, 3));
        RecordHeaders headers = new RecordHeaders();
        headers.add("request", bytes("chat-1"));
        long here = rows(reader, SAE, value, headers, TIME).request().hash();
        assertEquals("chat-1", rows(reader, SAE, value, headers, TIME).request().name());
        assertNull(rows(reader, SAE, value, new RecordHeaders(), TIME).request().name(), "its own request");
        long later = rows(reader, SAE, value, headers, TIME + 1).request().hash();
        assertEquals(here, later);
        long alone =
                rows(reader, SAE, value, new RecordHeaders(), TIME).request().hash();
        long other = rows(reader, SAE, value, new RecordHeaders(), TIME + 1)
                .request()
                .hash();
        assertNotEquals(alone, other);
        assertNotEquals(here, alone);
    }

    @Test
    void aSiteWithTheRestOfItsModelKeepsRequestsWholeMaskedRowsToo() throws Refused {
        SiteShape shape = new SiteShape("sae", 3, 3, false, RowMask.of(new MaskRules(List.of(101L), null), 2.0));
        RecordReader keeping = new RecordReader(Map.of("sae", shape.keepingRequests(true)), Limits.DEFAULT);
        byte[] value = ActivationRecords.blob(Matrix.zeros(3, 3), 101, 7, 7);
        RequestRecord whole =
                rows(keeping, SAE, value, new RecordHeaders(), TIME).whole();
        assertEquals(3, Objects.requireNonNull(whole).rows(0));
        assertNull(rows(masking, SAE, value, new RecordHeaders(), TIME).whole());
        RecordHeaders cached = new RecordHeaders();
        cached.add("tokens_served", "8".getBytes(StandardCharsets.UTF_8));
        cached.add("cached", "5".getBytes(StandardCharsets.UTF_8));
        assertNull(rows(keeping, SAE, value, cached, TIME).whole(), "its first rows are missing");
        DeadLetter letter = refused(
                keeping,
                SafetensorsWriter.create()
                        .add("activations", DType.F32, Matrix.zeros(2, 3))
                        .addLongs("token_ids", 1, 2)
                        .addLongs("request_offsets", 0, 3)
                        .toBytes());
        assertEquals(DeadLetter.Reason.MALFORMED, letter.reason());
        assertTrue(letter.message().contains("request_offsets"), letter.message());
    }

    @Test
    void aTranscodersRequestIsKeptWithItsResidualStreamAlone() throws Refused {
        SiteShape shape = new SiteShape("transcoder", 3, 2, true, RowMask.NONE).keepingRequests(true);
        RecordReader keeping = new RecordReader(Map.of("transcoder", shape), Limits.DEFAULT);
        byte[] key = "transcoder".getBytes(StandardCharsets.UTF_8);
        SafetensorsWriter bare = SafetensorsWriter.create()
                .add("activations", DType.F32, Matrix.zeros(2, 3))
                .add("targets", DType.F32, Matrix.zeros(2, 2));
        assertNull(rows(keeping, key, bare.toBytes(), new RecordHeaders(), TIME).whole());
        byte[] value = bare.add("residual", DType.F32, Matrix.zeros(2, 2)).toBytes();
        assertEquals(
                1,
                Objects.requireNonNull(rows(keeping, key, value, new RecordHeaders(), TIME)
                                .whole())
                        .count());
    }

    @Test
    void maskedRowsAreCountedAndLeaveTheBatch() throws Refused {
        Matrix rows = new Matrix(4, 3, new double[] {1, 0, 0, 2, 0, 0, 90, 0, 0, 3, 0, 0});
        Ingested.Rows read =
                rows(masking, SAE, ActivationRecords.blob(rows, 101, 7, 7, 102), new RecordHeaders(), TIME);
        assertEquals(new MaskedRows(2, 1), read.masked());
        assertEquals(
                new Matrix(1, 3, new double[] {2, 0, 0}), read.summed().batch().activations());
        assertEquals(4, read.rows());
    }

    @Test
    void aRecordOfMaskedRowsAloneIsTakenAndHasNoBatch() throws Refused {
        byte[] value = ActivationRecords.blob(Matrix.zeros(2, 3), 101, 102);
        Ingested.Rows read = rows(masking, SAE, value, new RecordHeaders(), TIME);
        assertNull(read.summed());
        assertEquals(2, read.rows());
    }

    @Test
    void aSiteThatMasksTokensRefusesARecordThatDoesNotNameThem() {
        DeadLetter letter = refused(masking, ActivationRecords.blob(Matrix.zeros(2, 3)));
        assertEquals(DeadLetter.Reason.MISSING_TOKEN_IDS, letter.reason());
        assertTrue(letter.message().contains("\"token_ids\" [2]"), letter.message());
    }

    @Test
    void tokenIdsOfAnotherLengthOrTypeAreMalformedAlsoWhereNothingIsMasked() {
        byte[] longer = ActivationRecords.blob(Matrix.zeros(2, 3), 1, 2, 3);
        byte[] floats = SafetensorsWriter.create()
                .add("activations", DType.F32, Matrix.zeros(2, 3))
                .addVector("token_ids", DType.F32, new double[] {1, 2})
                .toBytes();
        for (RecordReader each : List.of(masking, reader)) {
            for (byte[] value : List.of(longer, floats)) {
                DeadLetter letter = refused(each, value);
                assertEquals(DeadLetter.Reason.MALFORMED, letter.reason());
                assertTrue(letter.message().contains("token_ids"), letter.message());
            }
        }
    }

    private static Ingested.Rows rows(
            RecordReader reader, byte[] key, byte[] value, RecordHeaders headers, long timestampMs) throws Refused {
        return assertInstanceOf(Ingested.Rows.class, reader.read(key, value, headers, timestampMs));
    }

    private static DeadLetter refused(RecordReader reader, byte[] value) {
        return assertThrows(Refused.class, () -> reader.read(SAE, value, new RecordHeaders(), TIME))
                .deadLetter();
    }

    /** Tests that the partition and the key of a record do not decide whether its rows are sampled. */
    @Test
    void aRecordIsTheSameUnderAnyKey() throws Refused {
        byte[] value = ActivationRecords.blob(Matrix.zeros(1, 3));
        RecordHeaders headers = new RecordHeaders();
        headers.add("site", SAE);
        Ingested.Rows one = rows(reader, bytes("1"), value, headers, TIME);
        Ingested.Rows two = rows(reader, bytes("2"), value, headers, TIME);
        assertEquals(one.record(), two.record());
        assertEquals(one.request(), two.request());
    }

    @Test
    void aTranscoderNeedsTargetsOfItsWidth() throws Refused {
        Matrix rows = Matrix.zeros(2, 3);
        assertRefused(Reason.MISSING_TARGETS, "\"targets\" of 2 columns", TRANSCODER, ActivationRecords.blob(rows));
        assertRefused(
                Reason.WRONG_WIDTH,
                "targets have 3 columns, the explainer writes 2",
                TRANSCODER,
                ActivationRecords.blob(rows, Matrix.zeros(2, 3)));
        assertRefused(
                Reason.WRONG_WIDTH,
                "activations have 4 columns, the explainer reads 3",
                TRANSCODER,
                ActivationRecords.blob(Matrix.zeros(2, 4), Matrix.zeros(2, 2)));
        Matrix poisoned = Matrix.zeros(2, 2);
        poisoned.set(1, 0, Double.POSITIVE_INFINITY);
        assertRefused(
                Reason.NON_FINITE,
                "targets row 1, column 0 is Infinity",
                TRANSCODER,
                ActivationRecords.blob(rows, poisoned));
        Ingested.Rows read =
                rows(reader, TRANSCODER, ActivationRecords.blob(rows, Matrix.zeros(2, 2)), new RecordHeaders(), TIME);
        assertEquals(2, read.summed().targetRows().columns());
    }

    @Test
    void anAutoencoderTakesNoTargets() {
        byte[] value = ActivationRecords.blob(Matrix.zeros(2, 3), Matrix.zeros(2, 3));
        assertRefused(Reason.UNEXPECTED_TARGETS, "reconstructs its own input", SAE, value);
    }

    @Test
    void everyOtherFaultHasItsReason() {
        assertRefused(Reason.NULL_VALUE, "no value", SAE, null);
        assertRefused(Reason.UNKNOWN_SITE, "neither", null, new byte[] {1});
        assertRefused(Reason.UNKNOWN_SITE, "configured: [sae, transcoder]", bytes("x".repeat(5_000)), new byte[] {1});
        assertRefused(Reason.MALFORMED, "site sae", SAE, new byte[] {1, 2, 3});
        byte[] longHeader = ByteBuffer.allocate(16)
                .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                .putLong(Long.MAX_VALUE)
                .array();
        assertRefused(Reason.MALFORMED, "header", SAE, longHeader);
        byte[] empty = SafetensorsWriter.create()
                .addRaw("activations", DType.F32, new long[] {0, 3}, ByteBuffer.allocate(0))
                .toBytes();
        assertRefused(Reason.EMPTY_BATCH, "shape [0, 3]", SAE, empty);
        Matrix huge = Matrix.zeros(1, 3);
        huge.set(0, 2, 1e39);
        byte[] wide =
                SafetensorsWriter.create().add("activations", DType.F64, huge).toBytes();
        assertRefused(Reason.NON_FINITE, "row 0, column 2 is 1.0E39", SAE, wide);
    }

    /** Tests values that are floats each, and whose difference is none. */
    @ParameterizedTest
    @ValueSource(ints = {0, 5})
    void aReconstructionFurtherFromItsTargetThanAFloatReachesIsNotFinite(int features) throws Refused {
        RecordReader given = new RecordReader(Map.of("sae", given(features)), Limits.DEFAULT);
        assertEquals(
                2,
                rows(given, SAE, reconstructed(-1e37), new RecordHeaders(), TIME)
                        .rows());
        DeadLetter letter = refused(given, reconstructed(-3e38));
        assertEquals(Reason.NON_FINITE, letter.reason());
        assertTrue(letter.message().contains("row 1, column 5 is Infinity"), letter.message());
    }

    private static SiteShape given(int features) {
        return new SiteShape(
                SiteId.parse("sae"), 3, 3, false, DecoderSpace.PLAIN, true, features, RowMask.NONE, false, null, null);
    }

    /** Returns two rows, whose last value is 3e38 and was reconstructed as another one. */
    private static byte[] reconstructed(double last) {
        Matrix rows = Matrix.zeros(2, 3);
        rows.set(1, 2, 3e38);
        Matrix reconstructions = Matrix.zeros(2, 3);
        reconstructions.set(1, 2, last);
        return SafetensorsWriter.create()
                .add("activations", DType.F32, rows)
                .add("reconstructions", DType.F32, reconstructions)
                .addRaw("code_indices", DType.I64, new long[] {2, 1}, ByteBuffer.allocate(2 * Long.BYTES))
                .add("code_values", DType.F32, Matrix.zeros(2, 1))
                .toBytes();
    }

    @Test
    void aRecordWithoutAValueMayTellOfTokensThatWereServed() throws Refused {
        RecordHeaders headers = new RecordHeaders();
        headers.add("tokens_served", bytes("12"));
        Ingested word = reader.read(SAE, null, headers, TIME);
        assertInstanceOf(Ingested.Announcement.class, word);
        assertEquals(0, word.rows());
        assertEquals(new Coverage(12, 0, 0, 0, 0), word.notes().coverage());
        assertRefused(Reason.NULL_VALUE, "no header tokens_served", SAE, null);
    }

    @Test
    void moreRowsThanAllowedAreRefusedBeforeTheyAreConverted() {
        byte[] many = ActivationRecords.blob(Matrix.zeros(9, 3));
        assertRefused(Reason.TOO_MANY_ROWS, "9 rows, limits.rows_per_record allows 8", SAE, many);
        int rows = 4_000_000;
        byte[] half = SafetensorsWriter.create()
                .addRaw("activations", DType.F16, new long[] {rows, 3}, ByteBuffer.allocate(rows * 3 * 2))
                .toBytes();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertRefused(Reason.TOO_MANY_ROWS, "4000000 rows", SAE, half);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < half.length / 4, "allocated " + allocated);
    }

    @Test
    void aWrongWidthCostsNoMemoryEither() {
        byte[] wide = SafetensorsWriter.create()
                .addRaw("activations", DType.BF16, new long[] {1, 8_000_000}, ByteBuffer.allocate(16_000_000))
                .toBytes();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertRefused(Reason.WRONG_WIDTH, "8,000,000 columns", SAE, wide);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 4_000_000, "allocated " + allocated);
    }

    @Test
    void aRecordThatIsNearlyAllHeaderIsRefusedUnparsed() {
        String entry = "\"%d\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},";
        StringBuilder json = new StringBuilder("{");
        for (int i = 0; json.length() <= 1 << 20; i++) {
            json.append(entry.formatted(i));
        }
        json.setCharAt(json.length() - 1, '}');
        byte[] header = bytes(json.toString());
        byte[] blob = ByteBuffer.allocate(8 + header.length)
                .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                .putLong(header.length)
                .put(header)
                .array();
        assertRefused(Reason.MALFORMED, "here at most 1048576", SAE, blob);
    }

    @Test
    void manyConfiguredSitesAreNotAllNamedToEachUnknownOne() {
        Map<String, SiteShape> sites = new HashMap<>();
        for (int i = 0; i < 1_000; i++) {
            sites.put("site-%03d".formatted(i), new SiteShape("site", 3, 3, false, RowMask.NONE));
        }
        RecordReader large = new RecordReader(sites, Limits.DEFAULT);
        byte[] endless = new byte[10_000_000];
        Refused refused = assertThrows(Refused.class, () -> large.read(endless, null, new RecordHeaders(), 5));
        assertTrue(refused.getMessage().endsWith("site-009] and 990 more"), refused.getMessage());
        assertTrue(refused.getMessage().length() < 400, refused.getMessage());
    }

    private void assertRefused(Reason reason, String words, byte[] key, byte[] value) {
        Refused refused = assertThrows(Refused.class, () -> reader.read(key, value, new RecordHeaders(), TIME), words);
        assertEquals(reason, refused.deadLetter().reason(), refused.getMessage());
        assertTrue(refused.getMessage().contains(words), refused.getMessage());
        assertTrue(
                refused.getMessage().length() < 1_000,
                "a message of " + refused.getMessage().length());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
