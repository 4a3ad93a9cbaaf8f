package io.plumbline.refit;

import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;
import io.plumbline.linalg.kernel.PackedMatrix;
import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Step 1: the rotation of the dictionary onto the window's subspace.
 *
 * <p>{@code G = U_dec^T W W^T U_OOD = S_r^2 U_dec^T U_OOD} (so {@code W W^T} is never formed), {@code G = U~ S V~^T},
 * {@code T* = V~ U~^T}, {@code W~ = U_OOD T* U_dec^T W}. {@code T*} is the rotation that moves the dictionary least.
 * With weights D as on file (k x d, {@code D = W^T}) and V the window's r eigenvectors this is {@code D~ = (D L) V^T}
 * with {@code L = U_dec T*^T}. The full-rank form adds {@code D P}, P made in the same way from both complements.
 *
 * <p>At r = d both are the identity, and nothing is decomposed: {@code S^2 U_dec^T V} is a positive definite matrix
 * times an orthogonal one, which is its own polar factor, so that {@code T*^T = U_dec^T V} and {@code L V^T = I}.
 *
 * @param turn L, d x r; null where the whole is the identity
 * @param basis V, d x r; null where the whole is the identity
 * @param outside P, d x d; null in the printed form
 * @param alignment singular values of G, descending; W~ is ill-determined when the last is tiny against the first
 */
