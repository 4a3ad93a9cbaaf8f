package io.plumbline.causal.heads;

import io.plumbline.linalg.Weights;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The vectors by which a model turns its last hidden state into logits, one a token: {@code V x d}.
 *
 * <p>Direct logit attribution multiplies by them and leaves out what lies in between: later layers and the last norm.
 */
public record Unembedding(Weights weights) {

    private static final Set<String> NAMES = Set.of("W_U", "unembedding", "lm_head.weight", "wte.weight");

    /**
     * Reads the one tensor of a safetensors file, or one called {@code W_U}, {@code unembedding}, {@code
     * lm_head.weight} or {@code wte.weight}; {@code [V, d]}, or {@code [d, V]} where only that fits.
     *
     * @param width d
     */
    public static Unembedding read(Path file, int width) throws IOException {
        try (Safetensors tensors = Safetensors.open(file)) {
            Set<String> names = tensors.names();
            String name = names.size() == 1
                    ? names.iterator().next()
                    : names.stream().filter(NAMES::contains).findFirst().orElse(null);
            if (name == null) {
                throw new IllegalArgumentException("%s: none of its tensors (%d) is called %s"
                        .formatted(
                                file,
                                names.size(),
                                String.join(", ", NAMES.stream().sorted().toList())));
            }
            Tensor tensor = tensors.tensor(name);
            if (tensor.shape().size() == 2 && tensor.size(1) == width) {
                return new Unembedding(tensor.toWeights());
            }
            if (tensor.shape().size() == 2 && tensor.size(0) == width) {
                return new Unembedding(Weights.of(tensor.toMatrix().transpose()));
            }
            throw new IllegalArgumentException(
                    "%s: %s, expected [V, %d], a row for each token".formatted(file, tensor, width));
        }
    }

    public int vocabulary() {
        return weights.rows();
    }

    /**
     * Requires a vector for every token of a head.
     *
     * @throws IllegalArgumentException where there are fewer
     */
    public void requireAll(Logits logits) {
        if (vocabulary() < logits.vocabulary()) {
            throw new IllegalArgumentException("the unembedding has vectors of %d tokens, the head logits for %d"
                    .formatted(vocabulary(), logits.vocabulary()));
        }
    }

    /** Returns the tokens nearest to one by cosine, itself first; of equal ones the lowest. */
    public List<Integer> nearest(int token, int count) {
        double[] cosines = cosines(token);
        return sorted(count, Comparator.comparingDouble(one -> -cosines[one]));
    }

    /** Returns the tokens whose cosine with one is nearest to 0. */
    public List<Integer> unrelated(int token, int count) {
        double[] cosines = cosines(token);
        return sorted(count, Comparator.comparingDouble(one -> Math.abs(cosines[one])));
    }

    private List<Integer> sorted(int count, Comparator<Integer> order) {
        return IntStream.range(0, vocabulary())
                .boxed()
                .sorted(order)
                .limit(count)
                .toList();
    }

    private double[] cosines(int token) {
        double[] cosines = new double[vocabulary()];
        double length = Math.sqrt(dot(weights, token, token));
        for (int other = 0; other < cosines.length; other++) {
            double product = length * Math.sqrt(dot(weights, other, other));
            cosines[other] = product > 0.0 ? dot(weights, other, token) / product : 0.0;
        }
        return cosines;
    }

    /** Returns the dot product of a feature's decoder row with a token's vector. */
    double direct(Weights decoder, int feature, int token) {
        return dot(decoder, feature, token);
    }

    private double dot(Weights rows, int row, int token) {
        double sum = 0.0;
        for (int j = 0; j < weights.columns(); j++) {
            sum += rows.get(row, j) * weights.get(token, j);
        }
        return sum;
    }
}
