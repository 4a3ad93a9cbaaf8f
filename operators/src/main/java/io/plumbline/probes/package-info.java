/**
 * Compares what the users of a site rely on with the baseline: features of its explainer, and probes that read the same
 * rows.
 *
 * <p><b>Enters:</b> files of probes as people save them, sampled rows of a window and those that the baseline keeps.
 * <b>Leaves:</b> the changes of each probe, with the chance of each.
 *
 * <p>A probe reads rows and needs no codes, so all sampled rows of a window count, and a decoder that is swapped does
 * not touch it. Requests are what is compared, as everywhere: see {@link io.plumbline.features.MeanTest}.
 */
@NullMarked
package io.plumbline.probes;

import org.jspecify.annotations.NullMarked;
