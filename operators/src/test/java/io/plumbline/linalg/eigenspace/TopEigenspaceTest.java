package io.plumbline.linalg.eigenspace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.OrthonormalRows;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.parallel.Cores;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares what it says of the leading eigenspace with the full decomposition. */
class TopEigenspaceTest {

    private static final double TOLERANCE = 1e-4;

    /** The rounding of a decomposition of the sizes below. */
    private static final double ROUNDING = 1e-11;

    private static double[] spectrum(String name, int d) {
        double[] values = new double[d];
        for (int i = 0; i < d; i++) {
            values[i] = switch (name) {
                case "power law" -> 1.0 / (i + 1);
                case "outliers" -> i < 3 ? 1e4 / (i + 1) : 1.0 / (i + 1);
                case "exponential" -> Math.exp(-0.5 * i);
                case "flat but for the leading" -> i < 12 ? 3.0 - 0.1 * i : 1.0;
                case "clusters" -> 4.0 / (1 + i / 6) + 1e-7 * (210 - i);
                case "low rank" -> i < 20 ? 20.0 - i : 0.0;
                default -> throw new IllegalArgumentException(name);
            };
        }
        return values;
    }

    @ParameterizedTest
    @ValueSource(strings = {"power law", "outliers", "exponential", "flat but for the leading", "clusters", "low rank"})
    void whatIsProvenHoldsAgainstTheFullDecomposition(String spectrum) {
        Random random = new Random(spectrum.length());
        int found = 0;
        for (int rank : new int[] {1, 2, 4, 5, 12, 17, 18, 24}) {
            int d = 150 + random.nextInt(60);
            Matrix moment = rotated(random, spectrum(spectrum, d));
            SymmetricEigen full = SymmetricEigen.of(moment);
            Matrix start =
                    random.nextBoolean() ? null : near(random, full.vectors().leadingColumns(rank));
            boolean krylov = rank % 2 == 0;
            Optional<TopEigenspace> result = TopEigenspace.of(moment, rank, start, TOLERANCE, krylov);
            if (result.isEmpty()) {
                continue;
            }
            found++;
            TopEigenspace top = result.get();
            String where = "%s, d = %d, rank %d, sine %s".formatted(spectrum, d, rank, top.sineBound());
            double scale = full.values()[0];
            for (int i = 0; i < d; i++) {
                assertTrue(top.atMost()[i] >= full.values()[i] - ROUNDING * scale, where + ", at most " + i);
                assertTrue(top.atLeast()[i] <= full.values()[i] + ROUNDING * scale, where + ", at least " + i);
            }
            for (int i = 0; i < rank; i++) {
                assertEquals(full.values()[i], top.values()[i], 1e-7 * full.values()[i] + ROUNDING * scale, where);
            }
            double defect = Kernels.transposeMultiply(top.vectors(), top.vectors())
                    .minus(Matrix.identity(rank))
                    .frobeniusNorm();
            assertEquals(0.0, defect, 1e-12, where);
            if (Double.isFinite(top.sineBound())) {
                assertTrue(top.sineBound() <= TOLERANCE, where);
                double sine = sine(full.vectors().leadingColumns(rank), top.vectors());
                assertTrue(sine <= top.sineBound(), where + ", true " + sine);
            } else {
                assertEquals(full.values()[rank - 1], full.values()[rank], 1e-9 * scale, where);
            }
        }
        assertTrue(found >= 6, "seed %d: %d of 8 ranks were decided".formatted(spectrum.length(), found));
    }

