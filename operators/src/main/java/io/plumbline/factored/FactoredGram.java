package io.plumbline.factored;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;

/**
 * Computes {@code W^T W} (d x d, of the weights as on file, k x d) of a decoder that was made of
 * {@link DecoderFactors}, without a product over all features.
 *
 * <p>With {@code W = D P + Z^T A}, P the rotation and A the dual, and {@code X = Z D}, {@code Y = Z W} the answers of
 * the trained and of the made decoder to the rows fitted on, less their biases:
 *
 * <pre>
 * W^T W = P^T D^T D P + H + H^T,   H = 1/2 (X P + Y)^T A
 * </pre>
 *
 * <p><b>Cost.</b> {@code 2 N d^2 + 4 nonZeros d} flops, and {@code d^3} to {@code 4 d^3} where nothing or the whole
 * space is turned, {@code 6 d^2 r} at rank r: at 65,536 x 2,048 and N = 2,048 some 17 GFLOP in place of 275.
 * <b>Accuracy.</b> The weights are rounded to float32 after they are made, which changes an entry by some {@code 2^-24}
 * of its terms.
 */
public final class FactoredGram {

    private FactoredGram() {}

    /**
     * Returns the product.
     *
     * @param factors of the decoder
     * @param made {@link DecoderFactors#of} the trained decoder
     * @param trainedSubspace of the trained decoder, at any rank
     */
    public static Matrix of(DecoderFactors factors, Decoder made, Decoder trained, ExplainerSubspace trainedSubspace) {
        Matrix gram = rotated(factors, trainedSubspace);
        SparseCodes codes = factors.codes();
        if (codes.rows() == 0) {
            return gram;
        }
        Matrix answers = answers(made, codes);
        Matrix rotated = rotated(factors, answers(trained, codes));
        for (int i = 0; i < answers.values().length; i++) {
            answers.values()[i] = 0.5 * (answers.values()[i] + rotated.values()[i]);
        }
        gram.addWithTranspose(Kernels.transposeMultiply(answers, factors.dual()));
        return gram;
    }

    /** Returns {@code P^T D^T D P}, from the singular values and left singular vectors of {@code D^T}. */
    private static Matrix rotated(DecoderFactors factors, ExplainerSubspace trained) {
        int d = trained.dimension();
        Matrix vectors = trained.leftVectors();
        Matrix turn = factors.turn();
        Matrix coordinates = turn == null ? vectors.transpose() : Kernels.transposeMultiply(vectors, turn);
        int columns = coordinates.columns();
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < columns; j++) {
                coordinates.values()[i * columns + j] *= trained.singularValues()[i];
            }
        }
        Matrix product = Kernels.transposeMultiply(coordinates, coordinates);
        Matrix basis = factors.basis();
        return basis == null ? product : Kernels.multiplyTranspose(Kernels.multiply(basis, product), basis);
    }

    /** Returns {@code X P}. */
    private static Matrix rotated(DecoderFactors factors, Matrix answers) {
        Matrix turn = factors.turn();
        if (turn == null) {
            return answers;
        }
        Matrix turned = Kernels.multiply(answers, turn);
        Matrix basis = factors.basis();
        return basis == null ? turned : Kernels.multiplyTranspose(turned, basis);
    }

    private static Matrix answers(Decoder decoder, SparseCodes codes) {
        Matrix answers = decoder.reconstruct(codes);
        int d = decoder.dimension();
        for (int i = 0; i < answers.values().length; i++) {
            answers.values()[i] -= decoder.bias()[i % d];
        }
        return answers;
    }
}
