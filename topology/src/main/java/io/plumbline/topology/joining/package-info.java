/**
 * Joins records that bring single layers of a site with several targets into records of all layers.
 *
 * <p>Enters: records of the activations topic as bytes. Leaves: the same records to {@code ingest}, and in the place of
 * parts one record of their tensors, made as if a producer had sent it whole. So nothing behind this stage knows of
 * parts, and a window is bit for bit the same however its records were split.
 *
 * <p><b>Key.</b> Parts belong together that name the same site, request and position of their first row, and were read
 * from the same partition. The alternative, sending parts through a topic keyed by request, would write and read every
 * row once more; a producer that gives the parts of a record one key needs nothing of that.
 *
 * <p><b>Time.</b> A joined record has the earliest time of its parts. Every part moves the time of its site's panes as
 * a record does, after what it completes; a part whose pane has closed, by time or by silence, becomes a dead letter.
 *
 * <p><b>State.</b> Parts wait in memory. Those that still wait when Kafka Streams commits are written to a
 * change-logged store in the same transaction ({@link io.plumbline.topology.windows.CommitHook}), so that a killed
 * instance loses none and counts none twice. Parts that come together between two commits are never written.
 *
 * <p>The stage is part of the topology only where a site has several targets.
 */
@NullMarked
package io.plumbline.topology.joining;

import org.jspecify.annotations.NullMarked;
