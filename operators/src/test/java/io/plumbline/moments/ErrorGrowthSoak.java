package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import org.junit.jupiter.api.Test;

/**
 * Tests that the error of float products does not pile up: over two million rows it is what it was over a few thousand.
 */
class ErrorGrowthSoak {

    private static final int BATCH = 64;

    @Test
    void theErrorOfTwoMillionRowsIsBelowOneInAHundredMillion() {
        double early = relativeError(new ActivationLikeRows(96, 2), 20_000);
        double late = relativeError(new ActivationLikeRows(96, 2), 2_100_000);
        String errors = "relative error %.2e after 20,000 rows, %.2e after 2,100,000".formatted(early, late);
        assertTrue(late < 1e-8, errors);
        assertTrue(late < 3 * early, errors);
    }

    /** Returns {@code ||M_fast - M|| / ||M||} in the Frobenius norm, M summed in double. */
    static double relativeError(ActivationLikeRows source, int rows) {
        SecondMomentAccumulator fast = SecondMomentAccumulator.ofDimension(source.dimension());
        SecondMomentAccumulator exact = SecondMomentAccumulator.ofDimension(source.dimension());
        for (int done = 0; done < rows; done += BATCH) {
            Matrix batch = source.next(BATCH);
            fast.addFloats(batch);
            exact.add(batch);
        }
        Matrix expected = exact.snapshot().matrix();
        return fast.snapshot().matrix().minus(expected).frobeniusNorm() / expected.frobeniusNorm();
    }
}
