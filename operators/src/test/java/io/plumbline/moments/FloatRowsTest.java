package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.EncodedRows;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@link SecondMomentAccumulator#addFloats}: the faster way to the same moment. */
class FloatRowsTest {

    private static final int D = 53;

    /** Windows of integer rows are compared bit by bit after crashes, over whatever batches the rows came in. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void onIntegersEverySplitGivesTheBitsOfTheSlowWay(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix rows = integers(random, 1_000, FloatPanel.LARGEST_EXACT_INTEGER);
        SecondMomentAccumulator split = SecondMomentAccumulator.ofDimension(D);
        SecondMomentAccumulator other = SecondMomentAccumulator.ofDimension(D);
        for (int from = 0; from < rows.rows(); ) {
            int to = Math.min(rows.rows(), from + random.nextInt(1, 300));
            (random.nextInt(3) == 0 ? other : split).addFloats(rows.rowRange(from, to));
            if (random.nextInt(4) == 0) {
                split.state();
            }
            from = to;
        }
        split.merge(other);
        assertEquals(rows.rows(), split.rows());
        assertArrayEquals(SecondMomentAccumulator.ofDimension(D).add(rows).state(), split.state(), "seed " + seed);
    }

    @Test
    void rowsThatWaitAreInEveryView() {
        Matrix row = integers(new SplittableRandom(3), 1, 9);
        double[] expected = SecondMomentAccumulator.ofDimension(D).add(row).state();
        assertArrayEquals(expected, waiting(row).state());
        assertArrayEquals(expected, waiting(row).snapshot().state());
        assertArrayEquals(
                expected,
                SecondMomentAccumulator.ofDimension(D).merge(waiting(row)).state());
        assertEquals(1, waiting(row).rows());
    }

    @Test
    void rowsThatAreNoFloatsKeepTheirPrecision() {
        SplittableRandom random = new SplittableRandom(11);
        Matrix rows = integers(random, 200, 5);
        for (int j = 0; j < D; j++) {
            rows.set(150, j, random.nextDouble());
        }
        double[] fast = SecondMomentAccumulator.ofDimension(D).addFloats(rows).state();
        double[] slow = SecondMomentAccumulator.ofDimension(D).add(rows).state();
        // At most 200 * 25 + 1 is summed: 201 roundings of that, in each of the two.
        assertArrayEquals(slow, fast, 2 * 201 * 0x1p-53 * 5_001);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0x1p65, -0x1.fffffep127, 1e60})
    void valuesTooLargeForFloatProductsAreMultipliedAsDoubles(double large) {
        Matrix rows = Matrix.zeros(3, 1);
        rows.set(0, 0, 1.0);
        rows.set(1, 0, large);
        rows.set(2, 0, large);
        double[] state = SecondMomentAccumulator.ofDimension(1).addFloats(rows).state();
        assertEquals(2 * large * large + 1, state[1], 4 * Math.ulp(large * large));
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, 1e71})
    void aBatchWithAValueThatIsNotFiniteIsRefusedWhole(double bad) {
        Matrix rows = integers(new SplittableRandom(4), 3, 9);
        rows.set(2, 7, bad);
        SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(D);
        NonFiniteRowException refusal = assertThrows(NonFiniteRowException.class, () -> accumulator.addFloats(rows));
        assertEquals(2, refusal.row());
        assertEquals(7, refusal.column());
        assertEquals(0, accumulator.rows());
        assertArrayEquals(new double[MomentState.length(D)], accumulator.state());
        assertThrows(IllegalArgumentException.class, () -> accumulator.addFloats(Matrix.zeros(1, D + 1)));
    }

    @Test
    void theErrorOfFiftyThousandRowsIsBelowOneInAHundredMillion() {
        double error = ErrorGrowthSoak.relativeError(new ActivationLikeRows(96, 1), 50_000);
        assertTrue(error > 0 && error < 1e-8, "relative error " + error);
    }

    /** Compares the way of the monitor with the way of files: the same bits whatever the numbers, types and splits. */
    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"I64", "I32"})
    void rowsInTheirRecordsGiveTheBitsOfDecodedOnes(DType type) {
        for (long seed = 1; seed <= 8; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            SecondMomentAccumulator asTheyLie = SecondMomentAccumulator.ofDimension(D);
            SecondMomentAccumulator decoded = SecondMomentAccumulator.ofDimension(D);
            for (int record = 0; record < 12; record++) {
                Matrix rows = Matrix.zeros(random.nextInt(1, 90), D);
                for (int i = 0; i < rows.values().length; i++) {
                    rows.values()[i] = random.nextDouble(-3, 5);
                }
                if (record % 4 == 3) {
                    rows.values()[random.nextInt(rows.values().length)] = type == DType.F16 ? 6e4 : 0x1p61;
                }
                EncodedRows encoded = encoded(rows, type);
                asTheyLie.addFloats(encoded);
                decoded.addFloats(encoded.toMatrix());
            }
            assertEquals(decoded.rows(), asTheyLie.rows());
            assertArrayEquals(decoded.state(), asTheyLie.state(), "seed " + seed);
        }
    }

    @Test
    void rowsInTheirRecordsAreRefusedAsDecodedOnesAre() {
        SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(D);
        Matrix rows = integers(new SplittableRandom(4), 3, 9);
        rows.set(2, 7, Double.NaN);
        NonFiniteRowException refusal =
                assertThrows(NonFiniteRowException.class, () -> accumulator.addFloats(encoded(rows, DType.F32)));
        assertEquals(2, refusal.row());
        assertEquals(7, refusal.column());
        assertThrows(
                IllegalArgumentException.class,
                () -> accumulator.addFloats(encoded(Matrix.zeros(1, D + 1), DType.F32)));
        assertEquals(0, accumulator.rows());
    }

    /** Tests that the hot path makes no garbage: pauses of its collection would be ours. */
    @ParameterizedTest
    @EnumSource(names = {"F32", "F16", "BF16"})
    void addingRowsInTheirRecordsAllocatesNothing(DType type) {
        EncodedRows rows = encoded(integers(new SplittableRandom(8), 60, 9), type);
        SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(D);
        assertEquals(0, leastAllocated(() -> accumulator.addFloats(rows)), "bytes for 20 records");
    }

    @Test
    void addingRowsAllocatesNothing() {
        Matrix rows = integers(new SplittableRandom(8), 60, 9);
        SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(D);
        assertEquals(0, leastAllocated(() -> accumulator.addFloats(rows)), "bytes for 20 records");
    }

    /** Tests rows so wide that other cores add parts of the moment. */
    @Test
    void addingWideRowsAllocatesNothing() {
        int wide = 384;
        Matrix rows = Matrix.zeros(60, wide);
        SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(wide);
        assertEquals(0, leastAllocated(() -> accumulator.addFloats(rows)), "bytes for 20 records");
    }

    /**
     * Returns the least of 20 records, once the vectors stay in registers: before that the interpreter makes objects of
     * them.
     */
    private static long leastAllocated(Runnable record) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (least > 0 && System.nanoTime() - deadline < 0) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 20; i++) {
                record.run();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    private static EncodedRows encoded(Matrix rows, DType type) {
        byte[] blob = SafetensorsWriter.create().add("activations", type, rows).toBytes();
        return ActivationBlob.parse(blob, new KnownHeaders()).activations();
    }

    private static SecondMomentAccumulator waiting(Matrix rows) {
        return SecondMomentAccumulator.ofDimension(D).addFloats(rows);
    }

    private static Matrix integers(SplittableRandom random, int rows, int largest) {
        Matrix matrix = Matrix.zeros(rows, D);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextInt(-largest, largest + 1);
        }
        return matrix;
    }
}
