package io.plumbline.geometry;

import static io.plumbline.geometry.Instances.diagonal;
import static io.plumbline.geometry.Instances.disturbed;
import static io.plumbline.geometry.Instances.moment;
import static io.plumbline.geometry.Instances.subspace;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Objects;
import java.util.Random;
import org.apache.commons.math3.analysis.UnivariateFunction;
import org.apache.commons.math3.analysis.solvers.BisectionSolver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoundLawsTest {

    /**
     * The rounding that is let pass: gaps are right to about 1e-14 relative to eigengap / norm, which the instances
     * keep above 1e-4.
     */
    private static final double ROUNDING = 1e-9;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void noValidBoundIsEverBelowTheGap(long seed) {
        Random random = new Random(seed);
        int certified = 0;
        int compared = 0;
        for (int trial = 0; trial < 400; trial++) {
            int dimension = 2 + random.nextInt(8);
            int rank = 1 + random.nextInt(dimension - 1);
            Matrix before = moment(random, dimension);
            Matrix after = random.nextInt(4) == 0 ? moment(random, dimension) : disturbed(random, before);
            ActiveSubspace baseline = ActiveSubspace.topEigenspace(before, rank);
            ActiveSubspace window = ActiveSubspace.topEigenspace(after, rank);
            if (!clear(baseline) || !clear(window)) {
                continue;
            }
            compared++;
            double gap = FaithfulnessGap.between(baseline.subspace(), window.subspace())
                    .value();
            DavisKahanBounds bounds = DavisKahanBounds.of(baseline, window);
            String where = "seed %d, trial %d, gap %s, %s".formatted(seed, trial, gap, bounds);
            assertBounds(gap, bounds.valid(), where);
            assertBounds(gap, bounds.waterFilling(), where);
            if (bounds.bothSpectra() != null) {
                assertBounds(gap, bounds.bothSpectra(), where);
            }
            if (bounds.certified()) {
                certified++;
                assertBounds(gap, bounds.asPrinted(), where);
            }
            assertTrue(bounds.waterFilling().value() <= FaithfulnessGap.largest(rank, dimension), where);
            ClassicalBounds classical = ClassicalBounds.of(baseline, window, after.minus(before));
            for (Double bound : new Double[] {classical.yuWangSamworth(), classical.weyl(), classical.mixedGap()}) {
                assertTrue(bound == null || gap <= bound * (1 + ROUNDING), where + classical);
            }
            double excess = EnergyTerms.of(baseline.subspace(), window).explainerDependent();
            assertTrue(excess <= Objects.requireNonNull(classical.excessSharp()) * (1 + ROUNDING), where + classical);
        }
        assertTrue(
                certified > 20 && compared > 100, "seed %d: %d certified of %d".formatted(seed, certified, compared));
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14})
    void theGapToAnyProjectorLiesBetweenItsTwoBounds(long seed) {
        Random random = new Random(seed);
        for (int trial = 0; trial < 400; trial++) {
            int dimension = 2 + random.nextInt(8);
            int rank = 1 + random.nextInt(dimension);
            Matrix moment = moment(random, dimension);
            ActiveSubspace window = ActiveSubspace.topEigenspace(moment, rank);
            if (!clear(window)) {
                continue;
            }
            Subspace reference = random.nextBoolean()
                    ? subspace(random, dimension, rank)
                    : ActiveSubspace.topEigenspace(disturbed(random, moment), rank)
                            .subspace();
            double gap = FaithfulnessGap.between(reference, window.subspace()).value();
            EnergyTerms energy = EnergyTerms.of(reference, window);
            FaithfulnessGapBounds bounds = FaithfulnessGapBounds.of(window, energy);
            String where = "seed %d, trial %d, gap %s, %s, %s".formatted(seed, trial, gap, bounds, energy);
            assertTrue(bounds.lower() <= gap * (1 + ROUNDING) + 1e-12, where);
            assertTrue(gap <= bounds.upper() * (1 + ROUNDING) + 1e-12, where);
            assertTrue(energy.lower() <= energy.explainerDependent() * (1 + ROUNDING) + 1e-15, where);
            assertTrue(energy.explainerDependent() <= energy.upper() * (1 + ROUNDING) + 1e-15, where);
            assertTrue(energy.irreducible() >= 0.0, where);
            assertTrue(energy.irreducible() <= energy.adaptedLossBound() + 1e-12, where);
            Matrix outside = Matrix.identity(dimension).minus(reference.projector());
            double direct = Kernels.multiply(outside, moment).trace();
            assertEquals(direct, energy.total(), 1e-12 * moment.trace() + 1e-15, where);
        }
    }

    /** The paper's Proposition 1 fails here: every direction turns by 90 degrees, and its number says 1.001. */
    @Test
    void thePrintedNumberIsNotABoundAndIsNotCertifiedAsOne() {
        Matrix before = diagonal(1, 0);
        Matrix after = diagonal(.499, .5);
        ActiveSubspace baseline = ActiveSubspace.topEigenspace(before, 1);
        ActiveSubspace window = ActiveSubspace.topEigenspace(after, 1);
        double gap =
                FaithfulnessGap.between(baseline.subspace(), window.subspace()).value();
        DavisKahanBounds bounds = DavisKahanBounds.of(baseline, window);
        assertEquals(Math.sqrt(2), gap, 1e-15);
        GapBound printed = Objects.requireNonNull(bounds.asPrinted());
        assertEquals(1.001, printed.value(), 1e-3);
        assertTrue(printed.value() < gap);
        assertFalse(printed.vacuous());
        assertFalse(bounds.certified());
        GapBound valid = Objects.requireNonNull(bounds.valid());
        assertTrue(valid.value() >= gap);
        assertTrue(valid.vacuous());
        assertEquals(Math.sqrt(2), bounds.waterFilling().value(), 1e-12);
        assertTrue(bounds.waterFilling().vacuous(), "a bound equal to the largest gap says nothing");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.1, 1e-3, 1e-6})
    void theValidBoundIsSharp(double epsilon) {
        // M_OOD = diag(.5 - e, .5 + e): the shift shrinks to half of what turns everything, and the bound to √2.
        Matrix before = diagonal(1, 0);
        Matrix after = diagonal(.5 - epsilon, .5 + epsilon);
        DavisKahanBounds bounds =
                DavisKahanBounds.of(ActiveSubspace.topEigenspace(before, 1), ActiveSubspace.topEigenspace(after, 1));
        assertEquals(
                Math.sqrt(2) * (1 + 2 * epsilon),
                Objects.requireNonNull(bounds.valid()).value(),
                1e-12);
    }

    @Test
    void withoutAnEigengapOnlyTheBoundsThatNeedNoneRemain() {
        Matrix repeated = diagonal(3, 1, 1, 0.5);
        Matrix after = diagonal(3, 1.4, 1, 0.5);
        DavisKahanBounds bounds =
                DavisKahanBounds.of(ActiveSubspace.topEigenspace(repeated, 2), ActiveSubspace.topEigenspace(after, 2));
        assertNull(bounds.asPrinted());
        assertNull(bounds.valid());
        assertFalse(bounds.certified());
        assertEquals(
                Math.sqrt(2) * 0.4 / 0.4,
                Objects.requireNonNull(bounds.bothSpectra()).value(),
                1e-12);
    }

    @Test
    void withoutAShiftEveryBoundIsZero() {
        Matrix moment = diagonal(3, 2, 1);
        ActiveSubspace active = ActiveSubspace.topEigenspace(moment, 1);
        DavisKahanBounds bounds = DavisKahanBounds.of(active, active);
        assertEquals(new GapBound(0.0, false), bounds.asPrinted());
        assertEquals(new GapBound(0.0, false), bounds.valid());
        assertEquals(new GapBound(0.0, false), bounds.bothSpectra());
        assertEquals(new GapBound(0.0, false), bounds.waterFilling());
        assertTrue(bounds.certified());
    }

    @Test
    void aMultipleOfTheIdentityDoesNotRaiseTheWaterFillingBound() {
        Matrix before = diagonal(3, 2, 1);
        Matrix after = diagonal(8, 7, 6);
        DavisKahanBounds bounds =
                DavisKahanBounds.of(ActiveSubspace.topEigenspace(before, 1), ActiveSubspace.topEigenspace(after, 1));
        assertEquals(0.0, bounds.waterFilling().value(), 1e-12);
        assertTrue(Objects.requireNonNull(bounds.valid()).vacuous());
    }

    /** Compares the closed forms with a general solver on the definition. */
    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23})
    void waterFillingSolvesItsDefinition(long seed) {
        Random random = new Random(seed);
        for (int trial = 0; trial < 100; trial++) {
            int dimension = 3 + random.nextInt(8);
            int rank = 1 + random.nextInt(dimension - 1);
            int pairs = Math.min(rank, dimension - rank);
            double[] values = random.doubles(dimension).sorted().toArray();
            for (int i = 0; i < dimension / 2; i++) {
                double swap = values[i];
                values[i] = values[dimension - 1 - i];
                values[dimension - 1 - i] = swap;
            }
            ExchangeCosts costs = ExchangeCosts.cheapestFirst(values, rank);
            double slope = random.nextDouble();
            UnivariateFunction distance = s -> cost(values, rank, s) - slope * Math.sqrt(s);
            double solved = distance.value(pairs) <= 0
                    ? pairs
                    : new BisectionSolver(1e-13, 1e-13).solve(10_000, distance, firstNegative(distance, pairs), pairs);
            String where = "seed %d, trial %d".formatted(seed, trial);
            assertEquals(solved, costs.largestBelowRoot(slope), 1e-9, where);
            double energy = random.nextDouble() * cost(values, rank, pairs);
            double exchanged = costs.largestExchange(energy);
            assertEquals(energy, cost(values, rank, exchanged), 1e-12, where);
        }
    }

    @Test
    void anExchangeThatCostsNothingIsNotCountedIntoTheLowerBound() {
        // Trading 2 for 0 explains all of the energy; the excess beyond it is rounding, and the next trade is free.
        ExchangeCosts costs = ExchangeCosts.dearestFirst(new double[] {2, 1, 1, 0}, new double[] {2, 1, 1, 0}, 2);
        assertEquals(1.0, costs.smallestExchange(2.0 + 1e-15));
        assertEquals(0.5, costs.smallestExchange(1.0));
    }

    private static double firstNegative(UnivariateFunction function, double from) {
        double at = from;
        while (function.value(at) > 0) {
            at *= 0.5;
        }
        return at;
    }

    /** Returns {@code ∫₀^S (λ_{r−⌊t⌋} − λ_{r+1+⌊t⌋}) dt}, term by term. */
    private static double cost(double[] values, int rank, double exchanged) {
        double sum = 0.0;
        for (int j = 0; j < exchanged; j++) {
            sum += Math.min(1.0, exchanged - j) * (values[rank - 1 - j] - values[rank + j]);
        }
        return sum;
    }

    private static boolean clear(ActiveSubspace subspace) {
        return subspace.eigengap().orElse(1.0) > 1e-4 * subspace.eigenvalues()[0] && subspace.eigenvalues()[0] > 0;
    }

    private static void assertBounds(double gap, @Nullable GapBound bound, String where) {
        assertTrue(gap <= Objects.requireNonNull(bound).value() * (1 + ROUNDING) + 1e-11, where);
    }
}
