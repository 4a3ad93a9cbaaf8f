package io.plumbline.linalg;

/**
 * Full eigendecomposition of a symmetric matrix by some library. {@link Eigensolvers} chooses one for the process;
 * providers are found by {@link java.util.ServiceLoader}, and used only where {@code -Dplumbline.kernel=native} asks
 * for one. Thread-safe.
 */
public interface SymmetricEigensolver {

    /** Returns the solver's name in a few words, for the log. */
    String name();

    /**
     * The decomposition, eigenvalues descending, one vector per column in their order, backward stable.
     *
     * @param symmetric d x d, exactly symmetric; not changed
     * @throws ArithmeticException if it does not converge
     */
    SymmetricEigen decompose(Matrix symmetric);
}
