package io.plumbline.baseline;

import org.jspecify.annotations.Nullable;

/**
 * Says how far one request is from those of the baseline.
 *
 * @param request its hash
 * @param name the text that names it; null where none was given
 * @param rows rows the score was taken from
 * @param score larger is farther; dimensionless
 * @param pValue the chance that a clean request is as far, from {@code e^-30} to 1: the share of the baseline's
 *     requests with such a score, and for scores above that of the 20th farthest of them an estimate by a model of the
 *     tail, see {@link ScoreRanks}
 * @param rank the same without a model, never below {@code 1 / (B + 1)} for B requests of the baseline
 */
public record RequestScore(long request, @Nullable String name, long rows, double score, double pValue, double rank) {

    /** Ranks a score. */
    static RequestScore among(ScoreRanks ranks, long request, @Nullable String name, long rows, double score) {
        return new RequestScore(request, name, rows, score, ranks.pValue(score), ranks.rank(score));
    }

    /** Ranks a score of one of the baseline's requests among those of the others. */
    static RequestScore ofOwn(ScoreRanks ranks, long request, long rows, double score) {
        return new RequestScore(request, null, rows, score, ranks.pValueOfOwn(score), ranks.rankOfOwn(score));
    }

    /** Returns {@code -ln p}, from 0 to 30. */
    public double evidence() {
        return -Math.log(pValue);
    }

    /** Returns the name, or the hash in hexadecimal where there is none. */
    public String label() {
        return name == null ? "%016x".formatted(request) : name;
    }

    RequestScore named(@Nullable String other) {
        return new RequestScore(request, other, rows, score, pValue, rank);
    }
}
