package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.wire.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.commons.math3.stat.inference.ChiSquareTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RowSampleTest {

    @Test
    void theSmallestHashesAreKeptInAscendingOrder() {
        RowSample sample = RowSample.ofCapacity(3);
        for (long hash : new long[] {5, -7, 9, 1, 0}) {
            sample.offer(hash, 0, 0, new float[] {hash}, null);
        }
        assertEquals(
                List.of(-7L, 0L, 1L),
                sample.rows().stream().map(SampledRow::hash).toList());
        assertEquals(1L, sample.threshold());
        assertEquals(3, sample.size());
        assertEquals(3 * 4, sample.bytes());
    }

    @Test
    void aRowAboveTheThresholdDoesNotEnterAndOneBelowDoes() {
        RowSample sample = RowSample.ofCapacity(2);
        assertEquals(Long.MAX_VALUE, sample.threshold());
        sample.offer(10, 0, 0, new float[] {1}, null);
        assertEquals(Long.MAX_VALUE, sample.threshold());
        sample.offer(20, 0, 0, new float[] {1}, null);
        sample.offer(sample.threshold() + 1, 0, 0, new float[] {1}, null);
        assertEquals(20, sample.threshold());
        sample.offer(sample.threshold() - 1, 0, 0, new float[] {1}, null);
        assertEquals(19, sample.threshold());
    }

    @Test
    void aRowThatArrivesTwiceCountsOnce() {
        RowSample sample = RowSample.ofCapacity(4);
        sample.offer(1, 7, 0, new float[] {1}, null);
        sample.offer(1, 7, 0, new float[] {1}, null);
        assertEquals(1, sample.size());
        RowSample same = RowSample.ofCapacity(4);
        same.offer(1, 7, 0, new float[] {1}, null);
        assertEquals(1, sample.merge(same).size());
    }

    /** Tests 2,000 of 100,000 rows in ten equal stretches of the stream: none may be favoured. */
    @Test
    void everyStretchOfTheStreamIsSampledAlike() {
        RowSample sample = RowSample.ofCapacity(2000);
        for (int place = 0; place < 100_000; place++) {
            long hash = RowSample.hash(record(place / 128), place % 128);
            if (hash <= sample.threshold()) {
                sample.offer(hash, place, place, new float[] {place}, null);
            }
        }
        long[] counts = new long[10];
        sample.rows().forEach(row -> counts[(int) (row.request() / 10_000)]++);
        double[] expected = new double[10];
        Arrays.fill(expected, 200.0);
        double p = new ChiSquareTest().chiSquareTest(expected, counts);
        assertTrue(p > 1e-4, "p = %s for %s".formatted(p, Arrays.toString(counts)));
    }

    @Test
    void theHashOfARowNeverChanges() {
        // Samples are stored and merged across versions: these numbers are part of the format.
        long record = RowSample.recordHash(bytes("value"), 1_700_000_000_123L, bytes("request-17"));
        assertEquals(HASH_OF_A_ROW, RowSample.hash(record, 2));
        assertEquals(HASH_OF_A_REQUEST, RowSample.requestHash("request-17"));
    }

    @Test
    void whatWasSentAtAnotherTimeOrForAnotherRequestIsAnotherRow() {
        Set<Long> neighbours = new HashSet<>();
        for (String value : List.of("a", "b", "ab", "ba")) {
            for (long time = 0; time < 5; time++) {
                for (String request : List.of("1", "2", "12")) {
                    for (int row = 0; row < 5; row++) {
                        neighbours.add(RowSample.hash(RowSample.recordHash(bytes(value), time, bytes(request)), row));
                    }
                }
                neighbours.add(RowSample.hash(RowSample.recordHash(bytes(value), time, null), 0));
            }
        }
        assertEquals(4 * 5 * (3 * 5 + 1), neighbours.size());
    }

    /** Tests what a commit writes: rows that came since the last one. */
    @Test
    void partsWrittenAsTheSampleGrowsMergeToTheWhole() {
        RowSample sample = RowSample.ofCapacity(50);
        RowSample read = RowSample.ofCapacity(50);
        long[] stored = new long[0];
        int written = 0;
        for (int commit = 0; commit < 12; commit++) {
            for (int row = 0; row < 100; row++) {
                sample.offer(RowSample.hash(record(commit), row), commit, commit, new float[] {row}, null);
            }
            for (byte[] part : sample.encodeWithout(stored, 17 + 7 * (16 + 4))) {
                written += read.mergeEncoded(part);
            }
            stored = sample.hashes();
        }
        assertEquals(hashes(sample), hashes(read));
        // Of 50 rows 1/i are new at commit i: 50 H(12) = 155 on average, where all of them each time would be 600.
        assertTrue(written > 100 && written < 220, written + " rows");
        assertEquals(List.of(), sample.encodeWithout(stored, 1000));
    }

    private static long record(long number) {
        return RowSample.recordHash(ByteBuffer.allocate(8).putLong(number).array(), 0, null);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void anEncodedSampleIsReadBackBitForBit() {
        RowSample sample = RowSample.ofCapacity(10);
        for (int i = 0; i < 10; i++) {
            float[] activation = {i, -0.0f, Float.MIN_VALUE};
            sample.offer(RowSample.hash(record(i), 0), i, 1_700_000_000_000L + i, activation, new float[] {i + 0.5f});
        }
        List<byte[]> parts = sample.encode(26 + 3 * (24 + 16));
        assertEquals(4, parts.size());
        RowSample read = RowSample.ofCapacity(10);
        parts.forEach(read::mergeEncoded);
        for (int i = 0; i < 10; i++) {
            SampledRow expected = sample.rows().get(i);
            SampledRow actual = read.rows().get(i);
            assertEquals(expected.hash(), actual.hash());
            assertEquals(expected.request(), actual.request());
            assertEquals(expected.timestampMs(), actual.timestampMs());
            assertArrayEquals(expected.activation(), actual.activation());
            assertArrayEquals(expected.target(), actual.target());
        }
        assertEquals(List.of(), RowSample.ofCapacity(10).encode(100));
        assertThrows(IllegalArgumentException.class, () -> sample.encode(26 + 39));
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void rowsOfSixteenBitNumbersTakeTwoBytesAValueAndKeepEveryBit(DType type) {
        RowSample sample = RowSample.ofCapacity(10);
        Random random = new Random(5);
        for (int i = 0; i < 10; i++) {
            float[] activation = new float[64];
            for (int j = 0; j < activation.length; j++) {
                activation[j] = (float) type.rounded(random.nextGaussian() * Math.pow(2, random.nextInt(40) - 28));
            }
            activation[0] = -0.0f;
            sample.offer(i, 7, 0, activation, new float[] {0.5f});
        }
        List<byte[]> parts = sample.encode(10_000);
        assertEquals(26 + 10 * (24 + 2 * 65), parts.get(0).length);
        RowSample read = RowSample.ofCapacity(10);
        parts.forEach(read::mergeEncoded);
        for (int i = 0; i < 10; i++) {
            assertArrayEquals(
                    bits(sample.rows().get(i).activation()),
                    bits(read.rows().get(i).activation()));
            assertArrayEquals(sample.rows().get(i).target(), read.rows().get(i).target());
        }
    }

    @Test
    void oneValueThatNeedsMoreBitsKeepsAllOfThemAsFloats() {
        RowSample sample = RowSample.ofCapacity(2);
        sample.offer(1, 7, 0, new float[] {1, 2}, new float[] {3});
        sample.offer(2, 7, 0, new float[] {1, 2}, new float[] {Math.nextUp(3f)});
        byte[] part = sample.encode(1000).get(0);
        assertEquals(26 + 2 * (24 + 4 * 3), part.length);
        RowSample read = RowSample.ofCapacity(2);
        read.mergeEncoded(part);
        assertArrayEquals(new float[] {Math.nextUp(3f)}, read.rows().get(1).target());
    }

    private static int[] bits(float[] values) {
        int[] bits = new int[values.length];
        for (int i = 0; i < values.length; i++) {
            bits[i] = Float.floatToRawIntBits(values[i]);
        }
        return bits;
    }

    @Test
    void aPartThatIsNotWhatItsHeaderSaysIsRefusedAndNothingIsMerged() {
        RowSample sample = RowSample.ofCapacity(2);
        sample.offer(1, 1, 0, new float[] {1, 2}, null);
        sample.offer(2, 1, 0, new float[] {3, 4}, null);
        byte[] good = sample.encode(1000).get(0);
        RowSample receiver = RowSample.ofCapacity(2);
        refused(receiver, Arrays.copyOf(good, 16));
        refused(receiver, Arrays.copyOf(good, good.length - 1));
        refused(receiver, Arrays.copyOf(good, good.length + 1));
        refused(receiver, patched(good, 0, 3));
        refused(receiver, patchedInt(good, 5, 0)); // no activations
        refused(receiver, patchedInt(good, 9, -1)); // a negative width
        refused(receiver, patchedInt(good, 13, 1)); // fewer rows than bytes
        refused(receiver, patchedInt(good, 13, 3)); // more rows than the capacity
        refused(receiver, patched(good, 25, 3)); // values of no known type
        refused(receiver, patched(good, 25, 0)); // of a type of another width
        refused(RowSample.ofCapacity(1), patchedInt(good, 1, 1)); // more rows than its own capacity
        byte[] huge = patchedInt(patchedInt(good, 5, Integer.MAX_VALUE), 1, Integer.MAX_VALUE);
        refused(RowSample.ofCapacity(Integer.MAX_VALUE), patchedInt(huge, 13, Integer.MAX_VALUE));
        RowSample other = RowSample.ofCapacity(2);
        other.offer(5, 5, 0, new float[] {1}, null);
        refused(other, good); // another width
        assertEquals(0, receiver.size());
        receiver.mergeEncoded(good);
        assertEquals(2, receiver.size());
    }

    @Test
    void samplesOfTwoCapacitiesMergeToTheSmallerOnesBottom() {
        RowSample large = RowSample.ofCapacity(10);
        RowSample small = RowSample.ofCapacity(3);
        RowSample truth = RowSample.ofCapacity(3);
        for (int row = 0; row < 40; row++) {
            long hash = RowSample.hash(record(7), row);
            (row % 2 == 0 ? large : small).offer(hash, 1, 0, new float[] {row}, null);
            truth.offer(hash, 1, 0, new float[] {row}, null);
        }
        RowSample encoded = RowSample.ofCapacity(10);
        large.encode(1000).forEach(encoded::mergeEncoded);
        small.encode(1000).forEach(encoded::mergeEncoded);
        assertEquals(hashes(truth), hashes(encoded));
        assertEquals(3, encoded.capacity());
        assertEquals(hashes(truth), hashes(large.merge(small)));
        assertEquals(3, large.capacity());
    }

    private static List<Long> hashes(RowSample sample) {
        return sample.rows().stream().map(SampledRow::hash).toList();
    }

    @Test
    void rowsOfAnotherWidthAreRefused() {
        RowSample sample = RowSample.ofCapacity(2);
        sample.offer(1, 1, 0, new float[] {1, 2}, null);
        assertThrows(IllegalArgumentException.class, () -> sample.offer(2, 1, 0, new float[] {1}, null));
        assertThrows(IllegalArgumentException.class, () -> sample.offer(2, 1, 0, new float[] {1, 2}, new float[] {1}));
        assertThrows(IllegalArgumentException.class, () -> RowSample.ofCapacity(0));
        assertEquals(1, sample.size());
    }

    private static final long HASH_OF_A_ROW = 871604678881606251L;
    private static final long HASH_OF_A_REQUEST = 3102551718953096060L;

    private static void refused(RowSample receiver, byte[] part) {
        int before = receiver.size();
        assertThrows(IllegalArgumentException.class, () -> receiver.mergeEncoded(part));
        assertEquals(before, receiver.size());
    }

    private static byte[] patched(byte[] bytes, int offset, int value) {
        byte[] copy = bytes.clone();
        copy[offset] = (byte) value;
        return copy;
    }

    private static byte[] patchedInt(byte[] bytes, int offset, int value) {
        byte[] copy = bytes.clone();
        ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).putInt(offset, value);
        return copy;
    }
}
