package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests panels of bfloat16 with a product in plain loops, on every machine; a library's has a test of its own. */
class BrainPanelTest {

    private static final UpdateKernel BLOCKS = PlainBrainProduct.kernel(new PlainBrainProduct(32));

    private static UpdateKernel kernel(int block) {
        return BrainPanels.kernel(new PlainBrainProduct(block));
    }

    @Test
    void theBoundOfFloatsHoldsOnEveryShape() {
        BrainPanels.holdTheBoundOnEveryShape(BLOCKS);
    }

    @Test
    void sumsOfIntegersAreExact() {
        BrainPanels.areExactOnIntegers(BLOCKS, 545);
        long limit = BrainPanel.LARGEST_EXACT_INTEGER;
        assertTrue(BrainPanel.TOGETHER * limit * limit <= 1 << 24);
        assertTrue(BrainPanel.TOGETHER * (limit + 1) * (limit + 1) > 1 << 24);
    }

    @Test
    void theSmallestAndTheLargestValuesAreTaken() {
        BrainPanels.takeWhatTheyClaimTo(BLOCKS);
    }

    @Test
    void severalCoresGiveTheBitsOfOne() {
        BrainPanels.haveTheSameBitsOnAnyCores(BLOCKS);
    }

    /** Orders that are known: the first of k numbers that are added one after the other passes k - 1 additions. */
    @ParameterizedTest
    @CsvSource({"1, 128, 127", "128, 128, 127", "32, 128, 34", "32, 1024, 62", "8, 64, 14"})
    void theOrderOfAdditionsIsFoundOut(int block, int count, int expected) {
        for (int m : new int[] {32, 64}) {
            assertEquals(expected, BrainOrder.depth(new PlainBrainProduct(block), count, m), "m = " + m);
        }
    }

    @Test
    void soManyRowsAreMultipliedAtOnceThatTheBoundHolds() {
        assertEquals(
                "rows of BF16 are multiplied by PlainBrainProduct[block=32], 1024 at once; all others by plain",
                kernel(32).toString());
        assertTrue(kernel(4).toString().contains(" 256 at once"));
        assertTrue(kernel(512).toString().contains(" 128 at once"));
    }

    @Test
    void fewerRowsAtOnceThanAPanelHoldsAreAddedOneLotAfterTheOther() {
        int d = 70;
        float[] x = new float[d * 256];
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < x.length; i++) {
            x[i] = random.nextInt(-128, 129);
        }
        double[] together = BrainPanels.summed(BLOCKS, d, x, new double[d * (d + 3) / 2]);
        double[] lots = BrainPanels.summed(kernel(512), d, x, new double[together.length]);
        assertArrayEquals(together, lots);
    }

    @Test
    void aFullPanelTakesNoMore() {
        BrainPanel panel = BLOCKS.brains(3);
        while (!panel.isFull()) {
            panel.rowWritten();
        }
        assertThrows(IllegalStateException.class, panel::rowWritten);
    }

    /** Twins of the loop over bytes: two columns are read at once, and sums stand apart until the last row. */
    @ParameterizedTest
    @MethodSource("io.plumbline.linalg.kernel.PanelTwinsTest#kernels")
    void sumsOfRowsAreTheSameToTheLastBit(UpdateKernel kernel) {
        SplittableRandom random = new SplittableRandom(9);
        for (int d : new int[] {1, 2, 15, 16, 33, 34, 47, 64, 95, 129}) {
            int count = 5;
            byte[] rows = new byte[2 * d * count];
            random.nextBytes(rows);
            for (int i = 1; i < rows.length; i += 2) {
                // Finite, of sizes that round sums.
                rows[i] = (byte) (rows[i] & 0xBF);
            }
            double[] plain = new double[d];
            double[] found = new double[d];
            for (int j = 0; j < d; j++) {
                plain[j] = found[j] = j * 0x1p20 + 0.1;
            }
            new PlainFloatRowOps().addBrains(rows, count, plain, d);
            kernel.floatRowOps().addBrains(rows, count, found, d);
            assertArrayEquals(plain, found, "d = " + d);
        }
    }
}
