package io.plumbline.features;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.KnownCodes;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.SampleRows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists the features whose decoder columns are wrong on the rows of a window.
 *
 * <p>A feature is listed where a refit would have to change its column by more than on the rows that the baseline
 * keeps, and more than chance explains: see {@link Excess}. A feature that only fires more often is not listed. The
 * list is ordered by how much its systematic residual exceeds the baseline's: see {@link FailingFeature} and, for the
 * estimate, {@link RemovableErrors}. Rows of one request are not independent, so fewer than five requests list nothing.
 *
 * <p><b>Cost.</b> {@code 2 nnz d} flops for the errors, and at most {@code 16^2 d} for each feature that is active on
 * the rows. <b>Size.</b> Of the baseline 24 bytes a feature; while a window is looked at {@code 8 n d + 12 nnz} bytes
 * and 80 a feature.
 *
 * <p>Immutable; any number of threads. The rows' order changes the last bits only.
 */
public final class FailingFeatures {

    /** Most features in the report of one window, which bounds its size. */
    public static final int REPORTED = 50;

    /** Most rows of a window's sample that are looked at, which bounds the encoder's work. */
    public static final int ROWS = 4096;

    private static final Comparator<FailingFeature> WORST_FIRST =
            Comparator.comparingDouble(FailingFeatures::excess).reversed().thenComparingInt(FailingFeature::feature);

    private final Decoder trained;
    private final double[] squaredNorms;
    private final @Nullable Costs baseline;

    private FailingFeatures(Decoder trained, double[] squaredNorms, @Nullable Costs baseline) {
        this.trained = trained;
        this.squaredNorms = squaredNorms;
        this.baseline = baseline;
    }

    /**
     * Returns lists of features that are compared with the rows which the baseline keeps.
     *
     * @param explainer the one whose features were explained
     * @param clean rows of clean traffic; at most the first {@value #ROWS} of them are encoded. Where there are none,
     *     lists are not compared with clean traffic
     */
    public static FailingFeatures of(Explainer explainer, List<SampledRow> clean) {
        SampleRows rows = encoded(explainer, clean);
        return rows.rows() == 0
                ? of(explainer.decoder())
                : of(explainer.decoder(), rows.codes(), rows.targets(), rows.requests());
    }

    /** Encodes the first rows of a sample, at most {@value #ROWS}. */
    public static SampleRows encoded(Explainer explainer, List<SampledRow> rows) {
        return encoded(explainer, KnownCodes.NONE, rows);
    }

    /**
     * Encodes the first rows of a sample, at most {@value #ROWS}, but for those whose codes are known.
     *
     * @param known codes that this explainer made
     */
    public static SampleRows encoded(Explainer explainer, KnownCodes known, List<SampledRow> rows) {
        return SampleRows.of(
                explainer.encoder(), known, rows.subList(0, Math.min(ROWS, rows.size())), explainer.targetWidth());
    }

    /**
     * Returns lists of features that are not compared with clean traffic.
     *
     * @param trained the decoder whose features were explained
     */
    public static FailingFeatures of(Decoder trained) {
        return new FailingFeatures(trained, squaredNorms(trained), null);
    }

    /**
     * Returns lists of features that are compared with rows of clean traffic.
     *
     * @param trained the decoder whose features were explained
     * @param codes of rows of clean traffic, n x k
     * @param targets of these rows, n x d
     * @param requests of these rows
     */
    public static FailingFeatures of(Decoder trained, SparseCodes codes, Matrix targets, long[] requests) {
        double[] norms = squaredNorms(trained);
        return new FailingFeatures(trained, norms, Costs.of(trained, norms, codes, targets, requests));
    }

    /**
     * Returns the features that fail, worst first, of equal ones the lower index first.
     *
     * @param codes of the trained explainer on rows of the window, n x k
     * @param targets of these rows, n x d
     * @param requests of these rows
     * @param inService the decoder in service, of as many features; null while that is the trained one
     * @param most how many to list at most
     */
    public List<FailingFeature> list(
            SparseCodes codes, Matrix targets, long[] requests, @Nullable Decoder inService, int most) {
        if (inService != null
                && (inService.features() != trained.features() || inService.dimension() != trained.dimension())) {
            throw new IllegalArgumentException("%s in service, the trained one is %s".formatted(inService, trained));
        }
        Costs window = Costs.of(trained, squaredNorms, codes, targets, requests);
        double written = 0.0;
        for (double one : window.removable().written()) {
            written += one;
        }
        int[] activeRows = new int[trained.features()];
        for (int feature : codes.feature()) {
            activeRows[feature]++;
        }
        boolean[] isMoreWrong =
                Excess.of(window, baseline, RequestGroups.of(requests).count());
        List<FailingFeature> failing = new ArrayList<>();
        for (int j = 0; j < trained.features(); j++) {
            if (isMoreWrong[j]) {
                Double before = baseline == null ? null : window.systematicResidualOf(baseline.squaredChange(j), j);
                failing.add(new FailingFeature(
                        j,
                        window.systematicResidual(j),
                        window.systematicResidualLow(j),
                        before,
                        window.removable().estimate()[j] / window.residuals().variance(),
                        window.usefulness()[j],
                        baseline == null ? null : baseline.usefulness()[j],
                        window.removable().written()[j] / written,
                        (double) activeRows[j] / codes.rows(),
                        inService == null ? null : directionChange(inService, j)));
            }
        }
        failing.sort(WORST_FIRST);
        return List.copyOf(failing.subList(0, Math.min(most, failing.size())));
    }

    private static double excess(FailingFeature feature) {
        Double before = feature.systematicResidualBaseline();
        return feature.systematicResidual() - (before == null ? 0.0 : before);
    }

    private double directionChange(Decoder inService, int feature) {
        double norms = Math.sqrt(squaredNorms[feature]) * Math.sqrt(squaredNorm(inService, feature));
        double dot = trained.weights().dot(feature, inService.weights(), feature);
        return norms > 0.0 ? Math.min(2.0, Math.max(0.0, 1.0 - dot / norms)) : 1.0;
    }

    private static double[] squaredNorms(Decoder decoder) {
        double[] norms = new double[decoder.features()];
        for (int j = 0; j < norms.length; j++) {
            norms[j] = squaredNorm(decoder, j);
        }
        return norms;
    }

    private static double squaredNorm(Decoder decoder, int feature) {
        return decoder.weights().dot(feature, decoder.weights(), feature);
    }
}
