package io.plumbline.moments;

import io.plumbline.linalg.Matrix;

/**
 * The second moment of rows that hold a target y and the error {@code e = y - yhat} of its reconstruction behind it,
 * taken apart. With the reconstruction itself in the place of its error, a small error would be a difference of large
 * sums.
 *
 * @param targets of the first halves, dimension d
 * @param reconstructions {@code E[yhat yhat^T] = E[y y^T] - E[y e^T] - E[e y^T] + E[e e^T]}, d x d
 * @param errorEnergy {@code E|e|^2}, over all rows
 */
public record JointMoment(SecondMoment targets, Matrix reconstructions, double errorEnergy) {

    /**
     * Takes a moment apart.
     *
     * @param joint of rows of 2 d values
     */
    public static JointMoment of(SecondMoment joint) {
        int d = joint.dimension() / 2;
        if (joint.dimension() != 2 * d) {
            throw new IllegalArgumentException(
                    "rows of %d values: expected as many of targets as of their errors".formatted(joint.dimension()));
        }
        double[] state = joint.sharedState();
        double[] first = new double[d + d * (d + 1) / 2];
        System.arraycopy(state, 0, first, 0, d);
        System.arraycopy(state, 2 * d, first, d, first.length - d);
        Matrix whole = joint.matrix();
        Matrix reconstructions = Matrix.zeros(d, d);
        double energy = 0.0;
        for (int i = 0; i < d; i++) {
            energy += whole.get(d + i, d + i);
            for (int j = 0; j < d; j++) {
                reconstructions.set(
                        i, j, whole.get(i, j) - (whole.get(i, d + j) + whole.get(d + i, j)) + whole.get(d + i, d + j));
            }
        }
        return new JointMoment(SecondMoment.ofState(d, joint.rows(), first), reconstructions, energy);
    }

    /** Returns the fraction of the targets' variance that reconstructions leave unexplained; not finite without any. */
    public double fvu() {
        double meanEnergy = 0.0;
        for (double mean : targets.mean()) {
            meanEnergy += mean * mean;
        }
        return errorEnergy / (targets.trace() - meanEnergy);
    }
}
