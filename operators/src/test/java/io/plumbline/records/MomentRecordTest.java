package io.plumbline.records;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.moments.TotalsClaim;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.SentMoment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class MomentRecordTest {

    @Test
    void aBlobWithAMomentIsAMomentRecordAndOneWithActivationsIsRows() {
        assertInstanceOf(MomentRecord.class, parse(SentMoment.ofRows(20, 5, 3).blob()));
        byte[] rows = SafetensorsWriter.create()
                .add("activations", DType.F32, SentMoment.ofRows(4, 4, 3).rows)
                .toBytes();
        assertInstanceOf(ActivationBlob.class, parse(rows));
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F64", "F32"})
    void everythingThatWasWrittenIsRead(DType dtype) {
        SentMoment sent = SentMoment.ofRows(20, 6, 4);
        sent.dtype = dtype;
        MomentRecord read = (MomentRecord) parse(sent.blob());
        assertEquals(new MomentRecord.Counts(20, 3, 4, 5), read.counts());
        assertEquals(new MomentRecord.Pane(60_000, 1_000), read.pane());
        assertArrayEquals(new long[] {101, 102}, read.mask().tokenIds());
        assertEquals(sent.maskNorm, read.mask().largestNorm());
        double[] state = new double[sent.state.length];
        for (int from = 0; from < state.length; from += 3) {
            double[] some = new double[3];
            System.arraycopy(some, 0, state, from, read.copyState(from, some));
        }
        assertArrayEquals(sent.state, state, "integers are exact in both types");
        assertArrayEquals(sent.hashes, read.sample().hashes());
        assertArrayEquals(sent.requestsOfRows, read.sample().requests());
        assertArrayEquals(sent.times, read.sample().timesMs());
        for (int row = 0; row < 6; row++) {
            assertArrayEquals(sent.sampled.get(row), read.sample().activations().row(row));
        }
        assertNull(read.sample().targets());
        MomentRecord.Totals totals = read.totals();
        assertArrayEquals(sent.totalled, totals.requests());
        assertArrayEquals(new long[] {1, 1, 1}, totals.records());
        assertEquals(20, Arrays.stream(totals.rows()).sum());
        assertTrue(read.isTotalledWhole());
        for (int g = 0; g < totals.size(); g++) {
            assertEquals("request ü " + sent.totalled[g], totals.names().get(g));
            double[] sum = new double[4];
            totals.sums().copy(g, sum, 0);
            assertArrayEquals(Arrays.copyOfRange(sent.totalSums.values(), 4 * g, 4 * g + 4), sum);
        }
        assertNull(MomentClaim.fault(read));
    }

    @Test
    void whatNoTotalsHaveIsRefused() {
        refuseTotals("\"total_counts\": 2, expected 1 to 1", sent -> sent.totalCounts[2][0] = 2);
        refuseTotals("\"total_counts\": -1, expected 1 to", sent -> sent.totalCounts[1][1] = -1);
        refuseTotals("\"total_counts\": 9223372036854775807", sent -> sent.totalCounts[1][1] = Long.MAX_VALUE);
        refuseTotals("expected -1 to 64", sent -> sent.totalCounts[0][2] = 65);
        refuseTotals("expected -1 to 64", sent -> sent.totalCounts[0][2] = -2);
        refuseTotals("all rows, but 1 row records less than \"requests\"", sent -> {
            sent.totalled = Arrays.copyOf(sent.totalled, 2);
            sent.totalCounts = new long[][] {{1, 10, 11}, {1, 10, 11}};
            sent.totalNames = sent.totalNames.substring(0, 22);
            sent.totalSums = sent.totalSums.rowRange(0, 2);
        });
        refuseTotals(
                "is no text of at most 64 UTF-16 units",
                sent -> sent.totalNames = sent.totalNames.replaceFirst(" 2", " \ud800"));
        assertThrows(
                IllegalArgumentException.class,
                () -> parse(SentMoment.masked(4).blobWith("total_request", "I64 [1]")),
                "no rows, no requests");
    }

    private static void refuseTotals(String message, Consumer<SentMoment> change) {
        SentMoment sent = SentMoment.ofRows(20, 6, 4);
        change.accept(sent);
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> parse(sent.blob()), message);
        assertTrue(refused.getMessage().contains(message), refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rows           | I64 [2]    | tensor "rows": shape [2], expected [1]
            rows           | F64 [1]    | tensor "rows": dtype F64, expected I64
            rows           | -          | tensor "rows" is missing
            requests       | I64 [0]    | tensor "requests": shape [0], expected [1]
            pane           | I64 [1]    | tensor "pane": shape [1], expected [2]
            pane           | I64 [2]    | tensor "pane": [0, 0], expected the start and the size
            sum            | F32 [4]    | tensor "sum": dtype F32, expected F64
            sum            | F64 [5]    | tensor "moment": shape [10], expected [15], the lower triangle of 5 columns
            sum            | F64 [0]    | tensor "sum": shape [0], expected [d] with d from 1
            sum            | F64 [2, 2] | tensor "sum": shape [2, 2], expected one dimension
            moment         | F16 [10]   | tensor "moment": dtype F16, expected F64 or F32
            moment         | F64 [16]   | tensor "moment": shape [16], expected [10]
            moment         | F32 [10]   | tensor "moment": dtype F32, expected a tensor "moment_error" beside it
            largest_norm   | -          | tensor "largest_norm" is missing
            masked         | I64 [3]    | tensor "masked": shape [3], expected [2]
            mask_token_ids | I64 [2]    | tensor "mask_token_ids": entry 1 is 0 after 0, expected them strictly ascending
            sample_hash    | I64 [6]    | tensor "sample_hash": entry 1 is 0 after 0
            sample_hash    | I64 [21]   | tensor "sample_hash": shape [21], expected [k] with k from 1 to the 20 rows
            sample_hash    | I64 [0]    | tensor "sample_hash": shape [0], expected [k] with k from 1 to the 20 rows
            sample_request | I64 [5]    | tensor "sample_request": shape [5], expected [6]
            sample_time    | I64 [6]    | tensor "sample_time": entry 0 is 0, expected a time in the pane of 1000 ms from 60000 ms on
            sample_activations | F32 [5, 4] | tensor "sample_activations": shape [5, 4], expected [6, width]
            sample_activations | I64 [6, 4] | tensor "sample_activations": dtype I64, expected F64, F32, F16 or BF16
            sample_targets | F32 [6]    | tensor "sample_targets": shape [6], expected [rows, width]
            total_request  | I64 [0]    | tensor "total_request": shape [0], expected [t] with t from 1 to the 3 row records
            total_request  | I64 [4]    | tensor "total_request": shape [4], expected [t] with t from 1 to the 3 row records
            total_request  | I32 [3]    | tensor "total_request": dtype I32, expected I64
            total_request  | I64 [2]    | tensor "total_counts": shape [3, 3], expected [2, 3]
            total_counts   | -          | tensor "total_counts" is missing
            total_counts   | I32 [3, 3] | tensor "total_counts": dtype I32, expected I64
            total_counts   | I64 [9]    | tensor "total_counts": shape [9], expected [3, 3]
            total_counts   | I64 [3, 3] | tensor "total_counts": 0, expected 1 to 3
            total_names    | -          | tensor "total_names" is missing
            total_names    | I32 [32]   | tensor "total_names": shape [32], expected [33]
            total_names    | I64 [33]   | tensor "total_names": dtype I64, expected I32
            total_sum      | -          | tensor "total_sum" is missing
            total_sum      | F16 [3, 4] | tensor "total_sum": dtype F16, expected F32 or F64
            total_sum      | F32 [3, 5] | tensor "total_sum": shape [3, 5], expected [3, 4]
            total_sum      | F32 [2, 4] | tensor "total_sum": shape [2, 4], expected [3, 4]
            activations    | F32 [6, 4] | the blob has both "moment" and "activations"
            hidden_states  | F32 [6, 4] | the blob has both "moment" and "hidden_states"
            """)
    void aTensorOfAnotherShapeIsRefused(String name, String tensor, String message) {
        SentMoment sent = SentMoment.ofRows(20, 6, 4);
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> parse(sent.blobWith(name, tensor)));
        assertTrue(refused.getMessage().contains(message), refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rows         | -1         | tensor "rows": -1, expected 0 to 1073741824
            rows         | 1073741825 | tensor "rows": 1073741825
            requests     | 0          | tensor "requests": 0, expected 1 to 20
            requests     | 21         | tensor "requests": 21, expected 1 to 20
            """)
    void aCountOutOfRangeIsRefused(String name, long value, String message) {
        SentMoment sent = SentMoment.ofRows(20, 6, 4);
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> parse(sent.blobWithLong(name, value)));
        assertTrue(refused.getMessage().contains(message), refused.getMessage());
    }

    @Test
    void aMomentOfNoRowsIsEmptyUnlessRowsWereMasked() {
        SentMoment masked = SentMoment.masked(4);
        assertEquals(0, ((MomentRecord) parse(masked.blob())).counts().rows());
        assertNull(MomentClaim.fault((MomentRecord) parse(masked.blob())));
        masked.byToken = 0;
        masked.byNorm = 0;
        assertThrows(EmptyBatchException.class, () -> parse(masked.blob()));
    }

    @Test
    void numbersThatNoRowsHaveAreRefusedByASentence() {
        assertRefused("entry (2, 2) of the moment, a sum of squares, is -1.0", sent -> sent.state[sent.at(2, 2)] = -1);
        assertRefused("entry (3, 1) of the moment is 1.0E9", sent -> sent.state[sent.at(3, 1)] = 1e9);
        assertRefused("entry 1 of the sum is -1000000.0", sent -> sent.state[1] = -1e6);
        assertRefused("and 20 rows up to", sent -> sent.largestNorm /= 5);
        assertRefused("the longest row alone", sent -> sent.largestNorm *= 100);
        assertRefused("rows longer than mask_norm", sent -> sent.maskNorm = sent.largestNorm * 0.99);
        assertRefused("sampled row 2 is", sent -> sent.sampled.get(2)[0] = 1e4f);
        assertRefused("sampled rows alone give", MomentRecordTest::shrinkFirstColumn);
    }

    @Test
    void aNumberThatIsNotFiniteIsRefusedAsSuch() {
        for (Consumer<SentMoment> change : List.<Consumer<SentMoment>>of(
                sent -> sent.state[0] = Double.NaN,
                sent -> sent.state[sent.at(1, 1)] = Double.POSITIVE_INFINITY,
                sent -> sent.state[sent.at(3, 0)] = Double.NaN,
                sent -> sent.sampled.get(1)[3] = Float.NEGATIVE_INFINITY)) {
            SentMoment sent = SentMoment.ofRows(20, 6, 4);
            change.accept(sent);
            MomentClaim.Fault fault = MomentClaim.fault((MomentRecord) parse(sent.blob()));
            assertNotNull(fault);
            assertTrue(fault.nonFinite(), fault.message());
        }
    }

    @Test
    void aWholeSampleShowsRowsThatWereLeftOutOrAddedTwice() {
        SentMoment sent = SentMoment.ofRows(20, 20, 4);
        assertNull(MomentClaim.fault((MomentRecord) parse(sent.blob())));
        scale(sent, 1.5);
        MomentClaim.Fault fault = MomentClaim.fault((MomentRecord) parse(sent.blob()));
        assertNotNull(fault);
        assertTrue(fault.message().contains("the sample, which has all 20 rows"), fault.message());
    }

    @Test
    void aWholeSampleShowsANumberThatIsNotOfItsRows() {
        Map<String, Consumer<SentMoment>> wrong = Map.of(
                "entry 2 of the sum", sent -> sent.state[2] *= 0.999,
                "entry (3, 1) of the moment", sent -> sent.state[sent.at(3, 1)] = -sent.state[sent.at(3, 1)],
                "entry (70, 2) of the moment", sent -> sent.state[sent.at(70, 2)] = 0.0,
                "the length of the longest row", sent -> sent.largestNorm *= 1.001);
        wrong.forEach((what, change) -> {
            SentMoment sent = SentMoment.ofRows(20, 20, 80);
            assertNull(MomentClaim.fault((MomentRecord) parse(sent.blob())));
            change.accept(sent);
            MomentClaim.Fault fault = MomentClaim.fault((MomentRecord) parse(sent.blob()));
            assertNotNull(fault, what);
            assertTrue(fault.message().startsWith(what), fault.message());
            assertTrue(fault.message().contains("the sample, which has all 20 rows, gives"), fault.message());
        });
    }

    @Test
    void aPartOfTheRowsShowsAMomentThatIsTwiceTheirs() {
        SentMoment sent = SentMoment.ofRows(4_000, 1_000, 4);
        assertNull(MomentClaim.fault((MomentRecord) parse(sent.blob())));
        scale(sent, 2);
        MomentClaim.Fault fault = MomentClaim.fault((MomentRecord) parse(sent.blob()));
        assertNotNull(fault);
        assertTrue(fault.message().contains("a sample of these rows would come nearer"), fault.message());
    }

    /**
     * Tests attention sinks, dead and constant columns, repeated rows, 16-bit samples and float32 sums: all are honest.
     */
    @Test
    void noHonestMomentIsRefused() {
        for (int seed = 0; seed < 400; seed++) {
            SentMoment sent = SentMoment.honest(new SplittableRandom(seed));
            MomentRecord read = (MomentRecord) parse(sent.blob());
            assertNull(MomentClaim.fault(read), "seed " + seed);
            assertNull(TotalsClaim.fault(read), "seed " + seed);
        }
    }

    /** A flipped bit gives a record that is refused with a sentence, or one that can be added. */
    @Test
    void noChangedByteDoesAnythingButARefusal() {
        byte[] blob = SentMoment.ofRows(20, 6, 4).blob();
        SplittableRandom random = new SplittableRandom(11);
        int taken = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] changed = blob.clone();
            for (int i = 0; i <= random.nextInt(3); i++) {
                changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                MomentRecord read = (MomentRecord) parse(changed);
                if (MomentClaim.fault(read) == null && TotalsClaim.fault(read) == null) {
                    double[] state = new double[14];
                    assertEquals(14, read.copyState(0, state));
                    for (double value : state) {
                        assertTrue(Double.isFinite(value));
                    }
                    taken++;
                }
            } catch (IllegalArgumentException refused) {
                assertNotNull(refused.getMessage());
            } catch (ClassCastException rows) {
                assertTrue(new String(changed, StandardCharsets.ISO_8859_1).contains("activations"));
            }
        }
        assertTrue(taken > 0);
    }

    private static void assertRefused(String message, Consumer<SentMoment> change) {
        SentMoment sent = SentMoment.ofRows(20, 6, 4);
        change.accept(sent);
        MomentClaim.Fault fault = MomentClaim.fault((MomentRecord) parse(sent.blob()));
        assertNotNull(fault, message);
        assertTrue(fault.message().contains(message), fault.message());
        assertTrue(fault.message().endsWith("nothing of the moment was added"), fault.message());
    }

    /** Makes column 0 of all rows but the sampled ones a tenth of what it is. */
    private static void shrinkFirstColumn(SentMoment sent) {
        sent.state[0] *= 0.1;
        for (int i = 0; i < 4; i++) {
            sent.state[sent.at(i, 0)] *= i == 0 ? 0.01 : 0.1;
        }
    }

    private static void scale(SentMoment sent, double by) {
        for (int i = 4; i < sent.state.length; i++) {
            sent.state[i] *= by;
        }
        sent.largestNorm *= Math.max(1.0, Math.sqrt(by));
        sent.maskNorm = Double.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            sent.state[i] *= Math.min(1.0, by);
        }
    }

    private static ActivationRecord parse(byte[] blob) {
        return ActivationRecord.parse(blob, new KnownHeaders());
    }
}
