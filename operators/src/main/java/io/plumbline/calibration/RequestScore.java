package io.plumbline.calibration;

import org.jspecify.annotations.Nullable;

/**
 * How far one request is from those of the baseline.
 *
 * @param request its hash
 * @param name the text that names it; null where none was given
 * @param rows rows the score was taken from
 * @param score larger is farther; dimensionless
 * @param pValue the share of baseline requests with such a score, from {@code e^-30} to 1; below the scores of the 20 farthest
 *     baseline requests it rests on a model of the tail, see {@link ScoreRanks}
 */
public record RequestScore(long request, @Nullable String name, long rows, double score, double pValue) {

    /** {@code -ln p}, from 0 to 30. */
    public double evidence() {
        return -Math.log(pValue);
    }

    /** The name, or the hash in hexadecimal where there is none. */
    public String label() {
        return name == null ? "%016x".formatted(request) : name;
    }

    RequestScore named(@Nullable String other) {
        return new RequestScore(request, other, rows, score, pValue);
    }
}
