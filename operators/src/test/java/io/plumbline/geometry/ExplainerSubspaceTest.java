package io.plumbline.geometry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace.Leading;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A dictionary as wide as those whose directions take minutes, with few features. */
class ExplainerSubspaceTest {

    private static final int D = ExplainerSubspace.WIDE;
    private static final int FEATURES = 1_500;
    private static final int RANK = 6;
    private static final Decoder WIDE = decoder();

    private static final ExplainerSubspace ALL =
            ExplainerSubspace.of(ExplainerSubspace.completeOf(WIDE.weights()), RANK);

    private static final Matrix ROWS = WIDE.weights().toMatrix();

    private final List<String> log = new ArrayList<>();

    @TempDir
    Path folder;

    private static Decoder decoder() {
        SplittableRandom random = new SplittableRandom(3);
        float[] weights = new float[FEATURES * D];
        for (int i = 0; i < weights.length; i++) {
            int column = i % D;
            double scale = column < 2 * RANK ? 12.0 - 0.5 * column : 1.0;
            weights[i] = (float) (scale * random.nextDouble(-1.0, 1.0));
        }
        return new Decoder(Weights.ofFloats(FEATURES, D, weights), new double[D]);
    }

    @Test
    void theLeadingDirectionsOfAWideDictionaryAreFoundWithoutTheOthers() {
        ExplainerSubspace leading = ExplainerSubspace.of(WIDE, RANK);
        assertFalse(leading.isComplete());
        assertTrue(leading.isIdentified());
        assertEquals(RANK, leading.decoderRank());
        assertTrue(leading.sineBound() > 0.0 && leading.sineBound() <= 1e-4, "sine " + leading.sineBound());
        assertAsAll(leading);
        assertFalse(leading.isComplete(), "nobody asked for all of them");
    }

    @Test
    void anotherRankIsFoundOnceAndWithinItsOwnBound() {
        ExplainerSubspace leading = ExplainerSubspace.of(WIDE, RANK);
        ExplainerSubspace other = leading.ofRank(RANK - 2);
        assertEquals(RANK - 2, other.rank());
        assertFalse(other.isComplete());
        assertAsAll(other);
        assertSame(other, leading.ofRank(RANK - 2), "found once more");
        assertThrows(IllegalArgumentException.class, () -> leading.ofRank(D + 1));
    }

    @Test
    void whoAsksForAllDirectionsGetsThemToRounding() {
        ExplainerSubspace leading = ExplainerSubspace.of(WIDE, RANK);
        assertArrayEquals(ALL.singularValues(), leading.singularValues());
        assertEquals(ALL.leftVectors(), leading.leftVectors());
        assertEquals(0.0, leading.ofRank(D / 2).sineBound());
    }

    @Test
    void whatIsKeptOfAWideDictionaryIsReadAgainToTheLastBit() throws IOException {
        ExplainerSubspace made = kept(RANK);
        assertTrue(log.get(0).contains("computing the 6 leading directions of 1500 features"), log::toString);
        long bytes = Files.size(SubspaceCache.fileOf(folder, RANK));
        assertTrue(bytes < 8L * D * (RANK + 8), "a file of " + bytes + " bytes");
        log.clear();
        ExplainerSubspace read = kept(RANK);
        assertEquals(List.of(), log);
        assertEquals(made.subspace().basis(), read.subspace().basis());
        assertEquals(made.sineBound(), read.sineBound());
        assertEquals(made.singularValue(RANK + 1), read.singularValue(RANK + 1));
    }

    @Test
    void sitesOfTwoRanksKeepAFileEach() {
        ExplainerSubspace narrow = kept(RANK);
        ExplainerSubspace wide = kept(RANK + 1);
        log.clear();
        assertEquals(narrow.subspace().basis(), kept(RANK).subspace().basis());
        assertEquals(wide.subspace().basis(), kept(RANK + 1).subspace().basis());
        assertEquals(List.of(), log);
    }

