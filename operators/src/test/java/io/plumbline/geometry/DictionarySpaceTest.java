package io.plumbline.geometry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests the twin of {@link ExplainerSubspace} where only the leading directions are wanted. */
class DictionarySpaceTest {

    private static final int DIMENSION = 320;

    @Test
    void theLeadingDirectionsAreThoseOfAllOfThem() {
        for (int rank : new int[] {1, 8, 40}) {
            Decoder decoder = decoder(900, rank, 0.9);
            Subspace leading = Objects.requireNonNull(DictionarySpace.of(decoder, rank));
            Subspace all = ExplainerSubspace.of(decoder, rank).subspace();
            double sine = all.residual(leading.basis()).frobeniusNorm();
            assertTrue(sine <= 1e-4, "rank %d: sine %s".formatted(rank, sine));
            assertEquals(rank, leading.rank());
        }
    }

    /** Tests directions whose squares lie below the rounding of the largest. */
    @Test
    void directionsThatSquaresCannotTellApartAreFoundAllTheSame() {
        int rank = 20;
        Decoder decoder = decoder(400, rank, 0.3);
        assertNull(DictionarySpace.of(DictionarySpace.gram(decoder.weights()), rank));
        Subspace leading = Objects.requireNonNull(DictionarySpace.of(decoder, rank));
        assertEquals(ExplainerSubspace.of(decoder, rank).subspace(), leading);
    }

    @Test
    void aDecoderOfTooSmallARankDeterminesNone() {
        Matrix weights = Matrix.zeros(500, DIMENSION);
        for (int j = 0; j < 500; j++) {
            weights.set(j, j % 3, 1.0 + j);
        }
        Decoder decoder = new Decoder(weights, new double[DIMENSION]);
        assertNull(DictionarySpace.of(decoder, 5));
        assertEquals(3, Objects.requireNonNull(DictionarySpace.of(decoder, 3)).rank());
        assertThrows(IllegalArgumentException.class, () -> DictionarySpace.of(decoder, 0));
        assertThrows(IllegalArgumentException.class, () -> DictionarySpace.of(decoder, DIMENSION + 1));
    }

    /** Returns random features whose coordinates shrink by {@code ratio} from one to the next. */
    private static Decoder decoder(int features, long seed, double ratio) {
        Random random = new Random(seed);
        Matrix weights = Matrix.zeros(features, DIMENSION);
        for (int i = 0; i < features; i++) {
            for (int j = 0; j < DIMENSION; j++) {
                weights.set(i, j, random.nextGaussian() * Math.pow(ratio, j));
            }
        }
        return new Decoder(weights, new double[DIMENSION]);
    }
}
