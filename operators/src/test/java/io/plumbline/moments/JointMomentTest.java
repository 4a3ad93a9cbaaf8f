package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.linalg.Matrix;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JointMomentTest {

    private static final int ROWS = 200;
    private static final int WIDTH = 5;

    @Test
    void momentsErrorAndFvuAreThoseOfTheHalves() {
        Random random = new Random(1);
        Matrix targets = Matrix.zeros(ROWS, WIDTH);
        Matrix reconstructions = Matrix.zeros(ROWS, WIDTH);
        Matrix joint = Matrix.zeros(ROWS, 2 * WIDTH);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                targets.set(i, j, 3.0 + j * random.nextGaussian());
                reconstructions.set(i, j, targets.get(i, j) + 0.1 * random.nextGaussian());
                joint.set(i, j, targets.get(i, j));
                joint.set(i, WIDTH + j, targets.get(i, j) - reconstructions.get(i, j));
            }
        }
        JointMoment taken = JointMoment.of(SecondMoment.of(joint));
        assertArrayEquals(SecondMoment.of(targets).state(), taken.targets().state(), 1e-9);
        assertEquals(ROWS, taken.targets().rows());
        assertArrayEquals(
                SecondMoment.of(reconstructions).matrix().values(),
                taken.reconstructions().values(),
                1e-12);
        double[] mean = taken.targets().mean();
        double error = 0.0;
        double spread = 0.0;
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                error += Math.pow(targets.get(i, j) - reconstructions.get(i, j), 2);
                spread += Math.pow(targets.get(i, j) - mean[j], 2);
            }
        }
        assertEquals(error / ROWS, taken.errorEnergy(), 1e-11);
        assertEquals(error / spread, taken.fvu(), 1e-11);
    }

    @Test
    void rowsThatCannotBeHalvedAreRefused() {
        SecondMoment odd = SecondMoment.of(Matrix.zeros(2, 3));
        assertThrows(IllegalArgumentException.class, () -> JointMoment.of(odd));
    }
}
