package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RivalsTest {

    @Test
    void aggregatesOfTheDslAreTheMomentsOfThePipeline() {
        int d = 24;
        Matrix rows = ActivationsTopic.gaussian(5, 64, d);
        // Integers: any order of summation gives the same bits.
        Arrays.setAll(rows.values(), i -> Math.rint(10 * rows.values()[i]));
        double[] expected = SecondMomentAccumulator.ofDimension(d).add(rows).state();
        double[] plain = new double[expected.length];
        Rivals.plainLoops(rows, plain);
        assertArrayEquals(expected, plain);
        double[] ours = new double[expected.length];
        Rivals.ourKernel(rows, ours);
        assertArrayEquals(expected, ours);
    }
}
