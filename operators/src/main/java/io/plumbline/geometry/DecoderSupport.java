package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which features of an explainer lost support: those that write where the baseline had its energy and the window has not.
 *
 * <p>For column w of feature j, and U the basis of an active subspace of rank r, the share outside is
 * {@code 1 - |U^T w|^2 / |w|^2}. A large share alone says little, since r is far below the number of features: it is the change
 * from the baseline's subspace to the window's that tells, weighted by how much the feature is used now. A column of zeros has
 * no direction and is never listed.
 *
 * <p><b>Cost.</b> {@code 2 r d k} flops for the baseline, once, and as many per window that is asked about. <b>Size.</b> 8 bytes a
 * feature; while a window is looked at, {@code 8 r k}. <b>Accuracy.</b> Shares to some 1e-15 absolute: enough to order by.
 *
 * <p>Immutable; any number of threads.
 */
public final class DecoderSupport {

    /** Most features in the report of one window, which bounds its size. */
    public static final int REPORTED = 50;

    private static final Comparator<LostFeature> HEAVIEST_FIRST =
            Comparator.comparingDouble(LostFeature::weight).reversed().thenComparingInt(LostFeature::feature);

    private final Decoder trained;
    private final double[] outsideBaseline;

    private DecoderSupport(Decoder trained, double[] outsideBaseline) {
        this.trained = trained;
        this.outsideBaseline = outsideBaseline;
    }

    /**
     * @param trained the decoder whose features were explained
     * @param baseline the active subspace of clean rows
     */
    public static DecoderSupport of(Decoder trained, Subspace baseline) {
        return new DecoderSupport(trained, outside(trained, baseline));
    }

    /**
     * The features that lost most, heaviest first, of equal ones the lower index first. Features that are not active on these rows
     * or did not lose are not among them.
     *
     * @param window the active subspace of the window
     * @param activity of the trained explainer's codes on rows of the window
     * @param active the decoder in service, of as many features; null while that is the trained one
     * @param most how many to list at most
     */
    public List<LostFeature> lost(Subspace window, FeatureActivity activity, @Nullable Decoder active, int most) {
        if (activity.features() != trained.features()) {
            throw new IllegalArgumentException(
                    "activity of %d features, the decoder has %d".formatted(activity.features(), trained.features()));
        }
        if (active != null && (active.features() != trained.features() || active.dimension() != trained.dimension())) {
            throw new IllegalArgumentException("%s in service, the trained one is %s".formatted(active, trained));
        }
        double[] outside = outside(trained, window);
        double[] shares = activity.shares(trained);
        List<LostFeature> lost = new ArrayList<>();
        for (int j = 0; j < outside.length; j++) {
            double weight = shares[j] * (outside[j] - outsideBaseline[j]);
            if (weight > 0.0) {
                lost.add(new LostFeature(
                        j,
                        weight,
                        outside[j],
                        outsideBaseline[j],
                        shares[j],
                        activity.frequency(j),
                        active == null ? null : directionChange(active, j)));
            }
        }
        lost.sort(HEAVIEST_FIRST);
        return List.copyOf(lost.subList(0, Math.min(most, lost.size())));
    }

    private static double[] outside(Decoder decoder, Subspace subspace) {
        Matrix inside = decoder.weights().multiply(subspace.basis());
        double[] outside = new double[decoder.features()];
        for (int j = 0; j < outside.length; j++) {
            double norm = squaredNorm(decoder, j);
            double within = Kernels.dot(
                    inside.values(), j * inside.columns(), inside.values(), j * inside.columns(), inside.columns());
            // Rounding may take the share of a column that lies inside a little below 0.
            outside[j] = norm > 0.0 ? Math.min(1.0, Math.max(0.0, 1.0 - within / norm)) : 0.0;
        }
        return outside;
    }

    private double directionChange(Decoder active, int feature) {
        double norms = Math.sqrt(squaredNorm(trained, feature)) * Math.sqrt(squaredNorm(active, feature));
        double dot = trained.weights().dot(feature, active.weights(), feature);
        return norms > 0.0 ? Math.min(2.0, Math.max(0.0, 1.0 - dot / norms)) : 1.0;
    }

    /** {@code |w_j|^2}. */
    static double squaredNorm(Decoder decoder, int feature) {
        return decoder.weights().dot(feature, decoder.weights(), feature);
    }
}
