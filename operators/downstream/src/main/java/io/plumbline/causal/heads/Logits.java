package io.plumbline.causal.heads;

import io.plumbline.causal.heads.HeadException.Fault;

/**
 * Logits of one request, row-major: {@code values[row * vocabulary + token]}. The array is shared: do not write to it.
 */
public record Logits(int rows, int vocabulary, float[] values) {

    public Logits {
        if (rows < 1 || vocabulary < 1 || (long) rows * vocabulary != values.length) {
            throw new IllegalArgumentException("%d x %d logits, %d values".formatted(rows, vocabulary, values.length));
        }
    }

    /**
     * Returns the logits that a head answered.
     *
     * @param head its name, for the message
     * @throws HeadException when one is NaN or infinite
     */
    static Logits finite(String head, int rows, int vocabulary, float[] values) {
        for (int i = 0; i < values.length; i++) {
            if (!Float.isFinite(values[i])) {
                throw new HeadException(
                        Fault.NOT_FINITE,
                        "%s: the logit of row %d, token %d is %s"
                                .formatted(head, i / vocabulary, i % vocabulary, values[i]));
            }
        }
        return new Logits(rows, vocabulary, values);
    }

    public float get(int row, int token) {
        return values[row * vocabulary + token];
    }

    /** Returns the most likely token after a row; of equal ones the lowest. */
    public int mostLikely(int row) {
        int best = 0;
        for (int token = 1; token < vocabulary; token++) {
            if (get(row, token) > get(row, best)) {
                best = token;
            }
        }
        return best;
    }

    /** Returns {@code log sum exp} of a row's logits, in double and without overflow. */
    double logSumExp(int row) {
        float largest = get(row, mostLikely(row));
        double sum = 0.0;
        for (int token = 0; token < vocabulary; token++) {
            sum += Math.exp((double) get(row, token) - largest);
        }
        return largest + Math.log(sum);
    }

    /** Returns the probability of a token after a row. */
    public double probability(int row, int token) {
        return Math.exp(-crossEntropy(row, token));
    }

    /** Returns {@code -log p(token)} after a row, in nats. */
    double crossEntropy(int row, int token) {
        return logSumExp(row) - get(row, token);
    }

    /**
     * Returns {@code KL(this || other)} of the next token after a row, in nats: {@code sum p (log p - log q)}, at least
     * 0 but for rounding.
     */
    double divergence(Logits other, int row) {
        double ours = logSumExp(row);
        double theirs = other.logSumExp(row);
        double sum = 0.0;
        for (int token = 0; token < vocabulary; token++) {
            double log = get(row, token) - ours;
            sum += Math.exp(log) * (log - (other.get(row, token) - theirs));
        }
        return sum;
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    @Override
    public String toString() {
        return "Logits[%d x %d]".formatted(rows, vocabulary);
    }
}
