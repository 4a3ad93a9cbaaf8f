package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that have their codes with them: in a sample, as bytes, and as hostile bytes. */
class CodedSampleTest {

    private static final EncoderId ENCODER = new EncoderId("0f".repeat(32), 1000);
    private static final EncoderId OTHER = new EncoderId("e1".repeat(32), 1000);

    /** Header, encoder, one row of 3 values up to its number of codes. */
    private static final int ENTRIES_AT = 17 + 36 + 24 + 12;

    @Test
    void codesTravelWithTheirRowsBitForBit() {
        RowSample sample = sample(40);
        for (int row = 0; row < 40; row += 2) {
            sample.attach(RowSample.hash(1, row), codes(row));
        }
        List<byte[]> parts = sample.encode(400);
        assertTrue(parts.size() > 5 && parts.stream().allMatch(part -> part.length <= 400), parts.size() + " parts");
        RowSample read = RowSample.ofCapacity(40);
        parts.forEach(read::mergeEncoded);
        for (int row = 0; row < 40; row++) {
            assertEquals(row % 2 == 0 ? codes(row) : null, row(read, row).codes(), "row " + row);
            assertArrayEquals(row(sample, row).activation(), row(read, row).activation());
        }
        assertEquals(sample.bytes(), read.bytes());
    }

    /** So that programs that know no codes read the samples of sites that have none. */
    @Test
    void aSampleWithoutCodesIsWrittenInTheVersionWithoutThem() {
        RowSample sample = sample(3);
        assertEquals(2, sample.encode(1000).get(0)[0]);
        sample.attach(RowSample.hash(1, 0), codes(1));
        assertEquals(3, sample.encode(1000).get(0)[0]);
    }

    @Test
    void aRowThatLeftTheSampleTakesNoCodesAndOneThatIsThereKeepsThemWhenItComesAgain() {
        RowSample sample = sample(3);
        sample.attach(RowSample.hash(1, 77), codes(1));
        assertTrue(sample.rows().stream().allMatch(row -> row.codes() == null));
        RowSample coded = sample(3);
        coded.attach(RowSample.hash(1, 0), codes(1));
        assertNotNull(row(sample(3).merge(coded), 0).codes(), "brought by the other");
        assertNotNull(row(coded.merge(sample(3)), 0).codes(), "and not lost to it");
    }

    @Test
    void codesOfASecondEncoderAndThoseThatAreTooManyStayBehind() {
        RowSample sample = sample(2);
        SampledRow first = sample.rows().get(0);
        SampledRow second = sample.rows().get(1);
        sample.attach(first.hash(), codes(1));
        sample.attach(second.hash(), new RowCodes(OTHER, new int[] {1}, new double[] {1}));
        RowSample read = RowSample.ofCapacity(2);
        sample.encode(1000).forEach(read::mergeEncoded);
        assertNotNull(read.rows().get(0).codes());
        assertNull(read.rows().get(1).codes());
        int many = RowCodes.mostEntries(3) + 1;
        sample.attach(second.hash(), ones(many));
        assertEquals(OTHER, sample.rows().get(1).codes().encoder(), "those it had");
    }

    /** Else the widest rows, which just fit in a record, would stop the stream with their codes. */
    @Test
    void codesWithWhichARowWouldNotFitInAPartStayBehind() {
        RowSample sample = sample(2);
        sample.attach(RowSample.hash(1, 0), codes(1));
        sample.attach(RowSample.hash(1, 1), new RowCodes(ENCODER, new int[] {7}, new double[] {2}));
        int withOneCode = 17 + 36 + 24 + 12 + 4 + 12;
        List<byte[]> parts = sample.encode(withOneCode);
        assertEquals(2, parts.size());
        RowSample read = RowSample.ofCapacity(2);
        parts.forEach(read::mergeEncoded);
        assertNull(row(read, 0).codes(), "three codes");
        assertNotNull(row(read, 1).codes(), "one");
        List<byte[]> bare = sample.encode(17 + 24 + 12);
        assertEquals(List.of(2, 2), bare.stream().map(part -> (int) part[0]).toList(), "not even the encoder's name");
        assertThrows(IllegalArgumentException.class, () -> sample.encode(17 + 24 + 11));
    }

    @Test
    void everyLengthButTheRightOneIsRefusedAndNothingMerged() {
        byte[] whole = coded();
        for (int length = 0; length < whole.length; length++) {
            assertRefused(Arrays.copyOf(whole, length));
        }
        assertRefused(Arrays.copyOf(whole, whole.length + 1));
        assertEquals(1, RowSample.ofCapacity(1).mergeEncoded(whole));
    }

