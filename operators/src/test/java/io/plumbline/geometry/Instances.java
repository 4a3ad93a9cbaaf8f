package io.plumbline.geometry;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;
import java.util.Random;

/** Draws random subspaces and moments for the laws. */
final class Instances {

    private Instances() {}

    static Matrix gaussian(Random random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextGaussian();
        }
        return matrix;
    }

    /** An orthonormal d x r basis, uniformly distributed. */
    static Matrix basis(Random random, int dimension, int rank) {
        Svd svd = Svd.of(gaussian(random, dimension, rank));
        return Kernels.multiplyTranspose(svd.left(), svd.right());
    }

    static Subspace subspace(Random random, int dimension, int rank) {
        return new Subspace(basis(random, dimension, rank));
    }

    static Matrix diagonal(double... values) {
        Matrix matrix = Matrix.zeros(values.length, values.length);
        for (int i = 0; i < values.length; i++) {
            matrix.set(i, i, values[i]);
        }
        return matrix;
    }

    /** Returns {@code Q diag(values) Q^T} for a random rotation Q. */
    static Matrix rotated(Random random, double... values) {
        Matrix rotation = basis(random, values.length, values.length);
        return Kernels.multiplyTranspose(Kernels.multiply(rotation, diagonal(values)), rotation);
    }

    /** A positive semidefinite matrix whose spectrum is now steep, now flat, now of low rank. */
    static Matrix moment(Random random, int dimension) {
        double steepness = random.nextDouble() * 3;
        int nonZero = 1 + random.nextInt(dimension);
        double[] spectrum = new double[dimension];
        for (int i = 0; i < dimension; i++) {
            spectrum[i] = i < nonZero || random.nextBoolean() ? Math.exp(-steepness * i) * random.nextDouble() : 0.0;
        }
        return rotated(random, spectrum);
    }

    /** Returns the matrix, a little or much disturbed, still positive semidefinite. */
    static Matrix disturbed(Random random, Matrix moment) {
        double size = Math.pow(10, -6 + 7 * random.nextDouble()) * moment.trace() / moment.rows();
        return moment.plus(size, moment(random, moment.rows()));
    }
}
