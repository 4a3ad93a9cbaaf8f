/**
 * Fourth stage: the rows of a drifted window become a decoder, or the reason why not.
 *
 * <p><b>Enters:</b> a request with the window's sampled rows. <b>Leaves:</b> a report, and a decoder that passed the gate.
 */
@NullMarked
package io.plumbline.topology.adaptation;

import org.jspecify.annotations.NullMarked;
