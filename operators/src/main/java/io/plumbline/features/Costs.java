package io.plumbline.features;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.parallel.Cores;
import java.util.Arrays;

/**
 * Holds what every feature costs on some rows: by being wrong, and if it were taken out.
 *
 * @param usefulness FVU that taking a feature out would add
 */
record Costs(Residuals residuals, RemovableErrors removable, double[] squaredNorms, double[] usefulness) {

    /** Features that one thread takes at a time. */
    private static final int PART = 256;

    static Costs of(Decoder decoder, double[] squaredNorms, SparseCodes codes, Matrix targets, long[] requests) {
        if (codes.features() != decoder.features()
                || targets.columns() != decoder.dimension()
                || codes.rows() != targets.rows()
                || codes.rows() != requests.length) {
            throw new IllegalArgumentException(
                    "codes of %d rows x %d features, targets of %d x %d, requests of %d rows; the decoder is %s"
                            .formatted(
                                    codes.rows(),
                                    codes.features(),
                                    targets.rows(),
                                    targets.columns(),
                                    requests.length,
                                    decoder));
        }
        Residuals residuals = Residuals.of(decoder, codes, targets);
        CodesByFeature byFeature = CodesByFeature.of(codes);
        return new Costs(
                residuals,
                RemovableErrors.of(byFeature, residuals, requests, squaredNorms),
                squaredNorms,
                usefulness(decoder, squaredNorms, byFeature, residuals));
    }

    /** Returns what some features cost by being wrong, which leaves out what they are useful for. */
    static Costs ofColumns(CodesByFeature codes, Residuals residuals, long[] requests, double[] squaredNorms) {
        return new Costs(
                residuals,
                RemovableErrors.of(codes, residuals, requests, squaredNorms),
                squaredNorms,
                new double[squaredNorms.length]);
    }

    /**
     * Returns {@code |w| |cov(z, e)|} as a share of the targets' variance: with a refit's {@code |cov|^2 / var z}
     * known, times {@code var z}.
     */
    double systematicResidual(int feature) {
        return systematic(removable.estimate()[feature], feature);
    }

    /**
     * Returns the squared length of the change that a refit would make to the column; where the feature is not active,
     * what is typical here.
     */
    double squaredChange(int feature) {
        double variance = removable.variance()[feature];
        return variance > 0.0 ? removable.estimate()[feature] / variance : removable.typical() * squaredNorms[feature];
    }

    /** Returns the systematic residual here of a column that a refit would change by as much. */
    double systematicResidualOf(double squaredChange, int feature) {
        return systematic(squaredChange * removable.variance()[feature], feature);
    }

    double systematicResidualLow(int feature) {
        return systematic(removable.low()[feature], feature);
    }

    private double systematic(double removed, int feature) {
        return residuals.spread() > 0.0
                ? Math.sqrt(removed * removable.variance()[feature] * squaredNorms[feature]) / residuals.spread()
                : 0.0;
    }

    /** Returns {@code (2 <sum_i z_i e_i, w> + |w|^2 sum_i z_i^2) / n} as a share of the targets' variance. */
    private static double[] usefulness(
            Decoder decoder, double[] squaredNorms, CodesByFeature codes, Residuals residuals) {
        int d = decoder.dimension();
        double[] usefulness = new double[squaredNorms.length];
        double unit = residuals.spread() * residuals.errors().rows();
        if (unit <= 0.0) {
            return usefulness;
        }
        Cores.each((usefulness.length + PART - 1) / PART, part -> {
            double[] column = new double[d];
            double[] sum = new double[d];
            for (int j = part * PART; j < Math.min((part + 1) * PART, usefulness.length); j++) {
                Arrays.fill(sum, 0.0);
                double squares = 0.0;
                for (int entry = codes.start()[j]; entry < codes.start()[j + 1]; entry++) {
                    double z = codes.value()[entry];
                    squares += z * z;
                    Kernels.addScaled(z, residuals.errors().values(), codes.row()[entry] * d, sum, 0, d);
                }
                if (squares > 0.0) {
                    decoder.weights().copyTo(j * d, column, 0, d);
                    usefulness[j] = (2.0 * Kernels.dot(sum, 0, column, 0, d) + squares * squaredNorms[j]) / unit;
                }
            }
        });
        return usefulness;
    }
}
