package io.plumbline.geometry;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Svd;
import io.plumbline.linalg.TriangularFactor;

/**
 * The r principal angles between two subspaces (Björck and Golub 1973), in radians.
 *
 * <p>Below 45 degrees the arcsine of the residual's singular values, above it the arccosine of those of {@code UᵀV}:
 * each is used where it is well conditioned, so small angles keep their digits.
 */
public final class PrincipalAngles {

    private PrincipalAngles() {}

    /** The angles, ascending, in {@code [0, π/2]}. {@code O(d r^2)} flops. */
    public static double[] between(Subspace first, Subspace second) {
        return of(Apart.of(first, second));
    }

    static double[] of(Apart two) {
        double[] cosines = Svd.values(
                Kernels.transposeMultiply(two.reference().basis(), two.active().basis()));
        double[] sines = Svd.values(TriangularFactor.of(two.residual()));
        int rank = cosines.length;
        double[] angles = new double[rank];
        for (int i = 0; i < rank; i++) {
            // Largest cosine and smallest sine belong to the smallest angle.
            double sine = Math.min(1.0, sines[rank - 1 - i]);
            double cosine = Math.min(1.0, cosines[i]);
            angles[i] = cosine > Math.sqrt(0.5) ? Math.asin(sine) : Math.acos(cosine);
        }
        return angles;
    }
}