    /** Tests a start that lies in the span of the other eigenvectors, where an iteration without a proof would stay. */
    @Test
    void anEigenvectorThatTheStartIsOrthogonalToIsNotMissed() {
        int d = 200;
        double[] values = spectrum("power law", d);
        values[d - 1] = 0.9;
        Matrix moment = Matrix.zeros(d, d);
        Matrix start = Matrix.zeros(d, 24);
        for (int i = 0; i < d; i++) {
            moment.set(i, i, values[i]);
            if (i < 24) {
                start.set(i, i, 1.0);
            }
        }
        TopEigenspace top = TopEigenspace.of(moment, 3, start, TOLERANCE).orElseThrow();
        assertArrayEquals(new double[] {1.0, 0.9, 0.5}, Arrays.copyOf(top.values(), 3), 1e-8);
        assertEquals(1.0, Math.abs(top.vectors().get(d - 1, 1)), 1e-6);
    }

    /** An iteration on the matrix without it stands for one that did not see it. */
    @ParameterizedTest(name = "in float32: {0}")
    @ValueSource(booleans = {true, false})
    void anEigenvectorThatTheIterationDidNotSeeFailsTheProof(boolean single) {
        int d = 200;
        Matrix moment = Matrix.zeros(d, d);
        for (int i = 0; i < d - 1; i++) {
            moment.set(i, i, spectrum("power law", d)[i]);
        }
        BlockIteration iteration = BlockIteration.of(moment, 3, 24, null, moment.frobeniusNorm(), 1e-9, false);
        for (int step = 0; step < 10; step++) {
            iteration.step(1e-9);
        }
        double level = 0.3;
        assertTrue(
                EigenspaceProof.isBelow(moment, iteration, 3, level, single),
                "nothing but three known vectors is above");
        assertFalse(
                EigenspaceProof.isBelow(moment, iteration, 2, level, single), "the third eigenvalue, 1/3, is above");
        moment.set(d - 1, d - 1, 0.9);
        assertFalse(EigenspaceProof.isBelow(moment, iteration, 3, level, single), "0.9 is above, and nobody saw it");
    }

    /** Eigenvalue 6 is 0.1 % below the fifth and those after it are close, and what float32 leaves open is 0.3 %. */
    @Test
    void whatFloat32CannotTellIsLeftToFloat64() {
        int d = 300;
        double[] values = new double[d];
        for (int i = 0; i < d; i++) {
            values[i] = i < 4 ? 4.0 - 0.5 * i : i < 21 ? 1.0005 - 1e-4 * i : 0.01 / i;
        }
        values[4] = 1.001;
        TopEigenspace top = TopEigenspace.of(rotated(new Random(13), values), 5, null, TOLERANCE, true)
                .orElseThrow();
        assertTrue(top.sineBound() <= TOLERANCE, "sine " + top.sineBound());
        assertTrue(top.atMost()[5] >= 1.0 - ROUNDING && top.atMost()[5] < 1.001, "at most " + top.atMost()[5]);
    }

    @Test
    void aProofInFloat32ClaimsLessByTheShareOfTheTraceThatItLeavesOpen() {
        int d = 300;
        Matrix moment = rotated(new Random(15), spectrum("power law", d));
        double norm = moment.frobeniusNorm();
        BlockIteration found = BlockIteration.of(moment, 5, 24, null, norm, TOLERANCE, true);
        EigenspaceProof tight = EigenspaceProof.of(moment, found, 5, 1e-13, 2, false);
        EigenspaceProof wide = EigenspaceProof.of(moment, found, 5, 1e-13, 2, true);
        assertTrue(tight.isProven(moment, found) && wide.isProven(moment, found), "both are true");
        double trace = d * wide.level() - moment.trace();
        for (int i = 0; i < wide.known(); i++) {
            trace += found.values()[i];
        }
        int first = wide.known();
        double wider = wide.atMost()[first] - tight.atMost()[first];
        assertEquals(FloatCholesky.share(d) * trace, wider, 1e-3 * wider);
        assertTrue(wider > 0.0, "wider by " + wider);
    }

