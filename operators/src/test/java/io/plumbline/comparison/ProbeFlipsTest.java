package io.plumbline.comparison;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.probes.Probe;
import org.apache.commons.math3.distribution.BinomialDistribution;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ProbeFlipsTest {

    private static final int GROUPS = 10;

    private static Matrix rows(double... values) {
        return new Matrix(values.length, 1, values);
    }

    /** Counts requests of two rows, 100 of them, where the first {@code flipped} fall from above to below. */
    private static ProbeFlips flips(int flipped, double @Nullable [] query, boolean identical) {
        ProbeFlips.Counts counts = new ProbeFlips.Counts(new Probe("p", new double[] {1.0}, 0.5, 2.0, query), GROUPS);
        for (int i = 0; i < 100; i++) {
            Matrix above = rows(1.0, 3.0);
            counts.add(i % GROUPS, above, i < flipped ? rows(1.0, 1.5) : above);
        }
        return counts.result(identical);
    }

    @Test
    void aRequestIsAboveByTheMeanScoreOfItsRows() {
        ProbeFlips found = flips(20, null, false);
        assertEquals(0.2, found.flips().value(), 1e-12);
        assertEquals(1.0, found.rateBefore());
        assertEquals(0.8, found.rateAfter(), 1e-12);
    }

    @Test
    void aPoolingProbeReadsTheRequestAsAWhole() {
        // It looks at the row of the smallest value, which is 1 before and after.
        assertEquals(0.0, flips(20, new double[] {-100.0}, false).flips().value());
        assertEquals(0.2, flips(20, new double[] {100.0}, false).flips().value(), 1e-12);
    }

    @Test
    void theIntervalIsAtLeastTheExactOneOfAShare() {
        Estimate few = flips(3, null, false).flips();
        assertTrue(new BinomialDistribution(null, 100, few.high()).cumulativeProbability(3) <= 0.025 + 1e-6);
        assertTrue(1.0 - new BinomialDistribution(null, 100, few.low()).cumulativeProbability(2) <= 0.025 + 1e-6);
        Estimate none = flips(0, null, false).flips();
        assertEquals(0.0, none.low());
        assertEquals(1.0 - Math.pow(0.025, 0.01), none.high(), 1e-6);
        assertEquals(1.0, flips(100, null, false).flips().high());
    }

    @Test
    void whereAllRowsAreTheSameNoneFlips() {
        assertEquals(new Estimate(0.0, 0.0, 0.0), flips(0, null, true).flips());
    }
}
