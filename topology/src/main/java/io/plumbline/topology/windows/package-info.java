/**
 * Second stage: checked batches become closed windows.
 *
 * <p>Two levels, because moments add up. Level 1 ({@link io.plumbline.topology.windows.PaneAccumulator}) runs where the
 * records are read, one instance per source partition, and adds every row once to the pane its event time falls in. A
 * pane is the greatest common divisor of window size and advance. When a pane closes it leaves as its tiles and
 * its parts, keyed by site. Level 2 ({@link
 * io.plumbline.topology.windows.WindowComposer}) adds the tiles of all partitions and composes windows from panes.
 *
 * <p><b>Closing.</b> At level 1 time is kept per (site, source partition): the largest event time seen. A pane closes
 * when that time passes its end by the grace period, or when the site was silent for the idle timeout of wall-clock
 * time. Level 2 closes a window at the minimum of what the partitions have closed; a silent partition does not count.
 * So any number of partitions gives the same windows, and one clock that runs ahead closes only its own site. Of a site
 * that does not come to a partition, the records of other sites there say how far the partition is, less a silence, the
 * grace and what clocks may be ahead: otherwise no window would close while a backlog is read in which each site lies
 * on a partition of its own.
 *
 * <p><b>Silence</b> is proven, not assumed: only time counts up to which the source held nothing unread
 * ({@link io.plumbline.topology.windows.SourceWatch}). A partition that holds windows back without catching up is given
 * up ({@link io.plumbline.topology.windows.SiteProgress}), since it would let the panes of the others pile up.
 *
 * <p><b>Rows</b> are accounted for in state, not in metrics: {@link io.plumbline.topology.panes.RowAccount}. Level 1
 * counts per site and partition what it read, left out and holds open, and sends the sums with its progress; level 2
 * adds what arrived. Counters of a process were not enough: a record that is read again after a crash counts again
 * there.
 *
 * <p><b>Requests.</b> Where a site has a projection ({@link io.plumbline.topology.panes.RequestTotalling}), level 1
 * adds up, per request of a pane, its rows and their projected sum. They are stored, sent and merged as moments are: so
 * a request whose records come through several partitions, or that lasts longer than a pane, is one request in its
 * window.
 *
 * <p><b>Moments instead of rows.</b> A record that brings a moment is added to its pane as a tile of another partition
 * would be. Its requests are in no totals, so a window with one has none. Its sampled rows are some of the smallest
 * hashes of its own rows, and the sample of the pane and of the window keeps the rows up to the smallest hash up to
 * which all of them are known.
 *
 * <p><b>Sent again.</b> A pane of level 1 remembers the ids of records whose producers want them to count once ({@link
 * io.plumbline.topology.panes.RecordIds}), in the store and the transaction of their rows, until it closes.
 *
 * <p><b>Notes.</b> What producers say of their rows, tokens served and where they come from, travels beside the moments
 * ({@link io.plumbline.topology.panes.WindowNotes}) and enters no sum. It costs nothing where producers say nothing.
 *
 * <p><b>State.</b> Both levels keep their panes in memory while hot and write them as tiles to a change-logged store
 * when Kafka Streams commits, inside the same transaction ({@link io.plumbline.topology.panes.CommitHook}). Writing
 * in {@code StateStore.flush} or {@code commit} would be too late: those run after the transaction, and a killed
 * instance would lose rows whose offsets are already committed. Writing at every record would be right and some thirty
 * times slower.
 *
 * <p><b>Beside the stream.</b> Adding the panes of a closed window together ({@link
 * io.plumbline.topology.windows.WindowPanes}) and measuring it ({@link io.plumbline.topology.windows.WindowWork}) takes
 * from tens of milliseconds to a second, in which its stream thread would take no records. So it is done by other
 * threads, and until it is done nothing of the window changes in the state: panes and marks are committed as of an open
 * window. The stream thread finishes it in the transaction that carries what is forwarded. Waiting for the work in the
 * commit instead would stall every commit that follows a close by as much as doing it on the spot. A successor finds
 * the window open and closes it when it begins; only {@code closed_by} may then differ.
 *
 * <p><b>Agreement.</b> What decides which rows are summed and how windows are cut ({@link
 * io.plumbline.topology.panes.Agreement}) is stored beside each site's state and is a header of each pane message. An
 * instance with another one stops. Closing the open panes under the old one instead would make two windows of one, each
 * with a part of the rows.
 */
@NullMarked
package io.plumbline.topology.windows;

import org.jspecify.annotations.NullMarked;
