package io.plumbline.linalg;

import io.plumbline.linalg.kernel.UpdateKernels;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the {@link SymmetricEigensolver} of this process, once: ojAlgo's, or a native one where the system property
 * {@value UpdateKernels#PROPERTY} is {@value UpdateKernels#NATIVE}. A native one must first decompose a small matrix as
 * ojAlgo does.
 */
final class Eigensolvers {

    private static final SymmetricEigensolver OJALGO = new OjAlgoEigensolver();

    /** The least dimension for a library, since below it a call costs more than it saves. */
    private static final int LEAST_NATIVE_DIMENSION = 256;

    private static final int TRIAL_DIMENSION = 67;
    private static final double TRIAL_TOLERANCE = 1e-11;

    private static @Nullable SymmetricEigensolver forLarge;

    private Eigensolvers() {}

    /** Returns the solver for matrices of this dimension. */
    static SymmetricEigensolver of(int dimension) {
        return dimension < LEAST_NATIVE_DIMENSION ? OJALGO : forLarge();
    }

    static synchronized SymmetricEigensolver forLarge() {
        SymmetricEigensolver known = forLarge;
        if (known == null) {
            known = choose(System.getProperty(UpdateKernels.PROPERTY));
            forLarge = known;
        }
        return known;
    }

    /** @throws IllegalStateException if a native one is wished for and cannot be had */
    static SymmetricEigensolver choose(@Nullable String wish) {
        return UpdateKernels.NATIVE.equals(wish) ? requireOne(ServiceLoader.load(SymmetricEigensolver.class)) : OJALGO;
    }

    /** The first provider that works, or an exception with what every one said. */
    static SymmetricEigensolver requireOne(Iterable<SymmetricEigensolver> providers) {
        List<String> refusals = new ArrayList<>();
        try {
            for (SymmetricEigensolver provider : providers) {
                String refusal = refusal(provider);
                if (refusal == null) {
                    return provider;
                }
                refusals.add(refusal);
            }
        } catch (ServiceConfigurationError | LinkageError e) {
            refusals.add(String.valueOf(
                    e.getCause() == null ? e.getMessage() : e.getCause().getMessage()));
        }
        throw new IllegalStateException("-D%s=%s: %s"
                .formatted(
                        UpdateKernels.PROPERTY,
                        UpdateKernels.NATIVE,
                        refusals.isEmpty()
                                ? "no provider of " + SymmetricEigensolver.class.getName() + " is on the class path"
                                : String.join("; ", refusals)));
    }

    private static @Nullable String refusal(SymmetricEigensolver provider) {
        SplittableRandom random = new SplittableRandom(11);
        Matrix matrix = Matrix.zeros(TRIAL_DIMENSION, TRIAL_DIMENSION);
        for (int i = 0; i < TRIAL_DIMENSION; i++) {
            for (int j = 0; j <= i; j++) {
                double value = random.nextDouble(-1, 1);
                matrix.set(i, j, value);
                matrix.set(j, i, value);
            }
        }
        double[] expected = OJALGO.decompose(matrix).values();
        SymmetricEigen found = provider.decompose(matrix);
        for (int j = 0; j < TRIAL_DIMENSION; j++) {
            if (!(Math.abs(found.values()[j] - expected[j]) <= TRIAL_TOLERANCE)) {
                return "%s gives eigenvalue %d of a trial as %s instead of %s"
                        .formatted(provider.name(), j, found.values()[j], expected[j]);
            }
        }
        // By hand: products ask for the kernel of the process, which may be waiting for this.
        double residual = 0;
        for (int i = 0; i < TRIAL_DIMENSION; i++) {
            for (int j = 0; j < TRIAL_DIMENSION; j++) {
                double image = 0;
                for (int p = 0; p < TRIAL_DIMENSION; p++) {
                    image += matrix.get(i, p) * found.vectors().get(p, j);
                }
                residual = Math.max(
                        residual,
                        Math.abs(image - found.values()[j] * found.vectors().get(i, j)));
            }
        }
        return residual <= TRIAL_TOLERANCE && isOrthonormal(found.vectors())
                ? null
                : "%s gives vectors of a trial that are not orthonormal, or have a residual: %s"
                        .formatted(provider.name(), residual);
    }

    private static boolean isOrthonormal(Matrix vectors) {
        for (int a = 0; a < TRIAL_DIMENSION; a++) {
            for (int b = 0; b <= a; b++) {
                double product = 0;
                for (int i = 0; i < TRIAL_DIMENSION; i++) {
                    product += vectors.get(i, a) * vectors.get(i, b);
                }
                if (!(Math.abs(product - (a == b ? 1 : 0)) <= TRIAL_TOLERANCE)) {
                    return false;
                }
            }
        }
        return true;
    }
}
