package io.plumbline.adaptation;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import java.util.Arrays;
import org.apache.commons.math3.distribution.TDistribution;

/**
 * An explainer that is in no service beside the one that is, on the same rows.
 *
 * @param errors of the one in service, first, against those of the other, paired by request
 * @param rows that both explained
 * @param inService figures of the one in service
 * @param shadow figures of the other
 * @param halfWidth half the 95 % interval of the difference of both FVUs, over requests; NaN with fewer than two
 */
public record ExplainerTrial(PairedErrors errors, int rows, Figures inService, Figures shadow, double halfWidth) {

    private static final double UPPER = 0.975;

    /**
     * The figures of an explainer on some rows.
     *
     * @param fvu fraction of the targets' variance that its reconstructions miss; NaN where the rows do not vary
     * @param activePerRow mean number of active features
     * @param seen how many of its features are active on any row
     */
    public record Figures(double fvu, double activePerRow, int seen) {

        static Figures of(SampleRows rows, Matrix reconstructed) {
            SparseCodes codes = rows.codes();
            return new Figures(
                    Reconstruction.between(reconstructed, rows.targets()).fvu(),
                    (double) codes.nonZeros() / codes.rows(),
                    (int) Arrays.stream(codes.feature(), 0, codes.nonZeros())
                            .distinct()
                            .count());
        }
    }

    /**
     * Compares both.
     *
     * @param rows encoded by the explainer in service; at least one
     * @param reconstructed what its decoder in service gives for them
     * @param encoded the same rows encoded by {@code shadow}
     */
    public static ExplainerTrial of(SampleRows rows, Matrix reconstructed, SampleRows encoded, Explainer shadow) {
        Matrix others = shadow.decoder().reconstruct(encoded.codes());
        PairedErrors errors = PairedErrors.of(rows, reconstructed, others);
        Reconstruction first = Reconstruction.between(reconstructed, rows.targets());
        double variance = first.mse() * rows.rows() / first.fvu();
        int requests = errors.requests();
        double halfWidth = requests < 2
                ? Double.NaN
                : new TDistribution(null, requests - 1.0).inverseCumulativeProbability(UPPER)
                        * errors.standardError()
                        * requests
                        / variance;
        return new ExplainerTrial(
                errors, rows.rows(), Figures.of(rows, reconstructed), Figures.of(encoded, others), halfWidth);
    }

    /** Returns FVU of the one in shadow less that of the one in service: below 0 where it explains more. */
    public double difference() {
        return shadow.fvu() - inService.fvu();
    }

    /** Returns whether the one in shadow reconstructs better, beyond chance. */
    public boolean shadowIsBetter() {
        return errors.firstIsWorse();
    }

    /** Returns whether the one in shadow reconstructs worse, beyond chance. */
    public boolean shadowIsWorse() {
        return errors.secondIsWorse();
    }
}
