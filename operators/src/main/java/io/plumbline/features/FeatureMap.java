package io.plumbline.features;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds for a feature of one dictionary the feature of another that writes in the most similar direction:
 * {@code argmax_j ⟨w_i, v_j⟩ / (‖w_i‖ ‖v_j‖)} over the decoder columns. What both dictionaries call the same has a
 * cosine near 1; dictionaries trained anew share a good part of their features, and no index.
 *
 * <p><b>Cost:</b> {@code 2 m d} flops for each feature that is asked for, once, as products of blocks. Thread-safe.
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

    /**
     * Finds the nearest features of these at once: {@code 2 m d} flops each at the speed of products, so that a list of
     * some dozens takes no longer than a few features one after the other.
     */
    public void find(int... features) {
        int[] missing = Arrays.stream(features)
                .filter(feature -> !found.containsKey(feature))
                .distinct()
                .toArray();
        for (int at = 0; at < missing.length; at += BLOCK) {
            int[] some = Arrays.copyOfRange(missing, at, Math.min(missing.length, at + BLOCK));
            Matrix own = Matrix.zeros(some.length, from.columns());
            for (int i = 0; i < some.length; i++) {
                from.copyTo(some[i] * from.columns(), own.values(), i * from.columns(), from.columns());
            }
            Nearest[] nearest = nearest(direct(own));
            for (int i = 0; i < some.length; i++) {
                found.put(some[i], nearest[i]);
            }
        }
    }

    /** Returns the nearest feature of each, by index; memory for two blocks of columns and their product. */
    public Nearest[] all() {
        Nearest[] nearest = new Nearest[from.rows()];
        for (int at = 0; at < from.rows(); at += BLOCK) {
            System.arraycopy(nearest(directions(from, at)), 0, nearest, at, Math.min(BLOCK, from.rows() - at));
        }
        return nearest;
    }

    /** Returns the nearest feature of each of these directions. */
    private Nearest[] nearest(Matrix own) {
        Nearest[] nearest = new Nearest[own.rows()];
        for (int i = 0; i < own.rows(); i++) {
            boolean hasDirection = length(own, i) > 0.0;
            nearest[i] = new Nearest(0, hasDirection ? Double.NEGATIVE_INFINITY : 0.0);
        }
        for (int other = 0; other < to.rows(); other += BLOCK) {
            Matrix cosines = Kernels.multiplyTranspose(own, directions(to, other));
            for (int i = 0; i < own.rows(); i++) {
                for (int j = 0; j < cosines.columns(); j++) {
                    if (cosines.get(i, j) > nearest[i].cosine()) {
                        nearest[i] = new Nearest(other + j, Math.min(1.0, cosines.get(i, j)));
                    }
                }
            }
        }
        return nearest;
    }

    private static Matrix directions(Weights weights, int from) {
        return direct(weights.rowRange(from, Math.min(weights.rows(), from + BLOCK)));
    }

    /** Brings columns to length one; those of zeros stay. */
    private static Matrix direct(Matrix columns) {
        for (int i = 0; i < columns.rows(); i++) {
            double length = length(columns, i);
            for (int j = 0; length > 0.0 && j < columns.columns(); j++) {
                columns.set(i, j, columns.get(i, j) / length);
            }
        }
        return columns;
    }

    private static double length(Matrix columns, int i) {
        int width = columns.columns();
        return Math.sqrt(Kernels.dot(columns.values(), i * width, columns.values(), i * width, width));
    }

    /** Returns the nearest feature; of columns of zeros the first one, with a cosine of 0. */
    public Nearest of(int feature) {
        find(feature);
        return Objects.requireNonNull(found.get(feature));
    }
}
