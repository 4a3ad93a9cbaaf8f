/**
 * Multiplies rows of bfloat16 by a library that is on the machine, through JNA.
 *
 * <p><b>Why a module of its own.</b> Only processes that ask for {@code -Dplumbline.kernel=native} have JNA on their
 * class path, and no other loads a library of the machine.
 */
@NullMarked
package io.plumbline.linalg.library;

import org.jspecify.annotations.NullMarked;
