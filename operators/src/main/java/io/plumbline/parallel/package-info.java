/**
 * Threads: work is shared out among the cores that {@link io.plumbline.parallel.Cores} allows, in parts that are the
 * same for any number of them.
 */
@NullMarked
package io.plumbline.parallel;

import org.jspecify.annotations.NullMarked;
