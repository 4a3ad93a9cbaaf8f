/**
 * The leading eigenspace of a large symmetric matrix, by {@link io.plumbline.linalg.eigenspace.TopEigenspace}: a Krylov
 * space in blocks, a block iteration where that does not suffice, and a proof by a Cholesky factorisation that no other
 * eigenvalue is larger.
 */
@NullMarked
package io.plumbline.linalg.eigenspace;

import org.jspecify.annotations.NullMarked;