    @Test
    void allDirectionsAreKeptBesideTheLeadingOnesAndReadWhereTheyAreAskedFor() {
        ExplainerSubspace made = kept(RANK);
        assertEquals(ALL.leftVectors(), made.leftVectors());
        log.clear();
        ExplainerSubspace read = kept(RANK);
        assertFalse(read.isComplete(), "a site that is watched does not hold them");
        assertEquals(made.subspace().basis(), read.subspace().basis());
        assertArrayEquals(ALL.singularValues(), read.singularValues());
        assertEquals(List.of(), log);
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.POSITIVE_INFINITY, Double.NaN, 0.5, 9.9e-5})
    void anotherBoundThanTheOneThatWasKeptIsRefused(double bound) throws IOException {
        ExplainerSubspace made = kept(RANK);
        Path file = SubspaceCache.fileOf(folder, RANK);
        byte[] whole = Files.readAllBytes(file);
        try (Safetensors opened = Safetensors.open(file)) {
            SafetensorsWriter damaged = SafetensorsWriter.create();
            opened.metadata().forEach(damaged::metadata);
            damaged.metadata("sine_bound", Double.toString(bound))
                    .addVector(
                            "singular_values",
                            DType.F64,
                            opened.tensor("singular_values").toDoubles())
                    .add(
                            "left_vectors",
                            DType.F64,
                            opened.tensor("left_vectors").toMatrix())
                    .writeTo(folder.resolve("damaged"));
        }
        Files.move(folder.resolve("damaged"), file, StandardCopyOption.REPLACE_EXISTING);
        log.clear();
        assertEquals(made.sineBound(), kept(RANK).sineBound());
        assertTrue(log.get(0).contains("is made anew: its numbers are not those that were written"), log::toString);
        assertArrayEquals(whole, Files.readAllBytes(file));
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.POSITIVE_INFINITY, Double.NaN, 0.5, 1.1e-4, 0.0})
    void leadingDirectionsThatMayBeOffByMoreAreNone(double bound) {
        Matrix basis = Matrix.identity(3).leadingColumns(1);
        assertThrows(IllegalArgumentException.class, () -> new Leading(new double[] {2.0, 1.0}, basis, bound));
    }

    /** Tests a dictionary of two directions, whose gap is as narrow as the rounding of its matrix is wide or less. */
    @Test
    void theRoundingOfTheMatrixCountsInTheBound() {
        Matrix gram = Matrix.zeros(D, D);
        gram.set(0, 0, 1.0);
        gram.set(1, 1, 0.5);
        double exact = Leading.of(gram, 0.0, 1).sineBound();
        assertEquals(exact + 1e-5 / (0.5 - 1e-5), Leading.of(gram, 1e-5, 1).sineBound(), 1e-8);
        assertNull(Leading.of(gram, 1e-4, 1), "off by up to 2e-4");
        assertNull(Leading.of(gram, 1.0, 1), "the error may close the gap");
    }

    @Test
    void theRoundingOfTheMatrixIsBoundedByWhatItIs() {
        Matrix gram = DictionarySpace.gram(WIDE.weights());
        double off = 0.0;
        for (int i = 0; i < D; i += 16) {
            for (int j = 0; j < D; j += 16) {
                double error = gram.get(i, j) - product(i, j);
                off += 256.0 * error * error;
            }
        }
        double bound = DictionarySpace.roundingOf(gram, FEATURES);
        assertTrue(off > 0.0 && Math.sqrt(off) <= bound, "%s, bound %s".formatted(Math.sqrt(off), bound));
        assertTrue(bound <= 1e-12 * gram.trace(), "bound " + bound);
    }

    @Test
    void nobodyWaitsToHearWhetherAllDirectionsAreThere() {
        CountDownLatch go = new CountDownLatch(1);
        Leading leading = ExplainerSubspace.leadingOf(WIDE.weights(), RANK);
        ExplainerSubspace subspace = ExplainerSubspace.of(leading, any -> leading, () -> {
            awaited(go);
            return new ExplainerSubspace.Complete(ALL.singularValues(), ALL.leftVectors(), FEATURES);
        });
        subspace.begin();
        subspace.begin();
        assertFalse(assertTimeoutPreemptively(Duration.ofSeconds(10), subspace::isComplete));
        assertSame(subspace, subspace.ofRank(RANK));
        go.countDown();
        assertEquals(ALL.leftVectors(), subspace.leftVectors());
        assertTrue(subspace.isComplete());
        assertEquals(ALL.subspace(), subspace.exact(RANK).subspace());
    }

    @Test
    void whyDirectionsCannotBeComputedIsToldToWhoeverTakesThem() throws InterruptedException {
        Leading leading = ExplainerSubspace.leadingOf(WIDE.weights(), RANK);
        ExplainerSubspace subspace = ExplainerSubspace.of(leading, any -> leading, () -> {
            throw new ArithmeticException("it does not converge");
        });
        subspace.begin();
        while (!subspace.isComplete()) {
            Thread.sleep(1);
        }
        ArithmeticException told = assertThrows(ArithmeticException.class, subspace::leftVectors);
        assertEquals("it does not converge", told.getMessage());
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns an entry of {@code W W^T}, rounded once. */
    private static double product(int i, int j) {
        BigDecimal sum = BigDecimal.ZERO;
        for (int row = 0; row < ROWS.rows(); row++) {
            sum = sum.add(new BigDecimal(ROWS.get(row, i)).multiply(new BigDecimal(ROWS.get(row, j))));
        }
        return sum.doubleValue();
    }

    private ExplainerSubspace kept(int rank) {
        return SubspaceCache.kept(folder, WIDE, WIDE.sha256(), rank, log::add);
    }

    private static void assertAsAll(ExplainerSubspace leading) {
        double apart = FaithfulnessGap.between(
                        leading.subspace(), ALL.ofRank(leading.rank()).subspace())
                .value();
        assertTrue(apart <= Math.sqrt(2.0) * leading.sineBound(), "%s apart".formatted(apart));
        double[] values = ALL.singularValues();
        for (int i = 1; i <= leading.rank() + 1; i++) {
            assertEquals(values[i - 1], leading.singularValue(i), 1e-8 * values[0], "value " + i);
        }
    }
}
