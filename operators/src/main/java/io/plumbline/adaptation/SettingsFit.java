package io.plumbline.adaptation;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;

/**
 * The result of one setting in factors: with weights D as on file and V the window's eigenvectors,
 * {@code W^T V = D turn + Z^T dual}. The columns are the window's directions, the first r of them inside its subspace.
 *
 * <p>Step 2 in dual form, per column j of V: inside, with {@code lp} the preservation weight,
 * {@code D~ + Zc^T (K + N lp I)^-1 (Yc - Zc D~)}; outside, with {@code lp + lg} and the rotated part shrunk by
 * {@code s = lp / (lp + lg)}, {@code s D~ + Zc^T (K + N (lp+lg) I)^-1 (Yc - s Zc D~)}. As printed, the rotated part
 * outside is 0; for the full-rank rotation it is not.
 *
 * @param turn d x m, m = r or d; missing columns are 0
 * @param dual N x d; its columns have mean 0, so {@code Z^T dual = Zc^T dual}
 */
record SettingsFit(Matrix turn, Matrix dual) {

    static SettingsFit stepOneOnly(StepOne stepOne, int rows) {
        return new SettingsFit(stepOne.turn(), Matrix.zeros(rows, stepOne.turn().rows()));
    }

    /**
     * @param absolute the weights in the units of Cov z
     * @param targetsIn {@code targets solution x V} by level, shared between settings
     * @param trainedIn {@code trained solution x L} by level, shared between settings of one rotation
     */
    static SettingsFit of(
            StepOne stepOne, int rank, double alpha, Regularisation absolute, PerLevel targetsIn, PerLevel trainedIn) {
        int width = stepOne.turn().columns();
        int dimension = stepOne.turn().rows();
        double inner = absolute.preservation();
        double outer = absolute.preservation() + absolute.geometric();
        // Without any weight the refit forgets the rotated decoder, whatever the factor.
        double shrink = outer > 0.0 ? inner / outer : 0.0;
        Matrix dual = targetsIn.at(inner).copy();
        Matrix rotated = trainedIn.at(inner);
        int rows = dual.rows();
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < rank; j++) {
                dual.set(i, j, dual.get(i, j) - rotated.get(i, j));
            }
        }
        if (rank < dimension) {
            Matrix outside = targetsIn.at(outer);
            for (int i = 0; i < rows; i++) {
                for (int j = rank; j < dimension; j++) {
                    dual.set(i, j, outside.get(i, j));
                }
            }
        }
        if (rank < width && shrink > 0.0) {
            Matrix outside = trainedIn.at(outer);
            for (int i = 0; i < rows; i++) {
                for (int j = rank; j < width; j++) {
                    dual.set(i, j, dual.get(i, j) - shrink * outside.get(i, j));
                }
            }
        }
        // Zero on paper; without this the rounding of a large mean code would enter through it.
        Matrix centredDual = SparseProducts.centred(dual);
        for (int i = 0; i < centredDual.values().length; i++) {
            centredDual.values()[i] *= 1.0 - alpha;
        }
        Matrix turn = stepOne.turn().copy();
        double outerShare = (1.0 - alpha) * shrink + alpha;
        for (int i = 0; i < dimension; i++) {
            for (int j = rank; j < width; j++) {
                turn.set(i, j, outerShare * turn.get(i, j));
            }
        }
        return new SettingsFit(turn, centredDual);
    }

    /** A matrix for each ridge level. */
    interface PerLevel {
        Matrix at(double lambda);
    }

    /** The weights as on file, k x d. */
    Matrix weights(Matrix trained, SparseCodes codes, Matrix windowVectors) {
        Matrix weights = backToTargetSpace(trained, turn, windowVectors);
        Matrix inTargetSpace = Kernels.multiplyTranspose(dual, windowVectors);
        Kernels.addScaled(
                1.0,
                SparseProducts.transposeMultiply(codes, inTargetSpace).values(),
                0,
                weights.values(),
                0,
                weights.values().length);
        return weights;
    }

    /** {@code (D turn) V_m^T}, in the cheaper order. */
    static Matrix backToTargetSpace(Matrix weights, Matrix turn, Matrix windowVectors) {
        Matrix basis = windowVectors.leadingColumns(turn.columns());
        return 2 * turn.columns() < turn.rows()
                ? Kernels.multiplyTranspose(Kernels.multiply(weights, turn), basis)
                : Kernels.multiply(weights, Kernels.multiplyTranspose(turn, basis));
    }
}
