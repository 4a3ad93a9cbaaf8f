package io.plumbline.geometry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Weights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A dictionary as wide as those whose directions take minutes, with few features. */
class ExplainerSubspaceTest {

    private static final int D = ExplainerSubspace.WIDE;
    private static final int FEATURES = 1_500;
    private static final int RANK = 6;
    private static final Decoder WIDE = decoder();

    private static final ExplainerSubspace ALL =
            ExplainerSubspace.of(ExplainerSubspace.completeOf(WIDE.weights()), RANK);

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
        long bytes = Files.size(folder.resolve(SubspaceCache.FILE));
        assertTrue(bytes < 8L * D * (RANK + 8), "a file of " + bytes + " bytes");
        log.clear();
        ExplainerSubspace read = kept(RANK);
        assertEquals(List.of(), log);
        assertEquals(made.subspace().basis(), read.subspace().basis());
        assertEquals(made.sineBound(), read.sineBound());
        assertEquals(made.singularValue(RANK + 1), read.singularValue(RANK + 1));
        kept(RANK + 1);
        assertTrue(log.get(0).contains("has shape [1024, 6], expected [1024, 7]"), log::toString);
    }

    @Test
    void allDirectionsTakeThePlaceOfTheLeadingOnesInTheFile() {
        assertEquals(ALL.leftVectors(), kept(RANK).leftVectors());
        log.clear();
        ExplainerSubspace read = kept(RANK + 1);
        assertEquals(List.of(), log);
        assertTrue(read.isComplete());
        assertArrayEquals(ALL.singularValues(), read.singularValues());
    }

    private ExplainerSubspace kept(int rank) {
        return SubspaceCache.kept(folder.resolve(SubspaceCache.FILE), WIDE, WIDE.sha256(), rank, log::add);
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
