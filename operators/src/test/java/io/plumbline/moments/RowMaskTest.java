package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RowMaskTest {

    /** Rows with norms 5, 10, 50 and 1. */
    private static final Matrix ROWS = new Matrix(4, 2, new double[] {3, 4, 6, 8, 30, 40, 1, 0});

    private static final Matrix TARGETS = new Matrix(4, 1, new double[] {1, 2, 3, 40});

    @Test
    void rowsOfMaskedTokensAndRowsAboveTheCapGoAndTheOthersStayInOrder() {
        RowMask mask = RowMask.of(new MaskRules(List.of(102L, 101L), 4.0), 5.0);
        RowMask.Kept<ActivationBatch> kept = mask.apply(new ActivationBatch(ROWS, null, new long[] {7, 101, 8, 9}));
        assertEquals(new MaskedRows(1, 1), kept.masked());
        assertEquals(
                new ActivationBatch(new Matrix(2, 2, new double[] {3, 4, 1, 0}), null, new long[] {7, 9}), kept.rows());
    }

    @Test
    void aRowThatBothRulesNameCountsOnce() {
        RowMask mask = RowMask.of(new MaskRules(List.of(8L), 4.0), 5.0);
        RowMask.Kept<ActivationBatch> kept = mask.apply(new ActivationBatch(ROWS, null, new long[] {7, 7, 8, 9}));
        assertEquals(new MaskedRows(1, 0), kept.masked());
    }

    @Test
    void theNormIsThatOfTheTargetsAndBothSidesGo() {
        RowMask mask = RowMask.of(new MaskRules(List.of(), 4.0), 2.0);
        RowMask.Kept<ActivationBatch> kept = mask.apply(new ActivationBatch(ROWS, TARGETS, null));
        assertEquals(
                new ActivationBatch(ROWS.rowRange(0, 3), TARGETS.rowRange(0, 3), null),
                kept.rows(),
                "the long activation stays, the long target goes");
        assertEquals(new MaskedRows(0, 1), kept.masked());
    }

    @Test
    void aRowAtTheCapStays() {
        RowMask mask = RowMask.of(new MaskRules(List.of(), 10.0), 5.0);
        assertEquals(
                MaskedRows.NONE,
                mask.apply(new ActivationBatch(ROWS, null, null)).masked());
    }

    @Test
    void aBatchThatLosesNothingIsNotCopied() {
        ActivationBatch batch = new ActivationBatch(ROWS, null, null);
        assertSame(batch, RowMask.NONE.apply(batch).rows());
        assertSame(
                batch,
                RowMask.of(new MaskRules(List.of(), 1e9), 1.0).apply(batch).rows());
    }

    @Test
    void aBatchOfMaskedRowsAloneLeavesNone() {
        RowMask.Kept<ActivationBatch> kept = RowMask.of(new MaskRules(List.of(1L), null), null)
                .apply(new ActivationBatch(ROWS, null, new long[] {1, 1, 1, 1}));
        assertNull(kept.rows());
        assertEquals(new MaskedRows(4, 0), kept.masked());
    }

    @Test
    void aBatchWithoutTokenIdsIsRefusedWhereTheyAreMasked() {
        RowMask mask = RowMask.of(new MaskRules(List.of(101L), null), null);
        assertTrue(mask.needsTokenIds());
        String message = assertThrows(
                        IllegalArgumentException.class, () -> mask.apply(new ActivationBatch(ROWS, null, null)))
                .getMessage();
        assertTrue(message.contains("\"token_ids\" [4]") && message.contains("[101]"), message);
    }

    @Test
    void aRowThatIsNotFiniteIsLeftToWhoRefusesIt() {
        Matrix rows = new Matrix(2, 1, new double[] {Double.NaN, Double.POSITIVE_INFINITY});
        assertEquals(
                MaskedRows.NONE,
                RowMask.of(new MaskRules(List.of(), 2.0), 1.0)
                        .apply(new ActivationBatch(rows, null, null))
                        .masked());
    }

    @Test
    void aCapNeedsTheBaselinesMedian() {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> RowMask.of(new MaskRules(List.of(), 8.0), null))
                .getMessage();
        assertTrue(message.contains("norm_cap = 8.0") && message.contains("plumbline baseline"), message);
    }

    @Test
    void aCapAtOrBelowTheMedianIsNoRule() {
        for (double cap : new double[] {1.0, 0.0, -3.0, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThrows(IllegalArgumentException.class, () -> new MaskRules(List.of(), cap), "cap " + cap);
        }
    }

    @Test
    void theMedianIsWithinHalfAThousandthInAnyOrder() {
        for (long seed = 1; seed <= 20; seed++) {
            Random random = new Random(seed);
            List<Double> norms = new ArrayList<>();
            MedianNorm all = new MedianNorm();
            int rows = 1 + random.nextInt(300);
            for (int i = 0; i < rows; i++) {
                double norm = Math.exp(3.0 * random.nextGaussian());
                norms.add(norm);
                all.add(new Matrix(1, 2, new double[] {0.6 * norm, -0.8 * norm}));
            }
            norms.sort(null);
            double median = norms.get((rows - 1) / 2);
            assertEquals(median, all.value().orElseThrow(), 5e-4 * median, "seed " + seed);
        }
    }

    @Test
    void rowsOfZerosHaveTheMedianZeroAndNoRowsHaveNone() {
        MedianNorm norms = new MedianNorm();
        assertTrue(norms.value().isEmpty());
        norms.add(Matrix.zeros(3, 2));
        assertEquals(0.0, norms.value().orElseThrow());
    }
}