record StepOne(
        @Nullable Matrix turn,
        @Nullable Matrix basis,
        @Nullable Matrix outside,
        double[] alignment) {

    /**
     * Computes Step 1 in {@code 4 d r^2} flops and an SVD of r x r; for the full-rank form also a
     * {@link ComplementRotation}.
     */
    static StepOne of(ExplainerSubspace trained, ActiveSubspace window, Rotation rotation) {
        int dimension = window.dimension();
        int rank = window.rank();
        if (rank == dimension) {
            return identity(trained);
        }
        Matrix basis = window.subspace().basis();
        // What turns the complement is orthogonal to the leading directions only as all of them have these.
        ExplainerSubspace leading = rotation == Rotation.PRINTED ? trained.ofRank(rank) : trained.exact(rank);
        Matrix dictionary = leading.subspace().basis();
        Svd svd = Svd.of(weighed(Kernels.transposeMultiply(dictionary, basis), leading));
        Matrix turn = turn(dictionary, svd);
        Matrix outside = rotation == Rotation.PRINTED ? null : ComplementRotation.of(trained, basis);
        return new StepOne(turn, basis, outside, svd.values());
    }

    /** The rotation onto the whole space. */
    static StepOne identity(ExplainerSubspace trained) {
        double[] energies = trained.singularValues().clone();
        for (int i = 0; i < energies.length; i++) {
            energies[i] *= energies[i];
        }
        return new StepOne(null, null, null, energies);
    }

    /** Returns the identity, without figures of the decoder. */
    static StepOne nothing() {
        return new StepOne(null, null, null, new double[0]);
    }

    /** Returns whether nothing is rotated. */
    boolean isIdentity() {
        return turn == null;
    }

    /**
     * Returns {@code X L V^T + share X P} for rows X as on file: of the weights themselves the rotated ones, of
     * {@code Z D} their reconstructions. {@code 4 n d r} flops, with P {@code 2 n d^2}. A matrix of its own.
     */
    Matrix rotate(Matrix rows, double share) {
        return turn == null || basis == null
                ? rows.copy()
                : turn(share, rows.rows()).get().apply(rows);
    }

    /** Returns {@code D~^T D~}, d x d, of the rotated weights as on file; {@code D^T D = U S^2 U^T}. */
    Matrix products(ExplainerSubspace trained, double share) {
        if (turn == null || basis == null || outside != null) {
            double[] values = trained.singularValues();
            Matrix rotated = rotate(scaled(trained.leftVectors().transpose(), i -> values[i - 1]), share);
            return Kernels.transposeMultiply(rotated, rotated);
        }
        // L lies in the leading directions, so that the others have no part in it.
        ExplainerSubspace leading = trained.ofRank(basis.columns());
        Matrix coordinates =
                scaled(Kernels.transposeMultiply(leading.subspace().basis(), turn), leading::singularValue);
        Matrix small = Kernels.transposeMultiply(coordinates, coordinates);
        return Kernels.multiplyTranspose(Kernels.multiply(basis, small), basis);
    }

    /**
     * Returns {@code Y^T X'} for the rotated rows X' and others Y, where V makes that narrow: {@code 4 n d r} flops in
     * the place of {@code 2 n d^2}; null where it does not.
     */
    @Nullable
    Matrix narrowProducts(Matrix others, Matrix rows) {
        return turn == null || basis == null || outside != null
                ? null
                : Kernels.multiplyTranspose(Kernels.transposeMultiply(others, Kernels.multiply(rows, turn)), basis);
    }

    /**
     * Returns {@link #rotate} for rows that come block after block, so many in all: one for each thread, which reuses
     * what it returns. Blocks that are not turned are returned as they are.
     */
    Supplier<UnaryOperator<Matrix>> turn(double share, int rowsInAll) {
        if (turn == null || basis == null) {
            return UnaryOperator::identity;
        }
        if (outside != null) {
            Matrix whole = Kernels.multiplyTranspose(turn, basis).plus(share, outside);
            PackedMatrix factor = Kernels.pack(whole.view(), rowsInAll);
            return () -> new Product(factor)::of;
        }
        PackedMatrix in = Kernels.pack(turn.view(), rowsInAll);
        PackedMatrix out = Kernels.pack(basis.transposedView(), rowsInAll);
        return () -> {
            Product coordinates = new Product(in);
            Product turned = new Product(out);
            return rows -> turned.of(coordinates.of(rows));
        };
    }

    /** Multiplies blocks of rows by one factor, in the same place as long as they have as many rows. */
    private static final class Product {

        private final PackedMatrix factor;
        private Matrix product = Matrix.zeros(0, 0);

        Product(PackedMatrix factor) {
            this.factor = factor;
        }

        Matrix of(Matrix rows) {
            if (product.rows() == rows.rows()) {
                Arrays.fill(product.values(), 0.0);
            } else {
                product = Matrix.zeros(rows.rows(), factor.columns());
            }
            factor.addProduct(rows.view(), product.values());
            return product;
        }
    }

    /** Computes {@code S^2 A} in place: how two bases lie to each other, weighed by the dictionary's energies. */
    private static Matrix weighed(Matrix alignment, ExplainerSubspace leading) {
        for (int i = 0; i < alignment.rows(); i++) {
            double energy = leading.singularValue(i + 1) * leading.singularValue(i + 1);
            for (int j = 0; j < alignment.columns(); j++) {
                alignment.set(i, j, energy * alignment.get(i, j));
            }
        }
        return alignment;
    }

    /** Multiplies each row by its factor, counted from 1, in place. */
    private static Matrix scaled(Matrix matrix, IntToDoubleFunction factors) {
        for (int i = 0; i < matrix.rows(); i++) {
            double factor = factors.applyAsDouble(i + 1);
            for (int j = 0; j < matrix.columns(); j++) {
                matrix.set(i, j, factor * matrix.get(i, j));
            }
        }
        return matrix;
    }

    /** Returns {@code U T*^T = U U~ V~^T}. */
    private static Matrix turn(Matrix dictionary, Svd svd) {
        return Kernels.multiply(dictionary, Kernels.multiplyTranspose(svd.left(), svd.right()));
    }

    static Matrix columns(Matrix matrix, int from, int to) {
        Matrix part = Matrix.zeros(matrix.rows(), to - from);
        for (int i = 0; i < matrix.rows(); i++) {
            System.arraycopy(matrix.values(), i * matrix.columns() + from, part.values(), i * (to - from), to - from);
        }
        return part;
    }
}
