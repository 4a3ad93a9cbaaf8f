/**
 * The controlled experiment: a small network whose input distribution is turned away from the one its explainers were
 * trained on, by a known severity from 0 to 1.
 *
 * <p><b>Enters:</b> a severity and a range of row numbers. <b>Leaves:</b> the activations of those rows, the same on every
 * machine. It is the paper's toy setting, an MLP 128 → 256 → 8 with a rank of 8; trained weights, input roots and the
 * tables a NumPy reference computed from the same stream are resources beside the classes (see the README there).
 *
 * <p>It is in the program, not only in its tests, because the demo shows it: severity against gap, our numbers beside the
 * reference's. Nothing else depends on it.
 */
@NullMarked
package io.plumbline.toy;

import org.jspecify.annotations.NullMarked;