    @ParameterizedTest
    @ValueSource(ints = {-2, 1, 3, 5, 1_000_000, Integer.MAX_VALUE})
    void anotherNumberOfCodesIsRefusedBeforeAnythingIsAllocated(int entries) {
        assertRefused(changed(ENTRIES_AT, buffer -> buffer.putInt(entries)));
    }

    @Test
    void moreCodesThanTravelWithARowAreRefused() {
        int most = RowCodes.mostEntries(3);
        RowSample sample = sample(1);
        sample.attach(RowSample.hash(1, 0), ones(most));
        byte[] part = sample.encode(1000).get(0);
        ByteBuffer more = ByteBuffer.allocate(part.length + 12).order(ByteOrder.LITTLE_ENDIAN);
        more.put(part, 0, ENTRIES_AT).putInt(most + 1);
        for (int feature = 0; feature <= most; feature++) {
            more.putInt(feature);
        }
        for (int feature = 0; feature <= most; feature++) {
            more.putDouble(1);
        }
        assertRefused(more.array());
        assertEquals(12L * most, RowCodes.mostBytes(3, 1000));
        assertEquals(12L * 2, RowCodes.mostBytes(3, 2), "no more than can be active");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 1_000_000, Integer.MAX_VALUE})
    void rowsThatAreNotThereAreRefusedBeforeAnythingIsAllocated(int rows) {
        assertRefused(changed(
                1, buffer -> buffer.putInt(Integer.MAX_VALUE).position(13).putInt(rows)));
    }

    @Test
    void aRowThatTheCodesBeforeItLeaveNoRoomForIsRefused() {
        RowSample sample = sample(2);
        sample.attach(sample.rows().get(0).hash(), ones(RowCodes.mostEntries(3)));
        byte[] whole = sample.encode(1000).get(0);
        // The bytes would be enough for two rows without codes.
        assertRefused(Arrays.copyOf(whole, whole.length - 10));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 5, 1000, Integer.MAX_VALUE})
    void featuresOutOfOrderOrRangeAreRefused(int feature) {
        // Two codes, 5 and 9: the second becomes what does not come after the first or is no feature.
        assertRefused(changed(ENTRIES_AT + 8, buffer -> buffer.putInt(feature)));
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, 0.0, -0.0})
    void valuesThatAreNoCodesAreRefused(double value) {
        assertRefused(changed(ENTRIES_AT + 12, buffer -> buffer.putDouble(value)));
    }

    @Test
    void anEncoderWithoutFeaturesIsRefused() {
        assertRefused(changed(17, buffer -> buffer.putInt(0)));
    }

    private static void assertRefused(byte[] part) {
        RowSample sample = RowSample.ofCapacity(1);
        assertThrows(IllegalArgumentException.class, () -> sample.mergeEncoded(part));
        assertEquals(0, sample.size());
    }

    private static byte[] changed(int at, java.util.function.Consumer<ByteBuffer> change) {
        byte[] part = coded();
        change.accept(ByteBuffer.wrap(part).order(ByteOrder.LITTLE_ENDIAN).position(at));
        return part;
    }

    private static byte[] coded() {
        RowSample sample = sample(1);
        sample.attach(RowSample.hash(1, 0), new RowCodes(ENCODER, new int[] {5, 9}, new double[] {0.25, -3}));
        return sample.encode(1000).get(0);
    }

    private static RowCodes ones(int entries) {
        double[] ones = new double[entries];
        Arrays.fill(ones, 1);
        return new RowCodes(ENCODER, IntStream.range(0, entries).toArray(), ones);
    }

    private static RowCodes codes(int row) {
        return row % 4 == 0
                ? new RowCodes(ENCODER, new int[0], new double[0])
                : new RowCodes(
                        ENCODER, new int[] {row, 100 + row, 999}, new double[] {1.0 / 3 + row, -Math.PI, 1e-300});
    }

    private static SampledRow row(RowSample sample, int row) {
        return sample.rows().stream()
                .filter(one -> one.hash() == RowSample.hash(1, row))
                .findFirst()
                .orElseThrow();
    }

    private static RowSample sample(int rows) {
        RowSample sample = RowSample.ofCapacity(rows);
        for (int row = 0; row < rows; row++) {
            sample.offer(RowSample.hash(1, row), row, 3, new float[] {row, -0.0f, 0.5f}, null);
        }
        return sample;
    }
}
