package io.plumbline.geometry;

import static io.plumbline.geometry.Instances.basis;
import static io.plumbline.geometry.Instances.subspace;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FaithfulnessGapTest {

    private static final int DIMENSION = 12;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 6, 7, 11, 12})
    void theGapIsTheDistanceOfTheProjectorsAndSymmetric(int rank) {
        Random random = new Random(rank);
        for (int trial = 0; trial < 50; trial++) {
            Subspace a = subspace(random, DIMENSION, rank);
            Subspace b = subspace(random, DIMENSION, rank);
            String where = "seed %d, trial %d".formatted(rank, trial);
            FaithfulnessGap gap = FaithfulnessGap.between(a, b);
            assertEquals(a.projector().minus(b.projector()).frobeniusNorm(), gap.value(), 1e-13, where);
            assertEquals(FaithfulnessGap.between(b, a).value(), gap.value(), 1e-14, where);
            assertTrue(gap.value() <= gap.largest() + 1e-14, where);
            assertTrue(gap.share() >= 0 && gap.share() <= 1, where);
            double cosines = Kernels.transposeMultiply(a.basis(), b.basis()).frobeniusNorm();
            assertEquals(cosines * cosines / rank, gap.overlap(), 1e-14, where);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 9})
    void theGapOfASubspaceWithItselfIsZeroInAnyBasis(int rank) {
        Random random = new Random(100 + rank);
        for (int trial = 0; trial < 50; trial++) {
            Subspace a = subspace(random, DIMENSION, rank);
            Subspace turned = new Subspace(Kernels.multiply(a.basis(), basis(random, rank, rank)));
            String where = "seed %d, trial %d".formatted(100 + rank, trial);
            assertEquals(0.0, FaithfulnessGap.between(a, turned).value(), 1e-14, where);
            assertTrue(a.projector().minus(turned.projector()).frobeniusNorm() < 1e-13, where);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {1e-3, 1e-6, 1e-10, 1e-13})
    void aTinyGapKeepsItsDigits(double angle) {
        Random random = new Random(7);
        Matrix frame = basis(random, DIMENSION, 5);
        Matrix tilted = frame.leadingColumns(4);
        for (int i = 0; i < DIMENSION; i++) {
            tilted.set(i, 0, Math.cos(angle) * frame.get(i, 0) + Math.sin(angle) * frame.get(i, 4));
        }
        double gap = FaithfulnessGap.between(new Subspace(frame.leadingColumns(4)), new Subspace(tilted))
                .value();
        double expected = Math.sqrt(2) * Math.sin(angle);
        // The entries of the basis carry an absolute rounding of 2^-53 each: that, and no more, is lost.
        assertEquals(expected, gap, 8 * 0x1p-53 + 1e-13 * expected, "angle " + angle);
    }

    @Test
    void aResidualHasNothingLeftInsideTheSubspace() {
        Random random = new Random(12);
        Subspace subspace = subspace(random, DIMENSION, 5);
        Matrix turned = Kernels.multiply(subspace.basis(), basis(random, 5, 5));
        double inside = Kernels.transposeMultiply(subspace.basis(), subspace.residual(turned))
                .frobeniusNorm();
        assertEquals(0.0, inside, 1e-29);
    }

    @Test
    void orthogonalSubspacesHaveTheLargestGap() {
        Matrix frame = basis(new Random(8), 6, 6);
        Matrix last = Matrix.zeros(6, 2);
        for (int i = 0; i < 6; i++) {
            last.set(i, 0, frame.get(i, 4));
            last.set(i, 1, frame.get(i, 5));
        }
        FaithfulnessGap gap = FaithfulnessGap.between(new Subspace(frame.leadingColumns(2)), new Subspace(last));
        assertEquals(2.0, gap.value(), 1e-14);
        assertEquals(1.0, gap.share(), 1e-14);
        assertEquals(0.0, gap.overlap(), 1e-14);
        assertEquals(1.5, gap.chanceNormalised().orElseThrow(), 1e-14);
    }

    @Test
    void randomSubspacesAreOneInUnitsOfChance() {
        Random random = new Random(9);
        double sum = 0.0;
        for (int trial = 0; trial < 400; trial++) {
            sum += FaithfulnessGap.between(subspace(random, 10, 3), subspace(random, 10, 3))
                    .chanceNormalised()
                    .orElseThrow();
        }
        assertEquals(1.0, sum / 400, 0.03, "seed 9");
    }

    @Test
    void atFullRankThereIsNoGapAndNoChance() {
        Random random = new Random(10);
        FaithfulnessGap gap = FaithfulnessGap.between(subspace(random, 5, 5), subspace(random, 5, 5));
        assertEquals(0.0, gap.value());
        assertEquals(0.0, gap.largest());
        assertEquals(0.0, gap.share());
        assertTrue(gap.chanceNormalised().isEmpty());
        assertEquals(1.0, gap.overlap());
    }

    @Test
    void subspacesThatCannotBeComparedAreRefused() {
        Random random = new Random(11);
        Subspace two = subspace(random, 5, 2);
        assertThrows(IllegalArgumentException.class, () -> FaithfulnessGap.between(two, subspace(random, 5, 3)));
        assertThrows(IllegalArgumentException.class, () -> FaithfulnessGap.between(two, subspace(random, 6, 2)));
        assertThrows(IllegalArgumentException.class, () -> new Subspace(Matrix.zeros(2, 3)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void theAnglesAreThoseTheGapIsMadeOf(long seed) {
        Random random = new Random(seed);
        Subspace a = subspace(random, DIMENSION, 5);
        Subspace b = subspace(random, DIMENSION, 5);
        double[] angles = PrincipalAngles.between(a, b);
        double[] sorted = angles.clone();
        Arrays.sort(sorted);
        assertEquals(Arrays.toString(sorted), Arrays.toString(angles), "seed " + seed);
        double squares = Arrays.stream(angles).map(Math::sin).map(x -> x * x).sum();
        assertEquals(FaithfulnessGap.between(a, b).value(), Math.sqrt(2 * squares), 1e-13, "seed " + seed);
    }

    @Test
    void smallAndRightAnglesAreBothExact() {
        double small = 1e-9;
        Matrix first = new Matrix(4, 2, new double[] {1, 0, 0, 1, 0, 0, 0, 0});
        Matrix second = new Matrix(4, 2, new double[] {Math.cos(small), 0, 0, 0, Math.sin(small), 0, 0, 1});
        double[] angles = PrincipalAngles.between(new Subspace(first), new Subspace(second));
        assertEquals(small, angles[0], 1e-24);
        assertEquals(Math.PI / 2, angles[1], 1e-15);
    }
}
