/** Libraries that do what the kernels do, for {@code plumbline bench --rivals}. */
package io.plumbline.benchmarks;
