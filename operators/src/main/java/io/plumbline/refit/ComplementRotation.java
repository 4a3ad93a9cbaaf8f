package io.plumbline.refit;

import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.InverseSquareRoot;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.parallel.Cores;

/**
 * Computes how the full-rank form of Step 1 turns what the dictionary has outside its leading r directions onto the
 * window's complement: the partial isometry P, d x d, that moves it least. With the dictionary's trailing directions U,
 * their energies {@code S^2} and the window's V it is the polar factor of {@code U S^2 M}, {@code M = U^T (I - V V^T)}.
 *
 * <p>{@code M M^T} is the identity less {@code F F^T}, {@code F = U^T V} of r columns. So the factor is {@code U
 * B^(-1/2) S^2 M} with {@code B = S^2 (I - F F^T) S^2}, a diagonal matrix less one of rank r, whose inverse root is a
 * sum of {@link InverseSquareRoot} fractions that are diagonal matrices with a correction of rank r each: {@code (S^4 +
 * t)^-1 + X (C^2 + t F^T (S^4 + t)^-1 F)^-1 X^T}, {@code X = (S^4 + t)^-1 S^2 F}. C are the cosines of the angles
 * between the two r-dimensional subspaces, F in the coordinates of these angles: written so, nothing cancels. (Sherman,
 * Morrison, Woodbury; the 1 in {@code I - F F^T} is {@code S^2 S^-4 S^2}.)
 *
 * <p><b>Cost</b> with J fractions, 27 where the factor's singular values span 1 to 1/400: {@code J (d - r) (d - r +
 * 192) r} flops, {@code 2 (d - r)^2 d} and {@code 2 (d - r) d^2}, an SVD of r x r. <b>Accuracy.</b> 1e-12, near {@link
 * #LEAST} 1e-9. <b>Size.</b> {@code 24 d^2} bytes.
 */
final class ComplementRotation {

    /** The least ratio of the smallest singular value to the largest. Below it the angles have too few digits. */
    private static final double LEAST = 1e-6;

    /** Inner size of a product that keeps the kernels busy. */
    private static final int INNER = 256;

    private ComplementRotation() {}

    /** @param basis V, d x r, r below d */
    static Matrix of(ExplainerSubspace trained, Matrix basis) {
        int rank = basis.columns();
        Matrix trailing = StepOne.columns(trained.leftVectors(), rank, basis.rows());
        Svd angles = Svd.of(Kernels.transposeMultiply(trained.leftVectors().leadingColumns(rank), basis));
        double[] energies = energies(trained, rank);
        double least = energies[energies.length - 1] * angles.values()[rank - 1];
        // Written so that NaN is caught.
        return least >= LEAST
                ? byFractions(trailing, basis, energies, angles, InverseSquareRoot.above(Math.min(1.0, least)))
                : bySingularVectors(trailing, basis, energies);
    }

    /** Returns {@code S^2} over its largest entry, which plays no part in P. */
    private static double[] energies(ExplainerSubspace trained, int rank) {
        double[] values = trained.singularValues();
        double[] energies = new double[values.length - rank];
        for (int i = 0; i < energies.length; i++) {
            double ratio = values[rank] == 0.0 ? 0.0 : values[rank + i] / values[rank];
            energies[i] = ratio * ratio;
        }
        return energies;
    }

    private static Matrix byFractions(
            Matrix trailing, Matrix basis, double[] energies, Svd angles, InverseSquareRoot root) {
        int count = energies.length;
        Matrix aligned = Kernels.transposeMultiply(trailing, basis);
        Matrix inAngles = Kernels.multiply(aligned, angles.right());
        Matrix learnt = Matrix.zeros(count, count);
        int together = Math.max(1, INNER / basis.columns());
        for (int first = 0; first < root.shifts().length; first += together) {
            int from = first;
            Fraction[] fractions = new Fraction[Math.min(together, root.shifts().length - from)];
            Cores.each(
                    fractions.length,
                    i -> fractions[i] = Fraction.of(
                            root.shifts()[from + i], root.weights()[from + i], energies, angles.values(), inAngles));
            addProducts(fractions, learnt);
        }
        Kernels.mirror(learnt);
        // B^(-1/2) S^2 = I + learnt S^2, times M.
        Matrix across = trailing.transpose().minus(Kernels.multiplyTranspose(aligned, basis));
        Matrix turned = Kernels.multiply(learnt, rowsTimes(energies, across)).plus(1.0, across);
        return Kernels.multiply(trailing, turned);
    }

    /**
     * The product {@code left right} that one fraction adds to a diagonal matrix.
     *
     * @param left X, n x r
     * @param right its other factor, r x n, with the fraction's weight
     */
    private record Fraction(Matrix left, Matrix right) {

        static Fraction of(double shift, double weight, double[] energies, double[] cosines, Matrix inAngles) {
            double[] scales = new double[energies.length];
            double[] weighted = new double[energies.length];
            double[] inner = new double[energies.length];
            for (int i = 0; i < scales.length; i++) {
                inner[i] = shift / (energies[i] * energies[i] + shift);
                scales[i] = energies[i] / (energies[i] * energies[i] + shift);
                weighted[i] = weight * scales[i];
            }
            Matrix core = Kernels.transposeMultiply(inAngles, rowsTimes(inner, inAngles));
            for (int i = 0; i < cosines.length; i++) {
                core.set(i, i, core.get(i, i) + cosines[i] * cosines[i]);
            }
            Matrix right = Cholesky.of(core).solve(rowsTimes(weighted, inAngles).transpose());
            return new Fraction(rowsTimes(scales, inAngles), right);
        }
    }

    private static void addProducts(Fraction[] fractions, Matrix sum) {
        int n = sum.rows();
        int rank = fractions[0].left().columns();
        int inner = rank * fractions.length;
        Matrix left = Matrix.zeros(n, inner);
        Matrix right = Matrix.zeros(inner, n);
        for (int part = 0; part < fractions.length; part++) {
            for (int i = 0; i < n; i++) {
                System.arraycopy(
                        fractions[part].left().values(), i * rank, left.values(), i * inner + part * rank, rank);
            }
            System.arraycopy(fractions[part].right().values(), 0, right.values(), part * rank * n, rank * n);
        }
        Kernels.addSymmetricProduct(left, right, sum);
    }

    /**
     * Computes P by singular vectors, where the dictionary hardly spans its complement, or the window's lies nearly at
     * a right angle to it.
     */
    private static Matrix bySingularVectors(Matrix trailing, Matrix basis, double[] energies) {
        Matrix complement = Matrix.identity(basis.rows()).minus(Kernels.multiplyTranspose(basis, basis));
        Matrix onto = SymmetricEigen.of(complement).vectors().leadingColumns(trailing.columns());
        Svd svd = Svd.of(rowsTimes(energies, Kernels.transposeMultiply(trailing, onto)));
        return Kernels.multiplyTranspose(
                Kernels.multiply(trailing, Kernels.multiplyTranspose(svd.left(), svd.right())), onto);
    }

    /** Returns {@code diag(factors) A}, a new one. */
    private static Matrix rowsTimes(double[] factors, Matrix matrix) {
        Matrix scaled = matrix.copy();
        for (int i = 0; i < factors.length; i++) {
            for (int j = 0; j < matrix.columns(); j++) {
                scaled.set(i, j, factors[i] * matrix.get(i, j));
            }
        }
        return scaled;
    }
}
