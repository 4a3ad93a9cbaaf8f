package io.plumbline.causal.heads;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import java.util.Arrays;
import java.util.List;

/**
 * Direct logit attribution of features to tokens: {@code DLA(j, t) = z_j (W_dec[j] . W_U[t])}, the paper's case study.
 *
 * @param features the features, in the order given
 * @param activations their codes {@code z_j} in the row
 * @param toTarget their attribution to the target token
 * @param toClass {@code [feature][token]}, to the tokens of the class
 * @param toControl {@code [feature][token]}, to unrelated tokens
 */
public record Attribution(
        List<Integer> features, double[] activations, double[] toTarget, double[][] toClass, double[][] toControl) {

    /**
     * Attributes features of one row.
     *
     * @throws IndexOutOfBoundsException when a token or feature does not exist
     */
    public static Attribution of(
            Decoder decoder,
            Unembedding unembedding,
            SparseCodes codes,
            int row,
            List<Integer> features,
            int target,
            List<Integer> classTokens,
            List<Integer> controlTokens) {
        double[] activations = new double[features.size()];
        for (int i = 0; i < activations.length; i++) {
            activations[i] = code(codes, row, features.get(i));
        }
        double[][] toClass = to(decoder, unembedding, features, activations, classTokens);
        double[][] toControl = to(decoder, unembedding, features, activations, controlTokens);
        double[][] toTarget = to(decoder, unembedding, features, activations, List.of(target));
        return new Attribution(
                List.copyOf(features),
                activations,
                Arrays.stream(toTarget).mapToDouble(one -> one[0]).toArray(),
                toClass,
                toControl);
    }

    private static double[][] to(
            Decoder decoder, Unembedding unembedding, List<Integer> features, double[] codes, List<Integer> tokens) {
        double[][] found = new double[features.size()][tokens.size()];
        for (int i = 0; i < found.length; i++) {
            for (int t = 0; t < tokens.size(); t++) {
                found[i][t] = codes[i] * unembedding.direct(decoder.weights(), features.get(i), tokens.get(t));
            }
        }
        return found;
    }

    private static double code(SparseCodes codes, int row, int feature) {
        int at = Arrays.binarySearch(codes.feature(), codes.rowStart()[row], codes.rowStart()[row + 1], feature);
        return at < 0 ? 0.0 : codes.value()[at];
    }

    /** Returns, for each feature, its mean attribution to the class less that to the controls. */
    public double[] specificity() {
        double[] found = new double[toClass.length];
        for (int i = 0; i < found.length; i++) {
            found[i] = mean(toClass[i]) - mean(toControl[i]);
        }
        return found;
    }

    /** Returns the sum of {@link #specificity} over the features: above 0 they point towards the class. */
    public double classSpecificity() {
        return Arrays.stream(specificity()).sum();
    }

    static double mean(double[] values) {
        return Arrays.stream(values).average().orElse(Double.NaN);
    }

    /** Compares by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Attribution attribution
                && features.equals(attribution.features)
                && Arrays.equals(activations, attribution.activations)
                && Arrays.equals(toTarget, attribution.toTarget)
                && Arrays.deepEquals(toClass, attribution.toClass)
                && Arrays.deepEquals(toControl, attribution.toControl);
    }

    @Override
    public int hashCode() {
        return 31 * features.hashCode() + Arrays.deepHashCode(toClass);
    }

    @Override
    public String toString() {
        return "Attribution[features %s, class specificity %s]".formatted(features, classSpecificity());
    }
}
