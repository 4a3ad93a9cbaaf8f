package io.plumbline.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FeatureMapTest {

    private static final int WIDTH = 24;
    private static final Matrix COLUMNS = random(40);

    private static Matrix random(int features) {
        Random random = new Random(features);
        Matrix columns = Matrix.zeros(features, WIDTH);
        for (int i = 0; i < features; i++) {
            for (int j = 0; j < WIDTH; j++) {
                columns.set(i, j, random.nextGaussian());
            }
        }
        return columns;
    }

    private static Decoder decoder(Matrix columns) {
        return new Decoder(columns, new double[columns.columns()]);
    }

    @Test
    void aDictionaryInAnotherOrderWithOtherLengthsIsFoundAgain() {
        Matrix other = Matrix.zeros(41, WIDTH);
        for (int i = 0; i < 40; i++) {
            for (int j = 0; j < WIDTH; j++) {
                other.set(40 - i, j, (0.5 + i) * COLUMNS.get(i, j));
            }
        }
        FeatureMap map = FeatureMap.between(decoder(COLUMNS), decoder(other));
        for (int i = 0; i < 40; i++) {
            assertEquals(40 - i, map.of(i).feature());
            assertEquals(1.0, map.of(i).cosine(), 1e-12);
            assertTrue(map.of(i).isSame());
        }
        FeatureMap.Nearest[] all = map.all();
        for (int i = 0; i < 40; i++) {
            assertEquals(map.of(i).feature(), all[i].feature());
            assertEquals(map.of(i).cosine(), all[i].cosine(), 1e-12);
        }
        assertEquals(
                0.0,
                FeatureMap.between(decoder(other), decoder(COLUMNS)).all()[0].cosine());
        FeatureMap.Nearest ofNothing =
                FeatureMap.between(decoder(other), decoder(COLUMNS)).of(0);
        assertEquals(0.0, ofNothing.cosine(), "a column of zeros has no direction");
        assertFalse(ofNothing.isSame());
    }

    @Test
    void theOppositeDirectionIsAnotherFeature() {
        Matrix other = Matrix.zeros(1, WIDTH);
        for (int j = 0; j < WIDTH; j++) {
            other.set(0, j, -COLUMNS.get(3, j));
        }
        assertEquals(
                -1.0, FeatureMap.between(decoder(COLUMNS), decoder(other)).of(3).cosine(), 1e-12);
    }

    @Test
    void decodersOfOtherDimensionsHaveNoMap() {
        Decoder narrow = decoder(Matrix.zeros(2, 3));
        assertThrows(IllegalArgumentException.class, () -> FeatureMap.between(decoder(COLUMNS), narrow));
    }
}
