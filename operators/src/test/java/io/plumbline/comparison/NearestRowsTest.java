package io.plumbline.comparison;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NearestRowsTest {

    private static final int WIDTH = 32;

    private static Matrix draw(Random random, int rows, Matrix mean, double deviation) {
        Matrix drawn = mean.copy();
        for (int i = 0; i < rows * WIDTH; i++) {
            drawn.values()[i] += deviation * random.nextGaussian();
        }
        return drawn;
    }

    @Test
    void rowsWithNoiseAreNearestToTheirPartnersAndOtherRowsToNone() {
        Random random = new Random(41);
        NearestRows noisy = new NearestRows();
        NearestRows others = new NearestRows();
        for (int request = 0; request < 20; request++) {
            Matrix rows = draw(random, 8, Matrix.zeros(8, WIDTH), 1.0);
            noisy.add(rows, draw(random, 8, rows, 0.3));
            others.add(rows, draw(random, 8, Matrix.zeros(8, WIDTH), 1.0));
        }
        assertEquals(1.0, noisy.share());
        assertTrue(others.share() < 0.1, "share " + others.share());
    }

    @Test
    void equalRowsBeforeAreOneRow() {
        Random random = new Random(42);
        Matrix rows = draw(random, 3, Matrix.zeros(3, WIDTH), 1.0);
        NearestRows nearest = new NearestRows();
        for (int request = 0; request < 300; request++) {
            nearest.add(rows, draw(random, 3, rows, 0.1));
        }
        assertEquals(1.0, nearest.share());
    }

    @Test
    void halfOfTheRowsExchangedWithTheirNeighboursLeavesHalf() {
        Random random = new Random(43);
        NearestRows nearest = new NearestRows();
        for (int request = 0; request < 10; request++) {
            Matrix rows = draw(random, 4, Matrix.zeros(4, WIDTH), 1.0);
            Matrix exchanged = rows.copy();
            System.arraycopy(rows.values(), 0, exchanged.values(), WIDTH, WIDTH);
            System.arraycopy(rows.values(), WIDTH, exchanged.values(), 0, WIDTH);
            nearest.add(rows, exchanged);
        }
        assertEquals(0.5, nearest.share());
    }
}
