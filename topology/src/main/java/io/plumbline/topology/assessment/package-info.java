/**
 * Third stage: a closed window is measured, judged and reported, and where it has drifted, an adaptation is asked for.
 *
 * <p>Enters: {@link io.plumbline.topology.windows.ClosedWindow}. Leaves: {@link
 * io.plumbline.topology.report.WindowReport} to the reports topic, {@link
 * io.plumbline.topology.assessment.AdaptationMessage} to the requests topic.
 *
 * <p>Measuring needs no memory of the site and is done beside the stream ({@link
 * io.plumbline.topology.assessment.WindowMeter}); deciding takes memory and returns memory ({@link
 * io.plumbline.topology.assessment.SiteDecision}), in microseconds, on the stream thread in the order of the windows.
 * Each section of the report is a {@link io.plumbline.topology.assessment.Measure}: it takes its time before the
 * verdict, and the report takes it in once the verdict is known.
 *
 * <p>Every drifted window above its threshold sends its row sample; the adapter decides when a refit is due. A request
 * carries the sample and not the window's moment. The refit takes the active subspace from the rows it fits on, so that
 * the validation rows, which come from other requests, have had no part in any of it.
 *
 * <p>Reconstruction (FVU) is measured on as many of the sampled rows as in clean windows of the baseline
 * ({@link io.plumbline.topology.assessment.EncodedRowsRule}): the encoder pass is the dearest step here, and the sample
 * is in random order, so its head is a uniform sample too. Requests are scored one by one by their means, which level 1
 * sent, and by the errors of those rows.
 *
 * <p><b>Layout of what is remembered.</b> A memory of a site that another version wrote is refused, and the monitor
 * stops: a site that forgot silently could miss a drift it had already seen most of.
 */
@NullMarked
package io.plumbline.topology.assessment;

import org.jspecify.annotations.NullMarked;
