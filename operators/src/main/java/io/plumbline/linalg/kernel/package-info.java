/**
 * The loops that products, second moments and triangular systems are made of, each twice: as plain Java and by {@code
 * jdk.incubator.vector}. {@link io.plumbline.linalg.kernel.UpdateKernels} chooses one of the two for the process; the
 * plain one is the oracle of the other's tests. Matrices are passed as {@link io.plumbline.linalg.kernel.MatrixView},
 * an array with strides, so that nothing here knows of the packages above.
 */
@NullMarked
package io.plumbline.linalg.kernel;

import org.jspecify.annotations.NullMarked;
