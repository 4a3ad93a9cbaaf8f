package io.plumbline.features;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds for a feature of one dictionary the feature of another that writes in the most similar direction:
 * {@code argmax_j ⟨w_i, v_j⟩ / (‖w_i‖ ‖v_j‖)} over the decoder columns. What both dictionaries call the same has a
 * cosine near 1; dictionaries trained anew share a good part of their features, and no index.
 *
 * <p><b>Cost:</b> {@code 2 m d} flops for each feature that is asked for, once; for {@link #all} the same for each of
 * them, as products of blocks. Thread-safe.
 */
public final class FeatureMap {

    /** The cosine from which a feature counts as found again: a label is carried over, and a watched feature kept. */
    public static final double SAME = 0.9;

    private static final int BLOCK = 1_024;

    private final Weights from;
    private final Weights to;
    private final Map<Integer, Nearest> found = new ConcurrentHashMap<>();

    /**
     * The nearest feature of the other dictionary.
     *
     * @param feature its index there
     * @param cosine of both columns, in [-1, 1]
     */
    public record Nearest(int feature, double cosine) {

        /** Returns whether both are taken for the same feature. */
        public boolean isSame() {
            return cosine >= SAME;
        }
    }

    private FeatureMap(Weights from, Weights to) {
        this.from = from;
        this.to = to;
    }

    /** Returns the map between the features of two decoders, which write into spaces of one dimension. */
    public static FeatureMap between(Decoder from, Decoder to) {
        if (from.dimension() != to.dimension()) {
            throw new IllegalArgumentException(
                    "decoders into %d and %d dimensions have no map".formatted(from.dimension(), to.dimension()));
        }
        return new FeatureMap(from.weights(), to.weights());
    }

    /** Returns the nearest feature; of columns of zeros the first one, with a cosine of 0. */
    public Nearest of(int feature) {
        return found.computeIfAbsent(feature, this::search);
    }

    /** Returns the nearest feature of each, by index; memory for two blocks of columns and their product. */
    public Nearest[] all() {
        Nearest[] nearest = new Nearest[from.rows()];
        for (int at = 0; at < from.rows(); at += BLOCK) {
            Matrix own = directions(from, at);
            for (int i = 0; i < own.rows(); i++) {
                boolean hasDirection =
                        Kernels.dot(own.values(), i * own.columns(), own.values(), i * own.columns(), own.columns())
                                > 0.0;
                nearest[at + i] = new Nearest(0, hasDirection ? Double.NEGATIVE_INFINITY : 0.0);
            }
            for (int other = 0; other < to.rows(); other += BLOCK) {
                Matrix cosines = Kernels.multiplyTranspose(own, directions(to, other));
                for (int i = 0; i < own.rows(); i++) {
                    for (int j = 0; j < cosines.columns(); j++) {
                        if (cosines.get(i, j) > nearest[at + i].cosine()) {
                            nearest[at + i] = new Nearest(other + j, Math.min(1.0, cosines.get(i, j)));
                        }
                    }
                }
            }
        }
        return nearest;
    }

    /** Returns a block of columns at length one; those of zeros as they are. */
    private static Matrix directions(Weights weights, int from) {
        Matrix block = weights.rowRange(from, Math.min(weights.rows(), from + BLOCK));
        for (int i = 0; i < block.rows(); i++) {
            double length = Math.sqrt(weights.dot(from + i, weights, from + i));
            for (int j = 0; length > 0.0 && j < block.columns(); j++) {
                block.set(i, j, block.get(i, j) / length);
            }
        }
        return block;
    }

    private Nearest search(int feature) {
        double own = Math.sqrt(from.dot(feature, from, feature));
        Nearest nearest = new Nearest(0, own == 0.0 ? 0.0 : Double.NEGATIVE_INFINITY);
        for (int j = 0; own > 0.0 && j < to.rows(); j++) {
            double length = Math.sqrt(to.dot(j, to, j));
            double cosine = length == 0.0 ? 0.0 : from.dot(feature, to, j) / (own * length);
            if (cosine > nearest.cosine()) {
                nearest = new Nearest(j, Math.min(1.0, cosine));
            }
        }
        return nearest;
    }
}
