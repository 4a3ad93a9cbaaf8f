package io.plumbline.baseline;

/**
 * Measures how much the rows of one request are alike.
 *
 * <p>The design effect is the variance of an average over whole requests, divided by what it would be if the same rows
 * were independent: with request sums {@code s_g} of {@code n_g} rows and mean m, {@code sum_g |s_g - n_g m|^2 / sum_i
 * |y_i - m|^2}, each side with its factor for degrees of freedom, {@code G/(G-1)} and {@code n/(n-1)} (the ratio
 * estimator of cluster sampling: Kish, Survey Sampling, 1965; Cochran, Sampling Techniques, 1977, chapter 9). 1 for
 * independent rows, the rows per request for identical ones. n rows then say as much as {@code n / effect} independent
 * ones.
 *
 * @param requests G, at least 2
 * @param momentDesignEffect of the second moment: {@code y y^T} in the place of y, in the Frobenius norm
 * @param meanDesignEffect of the mean
 */
public record Grouping(long requests, double momentDesignEffect, double meanDesignEffect) {

    public Grouping {
        if (requests < 2 || !(momentDesignEffect >= 0.0) || !(meanDesignEffect >= 0.0)) {
            throw new IllegalArgumentException(
                    "%d requests with design effects %s and %s: expected 2 or more requests and effects of at least 0"
                            .formatted(requests, momentDesignEffect, meanDesignEffect));
        }
    }

    /**
     * The fewest requests whose scatter says how alike rows of a request are: the estimate of fewer is mostly chance.
     */
    public static final int FEWEST_REQUESTS = 5;

    /**
     * Returns how many independent rows would give a second moment as exact as {@code rows} of these: at most as many,
     * since an effect below 1 is chance. Says something from {@value #FEWEST_REQUESTS} requests on.
     */
    public double effectiveRows(long rows) {
        return rows / Math.max(momentDesignEffect, 1.0);
    }
}
