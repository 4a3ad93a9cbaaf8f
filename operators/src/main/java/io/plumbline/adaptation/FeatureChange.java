package io.plumbline.adaptation;

import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;

/**
 * Measures how far the columns of a decoder are from those of the trained one: what a feature writes is what its
 * explanation says it means, and a column that points elsewhere is another explanation under an old name.
 *
 * <p>A feature whose trained column is zero has no direction to keep; it counts as beyond the limits as soon as it
 * writes anything, and takes no part in the three extremes.
 *
 * @param smallestCosine between a column and its trained one
 * @param smallestNormRatio the smallest ratio of a column's length to its trained length
 * @param largestNormRatio the largest ratio of a column's length to its trained length
 * @param beyond how many features are beyond the limits
 * @param features how many there are
 */
public record FeatureChange(
        double smallestCosine, double smallestNormRatio, double largestNormRatio, int beyond, int features) {

    private static final FeatureChange NONE = new FeatureChange(1.0, 1.0, 1.0, 0, 0);

    /** Features that one thread takes at a time. */
    private static final int PART = 512;

    /** Compares two decoders in {@code 6 k d} flops. */
    static FeatureChange between(Weights trained, Weights proposed, double minimumCosine, double maximumNormRatio) {
        FeatureChange[] parts = new FeatureChange[(trained.rows() + PART - 1) / PART];
        Cores.each(parts.length, part -> {
            int from = part * PART;
            int to = Math.min(trained.rows(), from + PART);
            parts[part] = between(trained, proposed, minimumCosine, maximumNormRatio, from, to);
        });
        FeatureChange all = NONE;
        for (FeatureChange part : parts) {
            all = new FeatureChange(
                    Math.min(all.smallestCosine, part.smallestCosine),
                    Math.min(all.smallestNormRatio, part.smallestNormRatio),
                    Math.max(all.largestNormRatio, part.largestNormRatio),
                    all.beyond + part.beyond,
                    all.features + part.features);
        }
        return all;
    }

    private static FeatureChange between(
            Weights trained, Weights proposed, double minimumCosine, double maximumNormRatio, int from, int to) {
        double smallestCosine = 1.0;
        double smallestRatio = 1.0;
        double largestRatio = 1.0;
        int beyond = 0;
        for (int feature = from; feature < to; feature++) {
            double before = norm(trained, feature);
            double after = norm(proposed, feature);
            if (before == 0.0) {
                beyond += after == 0.0 ? 0 : 1;
                continue;
            }
            double ratio = after / before;
            double cosine = after == 0.0 ? 0.0 : trained.dot(feature, proposed, feature) / (before * after);
            smallestCosine = Math.min(smallestCosine, cosine);
            smallestRatio = Math.min(smallestRatio, ratio);
            largestRatio = Math.max(largestRatio, ratio);
            // Written so that NaN is beyond.
            boolean within = cosine >= minimumCosine && ratio <= maximumNormRatio && ratio >= 1.0 / maximumNormRatio;
            beyond += within ? 0 : 1;
        }
        return new FeatureChange(smallestCosine, smallestRatio, largestRatio, beyond, to - from);
    }

    /** Returns the length of the column of one feature, a row on file. */
    static double norm(Weights weights, int feature) {
        return Math.sqrt(weights.dot(feature, weights, feature));
    }
}
