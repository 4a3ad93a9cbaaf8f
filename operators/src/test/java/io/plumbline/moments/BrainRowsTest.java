package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.BrainPanel;
import io.plumbline.linalg.kernel.BrainProduct;
import io.plumbline.linalg.kernel.PlainBrainProduct;
import io.plumbline.linalg.kernel.UpdateKernel;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.EncodedRows;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests rows of bfloat16 under a kernel that has a product of its own for them. */
class BrainRowsTest {

    private static final int D = 53;

    private final AtomicInteger products = new AtomicInteger();
    private final BrainProduct plain = new PlainBrainProduct(32);
    private final UpdateKernel kernel = PlainBrainProduct.kernel((numbers, pitch, count, a, m, b, n, c) -> {
        products.incrementAndGet();
        plain.multiply(numbers, pitch, count, a, m, b, n, c);
    });

    /** Rows of both types come in turns, and whoever looks in between finds all of them. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void onIntegersEverySplitGivesTheBitsOfTheSlowWay(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix rows = integers(random, 1_000);
        SecondMomentAccumulator split = SecondMomentAccumulator.ofDimension(D, kernel);
        for (int from = 0; from < rows.rows(); ) {
            int to = Math.min(rows.rows(), from + random.nextInt(1, 300));
            DType type = random.nextInt(3) == 0 ? DType.F32 : DType.BF16;
            split.addFloats(encoded(rows.rowRange(from, to), type));
            if (random.nextInt(4) == 0) {
                split.state();
            }
            from = to;
        }
        assertEquals(rows.rows(), split.rows());
        assertArrayEquals(SecondMomentAccumulator.ofDimension(D).add(rows).state(), split.state(), "seed " + seed);
    }

    @Test
    void onlyRecordsOfBrainsInTheirRangeAreMultipliedByTheLibrary() {
        int before = products.get();
        Matrix rows = integers(new SplittableRandom(4), 9);
        for (DType type : new DType[] {DType.F32, DType.F16}) {
            SecondMomentAccumulator.ofDimension(D, kernel)
                    .addFloats(encoded(rows, type))
                    .state();
        }
        for (double small : new double[] {0x1p-130, -0x1p-57, 0x1.fcp-57}) {
            Matrix hostile = rows.copy();
            hostile.values()[100] = small;
            hostile.values()[101] = 0x1p60;
            SecondMomentAccumulator found =
                    SecondMomentAccumulator.ofDimension(D, kernel).addFloats(encoded(hostile, DType.BF16));
            SecondMomentAccumulator floats =
                    SecondMomentAccumulator.ofDimension(D).addFloats(encoded(hostile, DType.BF16));
            // To the last bit, the product of both values too.
            assertArrayEquals(floats.state(), found.state());
        }
        assertEquals(before, products.get());
        rows.values()[100] = BrainPanel.SMALLEST;
        SecondMomentAccumulator.ofDimension(D, kernel)
                .addFloats(encoded(rows, DType.BF16))
                .state();
        assertTrue(products.get() > before);
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
    void aRowThatIsNotFiniteIsRefusedAndNoneOfItsRecordIsAdded(double value) {
        Matrix rows = integers(new SplittableRandom(5), 9);
        rows.values()[2 * D + 7] = value;
        SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(D, kernel);
        NonFiniteRowException refusal =
                assertThrows(NonFiniteRowException.class, () -> accumulator.addFloats(encoded(rows, DType.BF16)));
        assertEquals(2, refusal.row());
        assertEquals(0, accumulator.rows());
        assertArrayEquals(new double[accumulator.state().length], accumulator.state());
    }

    private static EncodedRows encoded(Matrix rows, DType type) {
        byte[] blob = SafetensorsWriter.create().add("activations", type, rows).toBytes();
        return ActivationBlob.parse(blob, new KnownHeaders()).activations();
    }

    private static Matrix integers(SplittableRandom random, int rows) {
        Matrix matrix = Matrix.zeros(rows, D);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] =
                    random.nextInt(-BrainPanel.LARGEST_EXACT_INTEGER, BrainPanel.LARGEST_EXACT_INTEGER + 1);
        }
        return matrix;
    }
}