    /** Eigenvalues 48 and 49 are 2e-11 apart: rounding of the vectors turns their space by more than the tolerance. */
    @Test
    void whatNoProofCanTellApartIsSoonGivenUp() {
        Matrix moment = rotated(new Random(16), spectrum("exponential", 320));
        long given = Long.MAX_VALUE;
        long full = Long.MAX_VALUE;
        for (int turn = 0; turn < 4; turn++) {
            long begin = cpuNanos();
            assertFalse(TopEigenspace.of(moment, 48, null, TOLERANCE, true).isPresent(), "it was proven");
            long between = cpuNanos();
            assertEquals(1.0, SymmetricEigen.of(moment).values()[0], ROUNDING);
            given = Math.min(given, between - begin);
            full = Math.min(full, cpuNanos() - between);
        }
        assertTrue(given < 8 * full, "given up after %d ns, a full decomposition takes %d".formatted(given, full));
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    @Test
    void theScaleOfAMomentChangesNothing() {
        Matrix moment = rotated(new Random(14), spectrum("outliers", 320));
        TopEigenspace usual = TopEigenspace.of(moment, 8, null, TOLERANCE).orElseThrow();
        for (double scale : new double[] {1e-150, 1e150}) {
            Matrix scaled = moment.copy();
            for (int i = 0; i < scaled.values().length; i++) {
                scaled.values()[i] *= scale;
            }
            TopEigenspace top = TopEigenspace.of(scaled, 8, null, TOLERANCE).orElseThrow();
            assertEquals(0.0, sine(usual.vectors(), top.vectors()), usual.sineBound(), "times " + scale);
            for (int i = 0; i < 320; i++) {
                assertEquals(usual.atMost()[i], top.atMost()[i] / scale, 1e-5 * usual.atMost()[i], "times " + scale);
            }
        }
    }

    @Test
    void repeatedEigenvaluesAtTheRankLeaveTheSpaceOpenAndTheValuesKnown() {
        double[] values = spectrum("power law", 180);
        values[8] = values[9];
        Matrix moment = rotated(new Random(5), values);
        Optional<TopEigenspace> top = TopEigenspace.of(moment, 9, null, TOLERANCE);
        top.ifPresent(found -> assertTrue(found.sineBound() > 1.0, "sine " + found.sineBound()));
        assertTrue(TopEigenspace.of(moment, 8, null, TOLERANCE).isPresent());
        assertTrue(TopEigenspace.of(moment, 10, null, TOLERANCE).isPresent());
    }

    /** Windows after a crash are compared bit for bit. */
    @Test
    void theSameMatrixAndStartGiveTheSameBits() {
        Random random = new Random(9);
        Matrix moment = rotated(random, spectrum("power law", 170));
        Matrix start = gaussian(random, 170, 10);
        TopEigenspace once = TopEigenspace.of(moment, 10, start, TOLERANCE).orElseThrow();
        TopEigenspace.of(rotated(random, spectrum("outliers", 170)), 10, null, TOLERANCE);
        TopEigenspace again =
                TopEigenspace.of(moment.copy(), 10, start, TOLERANCE).orElseThrow();
        assertArrayEquals(once.values(), again.values(), 0.0);
        assertEquals(once.vectors(), again.vectors());
    }

    @Test
    void aStartNearTheAnswerLeavesASmallerAngleAfterNoMoreProducts() {
        Random random = new Random(3);
        Matrix moment = rotated(random, spectrum("power law", 400));
        TopEigenspace cold = TopEigenspace.of(moment, 16, null, TOLERANCE, true).orElseThrow();
        TopEigenspace warm =
                TopEigenspace.of(moment, 16, cold.vectors(), TOLERANCE, true).orElseThrow();
        assertTrue(warm.products() <= cold.products(), warm.products() + " and " + cold.products());
        assertTrue(warm.sineBound() < 0.7 * cold.sineBound(), warm.sineBound() + " and " + cold.sineBound());
    }

    @Test
    void aKrylovSpaceSavesProducts() {
        Matrix moment = rotated(new Random(3), spectrum("power law", 400));
        TopEigenspace top = TopEigenspace.of(moment, 16, null, TOLERANCE, true).orElseThrow();
        TopEigenspace filtered =
                TopEigenspace.of(moment, 16, null, TOLERANCE, false).orElseThrow();
        assertTrue(top.products() < 0.8 * filtered.products(), top.products() + " and " + filtered.products());
        Matrix images = Kernels.multiply(moment, top.vectors());
        for (int i = 0; i < 400; i++) {
            for (int j = 0; j < 16; j++) {
                double residual =
                        images.get(i, j) - top.values()[j] * top.vectors().get(i, j);
                assertEquals(residual, top.residual().get(i, j), 1e-13, "what was combined is not what M makes of it");
            }
        }
    }

    @Test
    void theNumberOfThreadsDoesNotChangeABit() {
        Matrix moment = rotated(new Random(6), spectrum("outliers", 500));
        TopEigenspace together = TopEigenspace.of(moment, 12, null, TOLERANCE).orElseThrow();
        String before = System.getProperty(Cores.PROPERTY);
        System.setProperty(Cores.PROPERTY, "1");
        try {
            TopEigenspace alone = TopEigenspace.of(moment, 12, null, TOLERANCE).orElseThrow();
            assertArrayEquals(together.values(), alone.values(), 0.0);
            assertEquals(together.vectors(), alone.vectors());
        } finally {
            if (before == null) {
                System.clearProperty(Cores.PROPERTY);
            } else {
                System.setProperty(Cores.PROPERTY, before);
            }
        }
    }

    @Test
    void aMatrixOfZerosAndABlockAsWideAsTheSpaceAreLeftToTheFullDecomposition() {
        assertFalse(TopEigenspace.of(Matrix.zeros(100, 100), 3, null, TOLERANCE).isPresent());
        assertFalse(TopEigenspace.of(Matrix.identity(20), 3, null, TOLERANCE).isPresent());
        assertThrows(IllegalArgumentException.class, () -> TopEigenspace.of(Matrix.identity(20), 20, null, TOLERANCE));
        assertThrows(IllegalArgumentException.class, () -> TopEigenspace.of(Matrix.identity(20), 0, null, TOLERANCE));
        assertThrows(IllegalArgumentException.class, () -> TopEigenspace.of(Matrix.zeros(3, 4), 1, null, TOLERANCE));
    }

    @Test
    void dependentRowsAreReplacedAndTheBasisStaysOrthonormal() {
        Random random = new Random(11);
        Matrix rows = gaussian(random, 8, 60);
        System.arraycopy(rows.values(), 0, rows.values(), 3 * 60, 60);
        Arrays.fill(rows.values(), 5 * 60, 6 * 60, 0.0);
        Matrix fixed = OrthonormalRows.of(gaussian(random, 4, 60), Matrix.zeros(0, 60), random);
        Matrix basis = OrthonormalRows.of(rows, fixed, random);
        Matrix gram = Kernels.multiplyTranspose(basis, basis);
        assertEquals(0.0, gram.minus(Matrix.identity(8)).frobeniusNorm(), 1e-13);
        assertEquals(0.0, Kernels.multiplyTranspose(basis, fixed).frobeniusNorm(), 1e-13);
    }

    /** Returns {@code ||(I - A A^T) B||_F}. */
    private static double sine(Matrix a, Matrix b) {
        return b.minus(Kernels.multiply(a, Kernels.transposeMultiply(a, b))).frobeniusNorm();
    }

    private static Matrix near(Random random, Matrix basis) {
        return basis.plus(0.01, gaussian(random, basis.rows(), basis.columns()));
    }

    private static Matrix rotated(Random random, double[] values) {
        int d = values.length;
        Matrix basis = OrthonormalRows.of(gaussian(random, d, d), Matrix.zeros(0, d), random);
        Matrix scaled = basis.copy();
        for (int i = 0; i < d * d; i++) {
            scaled.values()[i] *= values[i / d];
        }
        return Kernels.transposeMultiply(basis, scaled);
    }

    private static Matrix gaussian(Random random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextGaussian();
        }
        return matrix;
    }
}
