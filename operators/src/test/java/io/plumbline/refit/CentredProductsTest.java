package io.plumbline.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CentredProductsTest {

    private static final Problem PROBLEM = Problem.random(31, 300, 130, 13);
    private static final SampleRows ROWS = PROBLEM.part(0, 200).rows();
    private static final SampleRows OTHERS = PROBLEM.part(200, 260).rows();

    @Test
    void productsOfCodesWithoutTheirMeansAreTheDenseOnes() {
        Matrix z = ROWS.codes().toDense();
        // Of few rows, so that there are features that are active in one of them alone.
        SparseCodes few = OTHERS.codes().select(3, 1, 4);
        Matrix others = few.toDense();
        double[] mean = ROWS.codes().mean();
        for (Matrix matrix : List.of(z, others)) {
            for (int i = 0; i < matrix.rows(); i++) {
                Kernels.addScaled(-1.0, mean, 0, matrix.values(), i * mean.length, mean.length);
            }
        }
        CentredGram gram = new CentredGram(ROWS.codes());
        Matrix x = Problem.gaussian(new Random(32), ROWS.rows(), 100, 1.0);
        Matrix expected = Kernels.multiplyTranspose(z, z);
        double[] row = new double[ROWS.rows()];
        for (int i = 0; i < ROWS.rows(); i++) {
            gram.writeUpper(i, row);
            for (int j = i; j < row.length; j++) {
                assertEquals(expected.get(i, j), row[j], 1e-12 * expected.trace() / row.length, "seed 31");
            }
        }
        Matrix onOthers = Kernels.multiply(Kernels.multiplyTranspose(others, z), x);
        Matrix found = new CentredCross(few, ROWS.codes()).times(x);
        assertEquals(0.0, onOthers.minus(found).frobeniusNorm(), 1e-12 * onOthers.frobeniusNorm(), "seeds 31, 32");
    }
}
