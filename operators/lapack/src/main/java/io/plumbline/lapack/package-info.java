/**
 * A {@link io.plumbline.linalg.SymmetricEigensolver} that calls the LAPACK of the machine. On the class path always,
 * loaded only with {@code -Dplumbline.kernel=native}: results then depend on the library the machine has, and native
 * code is nobody's default.
 */
@NullMarked
package io.plumbline.lapack;

import org.jspecify.annotations.NullMarked;
