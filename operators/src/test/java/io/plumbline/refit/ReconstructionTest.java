package io.plumbline.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import org.junit.jupiter.api.Test;

class ReconstructionTest {

    private static final int DIMENSION = 9;

    @Test
    void reconstructionOfTheMeanExplainsNothingAndAPerfectOneEverything() {
        Problem problem = Problem.random(6, 30, 10, DIMENSION);
        double[] mean = SparseProducts.columnMeans(problem.targets());
        Decoder onlyMean = new Decoder(Matrix.zeros(10, DIMENSION), mean);
        assertEquals(
                1.0,
                Reconstruction.of(onlyMean, problem.codes(), problem.targets()).fvu(),
                1e-12);
        Matrix own = problem.trained().reconstruct(problem.codes());
        assertEquals(
                0.0, Reconstruction.of(problem.trained(), problem.codes(), own).fvu(), 1e-25);
    }
}
