package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;
import io.plumbline.linalg.Weights;
import io.plumbline.moments.SecondMoment;
import java.util.Locale;

/**
 * The refit as the paper's authors' public code does it, for comparison. It differs from the paper in four places:
 *
 * <ul>
 *   <li>the window's subspace is that of the <em>centred</em> covariance;
 *   <li>Step 1 aligns the two bases without regard to the dictionary's energies: {@code U_OOD^T U_dec = Q S R^T},
 *       {@code W~ = U_OOD Q R^T U_dec^T W};
 *   <li>then every column of {@code W~} is scaled back to the length it had;
 *   <li>Step 2 adds the lambdas to the <em>sum</em> {@code Zc^T Zc}, not to the mean: the same number weighs N times
 * less.
 * </ul>
 *
 * <p>Its further weight towards the trained, unrotated decoder is not part of the paper and 0 here.
 */
public final class AuthorsCode {

    private AuthorsCode() {}

    /**
     * Fits one decoder as {@link GeometryAdapter#adapt} does, with the same refusals.
     *
     * @param settings its lambdas are absolute; its rotation plays no part
     * @throws IllegalArgumentException if the lambdas are relative, or the preservation weight is 0 and there is a
     *     refit
     */
    public static Adaptation adapt(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            SparseCodes codes,
            Matrix targets,
            GaeSettings settings) {
        int rank = settings.rank();
        Regularisation given = settings.regularisation();
        if (given.relative()) {
            throw new IllegalArgumentException("relative lambdas: the authors' code knows absolute ones only");
        }
        if (settings.refits() && given.preservation() == 0.0) {
            throw new IllegalArgumentException("lambda preservation = 0.0: expected more than 0 to refit with");
        }
        ActiveSubspace active =
                ActiveSubspace.leadingOnly(SecondMoment.of(targets).covariance(), rank, null);
        String reason = Identifiability.undecided(trainedSubspace, active, codes.rows());
        if (reason != null) {
            return new Adaptation.Undecided(reason);
        }
        Matrix window = active.subspace().basis();
        Matrix dictionary = trainedSubspace.ofRank(rank).subspace().basis();
        Svd alignment = Svd.of(Kernels.transposeMultiply(window, dictionary));
        // W~^T = D U_dec R Q^T U_OOD^T, with weights D as on file.
        Matrix turn = Kernels.multiply(dictionary, Kernels.multiplyTranspose(alignment.right(), alignment.left()));
        Weights rotated = rotated(trained.weights(), turn, window);
        Regularisation perRow =
                Regularisation.absolute(given.geometric() / codes.rows(), given.preservation() / codes.rows());
        Decoder stepOne = FittedDecoder.withBias(rotated, codes, SparseProducts.columnMeans(targets));
        if (!settings.refits()) {
            return new Adaptation.Adapted(stepOne, stepOne, active, alignment.values(), perRow);
        }
        // The prior lies in the window's subspace, so turning it onto that subspace leaves it as it is.
        StepOne inPlace =
                rank == trained.dimension() ? StepOne.nothing() : new StepOne(window, window, null, alignment.values());
        Decoder decoder = PlannedRefits.single(
                        new GaeSettings(rank, Rotation.PRINTED, perRow, settings.alpha()),
                        FittedRows.of(stepOne, codes, targets),
                        inPlace,
                        Refit::fitted)
                .exact();
        return new Adaptation.Adapted(decoder, stepOne, active, alignment.values(), perRow);
    }

    /** Returns the settings in words, for lineages and logs. */
    public static String describe(GaeSettings settings) {
        return String.format(
                Locale.ROOT,
                "as the authors' code: rank %d, lambdas %s/%s (geometric/preservation) without 1/N, alpha %s",
                settings.rank(),
                settings.regularisation().geometric(),
                settings.regularisation().preservation(),
                settings.alpha());
    }

    /** Rotates every column and keeps the length it had. */
    private static Weights rotated(Weights trained, Matrix turn, Matrix window) {
        Matrix rotated = Kernels.multiplyTranspose(trained.multiply(turn), window);
        int width = rotated.columns();
        for (int feature = 0; feature < rotated.rows(); feature++) {
            double before = Math.sqrt(trained.dot(feature, trained, feature));
            double after =
                    Math.sqrt(Kernels.dot(rotated.values(), feature * width, rotated.values(), feature * width, width));
            for (int j = 0; after > 0.0 && j < width; j++) {
                rotated.set(feature, j, rotated.get(feature, j) * before / after);
            }
        }
        return Weights.of(rotated);
    }
}
