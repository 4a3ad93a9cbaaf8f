package io.plumbline.probes;

import org.jspecify.annotations.Nullable;

/**
 * A direction that somebody reads rows by: {@code w x + b}, compared with a threshold.
 *
 * <p>A pooling probe reads a whole request: {@code w sum_i a_i x_i + b}, where {@code a = softmax(v x_i)} over the rows
 * of the request. Arrays are shared, not copied: treat them as read-only.
 *
 * @param name how reports call it
 * @param weight w, as wide as a row
 * @param bias b
 * @param threshold above it a score counts
 * @param query v, as wide as a row; null for a probe that reads rows one by one
 */
public record Probe(String name, double[] weight, double bias, double threshold, double @Nullable [] query) {

    /** Returns whether it reads whole requests. */
    public boolean pools() {
        return query != null;
    }
}
