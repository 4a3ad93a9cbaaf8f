package io.plumbline.refit;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import java.util.Arrays;

/**
 * Represents {@code K = Zc Zc^T}, N x N, for the centred codes: the Gram matrix of Z with row and column means taken
 * out, so that the zeros of Z stay zeros. Made row by row where it is factored and never held whole; a flop and a half
 * for every pair of rows that have a feature in common, at most {@code N nonZeros}. Any number of threads.
 */
final class CentredGram {

    private final SparseCodes codes;
    private final CodesByFeature byFeature;
    private final double[] dots;
    private final double overall;

    CentredGram(SparseCodes codes) {
        double[] mean = codes.mean();
        this.codes = codes;
        this.byFeature = CodesByFeature.of(codes);
        this.dots = SparseProducts.dots(codes, mean);
        this.overall = Kernels.dot(mean, 0, mean, 0, mean.length);
    }

    /**
     * Returns {@code K + ridge I}, factored.
     *
     * @throws ArithmeticException if it is not positive definite to working precision
     */
    Cholesky factored(double ridge) {
        return Cholesky.of(codes.rows(), (i, row) -> {
            writeUpper(i, row);
            row[i] += ridge;
        });
    }

    /** Writes entries i to N - 1 of row i. */
    void writeUpper(int i, double[] row) {
        Arrays.fill(row, i, row.length, 0.0);
        for (int entry = codes.rowStart()[i]; entry < codes.rowStart()[i + 1]; entry++) {
            double value = codes.value()[entry];
            int end = byFeature.start()[codes.feature()[entry] + 1];
            int own = Arrays.binarySearch(byFeature.row(), byFeature.start()[codes.feature()[entry]], end, i);
            for (int other = own; other < end; other++) {
                row[byFeature.row()[other]] += value * byFeature.value()[other];
            }
        }
        for (int j = i; j < row.length; j++) {
            row[j] += overall - dots[i] - dots[j];
        }
    }
}
