package io.plumbline.topology.windows;

import io.plumbline.moments.MaskedRows;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.RowsRead;
import io.plumbline.topology.panes.SiteStateCodec;
import io.plumbline.topology.panes.StateVersion;
import io.plumbline.topology.panes.WindowSettings;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Knows how far the source partitions of one site have come, as seen by the composer, how far its windows are closed,
 * and what became of its rows.
 *
 * <p>The frontier, up to which every window may close, is the minimum over the partitions that count: those that are
 * not silent and not given up. Where none counts it is the maximum of what they closed. Records of other sites move the
 * time of a partition on that the site does not come to, and never beyond what some partition closed of the site. A
 * partition that was never heard from holds the frontier back: the accumulator of every partition reports each
 * configured site, as silent after the idle timeout if it has no rows.
 *
 * <p><b>Giving up.</b> A partition holds windows back when it counts and another has closed a window's end that it has
 * not. After {@link WindowSettings#maxHold} of wall-clock time in which its distance to the farthest event time did not
 * shrink by a tenth of that, it is given up: no longer waited for, until it has closed all that the site's windows
 * have. Only time in which another partition of the site was heard counts, so a broker that is away or a composer that
 * stands still gives nobody up. That a partition was given up is persistent, the time it has held is not.
 */
final class SiteProgress {

    private static final byte VERSION = 1;

    private static final List<LateReason> LATE_REASONS = List.of(LateReason.values());
    private static final int MASKED_BYTES = 2 * Long.BYTES;
    private static final int HEADER_BYTES = 1 + Integer.BYTES + Long.BYTES * (3 + LATE_REASONS.size()) + MASKED_BYTES;
    static final long NEVER = Long.MIN_VALUE;

    private final List<PartitionProgress> partitions = new ArrayList<>();
    private final Map<LateReason, Long> late = new EnumMap<>(LateReason.class);
    private long windowsClosedUpToMs = NEVER;

    /**
     * The end of the windows that were composed, beyond {@link #windowsClosedUpToMs} while windows are worked on. No
     * state: a successor composes them again.
     */
    private long windowsComposedUpToMs = NEVER;

    /** The time before which panes began that have left the state with the windows they were in. */
    private long panesGoneBeforeMs = NEVER;

    private long rowsInWindows;
    private MaskedRows masked = MaskedRows.NONE;

    void update(PaneMessage.Progress progress, long wallMs) {
        know(progress.partitions());
        PartitionProgress partition = partitions.get(progress.partition());
        partition.hear(progress, wallMs);
        if (partition.givenUp() && partition.doneUpToMs() >= windowsUpToMs()) {
            partition.waitForAgain();
        }
    }

    private void know(int count) {
        while (partitions.size() < count) {
            partitions.add(new PartitionProgress());
        }
    }

    /** Notes that rows of a pane of {@code partition} arrived, late or not. */
    void arrived(int partition, long rows) {
        know(partition + 1);
        partitions.get(partition).arrive(rows);
    }

    /** Notes that a message of a pane of {@code partition} was taken, and that the rest of the pane follows. */
    void took(int partition) {
        know(partition + 1);
        partitions.get(partition).beginPane();
    }

    /** Returns whether rows of {@code partition} that come too late do so because it was given up. */
    boolean isGivenUp(int partition) {
        return partition < partitions.size() && partitions.get(partition).givenUp();
    }

    void countLate(long rows, LateReason reason) {
        late.merge(reason, rows, Long::sum);
    }

    /** Counts rows of a pane all of whose windows are closed. */
    void countInWindows(long rows, MaskedRows maskedRows) {
        rowsInWindows += rows;
        masked = masked.plus(maskedRows);
    }

    /** The time up to which every partition that counts has sent everything. */
    long frontierMs() {
        long slowest = Long.MAX_VALUE;
        long farthest = NEVER;
        boolean someoneCounts = false;
        for (PartitionProgress partition : partitions) {
            farthest = Math.max(farthest, partition.closedUpToMs());
            if (partition.counts()) {
                someoneCounts = true;
                slowest = Math.min(slowest, partition.doneUpToMs());
            }
        }
        return someoneCounts ? Math.min(slowest, farthest) : farthest;
    }

    /**
     * Takes note that windows were held for {@code elapsedMs}; returns the partitions that are given up for it.
     *
     * @param wallMs now
     * @param rhythmMs how often a partition whose event time moves is heard at least
     */
    List<Integer> hold(long elapsedMs, long wallMs, long rhythmMs, WindowSettings settings, long maxHoldMs) {
        long farthestClosedMs = NEVER;
        long farthestEventMs = NEVER;
        for (PartitionProgress partition : partitions) {
            farthestClosedMs = Math.max(farthestClosedMs, partition.closedUpToMs());
            farthestEventMs = Math.max(farthestEventMs, partition.eventTimeMs());
        }
        List<Integer> givenUp = new ArrayList<>();
        for (int p = 0; p < partitions.size(); p++) {
            PartitionProgress partition = partitions.get(p);
            if (!partition.counts() || !isBehind(partition, farthestClosedMs, settings)) {
                partition.holdsNothing();
                continue;
            }
            long lagMs = partition.eventTimeMs() == NEVER ? Long.MAX_VALUE : farthestEventMs - partition.eventTimeMs();
            partition.hold(anotherSpoke(p, wallMs - 2 * rhythmMs) ? elapsedMs : 0, lagMs, maxHoldMs / 10);
            if (partition.heldMs() >= maxHoldMs) {
                partition.giveUp();
                givenUp.add(p);
            }
        }
        return givenUp;
    }

    /** Gives up the slowest partitions that windows wait for; returns them, none where no window waits. */
    List<Integer> giveUpSlowest() {
        long frontierMs = frontierMs();
        boolean someoneIsAhead = partitions.stream().anyMatch(partition -> partition.closedUpToMs() > frontierMs);
        List<Integer> slowest = new ArrayList<>();
        for (int p = 0; someoneIsAhead && p < partitions.size(); p++) {
            PartitionProgress partition = partitions.get(p);
            if (partition.counts() && partition.doneUpToMs() == frontierMs) {
                partition.giveUp();
                slowest.add(p);
            }
        }
        return slowest;
    }

    private static boolean isBehind(PartitionProgress partition, long farthestMs, WindowSettings settings) {
        if (farthestMs == NEVER) {
            return false;
        }
        return partition.doneUpToMs() == NEVER
                || settings.lastWindowEnd(partition.doneUpToMs()) < settings.lastWindowEnd(farthestMs);
    }

    private boolean anotherSpoke(int than, long sinceMs) {
        for (int p = 0; p < partitions.size(); p++) {
            if (p != than && partitions.get(p).heardWallMs() >= sinceMs) {
                return true;
            }
        }
        return false;
    }

    /** Returns what became of all rows of the site. */
    RowAccount account(long rowsInOpenPanes) {
        long in = 0;
        long open = rowsInOpenPanes;
        Map<LateReason, Long> all = new EnumMap<>(late);
        for (PartitionProgress partition : partitions) {
            RowsRead rows = partition.rows();
            in += rows.in();
            open += rows.open() - partition.arrivedSince();
            LATE_REASONS.forEach(reason -> all.merge(reason, rows.late(reason), Long::sum));
        }
        Map<String, Long> byReason = new TreeMap<>();
        long lateRows = 0;
        for (LateReason reason : LATE_REASONS) {
            long rows = all.getOrDefault(reason, 0L);
            byReason.put(reason.label(), rows);
            lateRows += rows;
        }
        long unaccounted = in - rowsInWindows - open - lateRows - masked.total();
        return new RowAccount(in, rowsInWindows, open, byReason, masked.byReason(), unaccounted);
    }

    boolean isClosed(long paneEndMs) {
        return paneEndMs <= windowsUpToMs();
    }

    private long windowsUpToMs() {
        return Math.max(windowsClosedUpToMs, windowsComposedUpToMs);
    }

    /** Counts panes that end by then as closed from now on, for as long as this object lives. */
    void composeWindowsUpTo(long timeMs) {
        windowsComposedUpToMs = Math.max(windowsComposedUpToMs, timeMs);
    }

    long windowsClosedUpToMs() {
        return windowsClosedUpToMs;
    }

    void closeWindowsUpTo(long timeMs) {
        windowsClosedUpToMs = Math.max(windowsClosedUpToMs, timeMs);
    }

    /** Takes note that the panes that began before {@code timeMs} have left the state. */
    void forgetPanesBefore(long timeMs) {
        panesGoneBeforeMs = Math.max(panesGoneBeforeMs, timeMs);
    }

    /**
     * Returns the start of the first window that may still close and holds the pane at {@code paneStartMs}. No window
     * begins before panes that are gone: after a restart with longer windows of the same panes, the first would lack
     * what the shorter ones took with them.
     *
     * @param windowsUpToMs the end up to which windows are closed or being composed
     */
    long firstOpenWindow(WindowSettings settings, long windowsUpToMs, long paneStartMs) {
        long first = settings.firstWindowStart(paneStartMs);
        if (windowsUpToMs != NEVER) {
            first = Math.max(first, windowsUpToMs - settings.sizeMs() + settings.advanceMs());
        }
        return panesGoneBeforeMs == NEVER ? first : Math.max(first, settings.windowStartFrom(panesGoneBeforeMs));
    }

    static final SiteStateCodec<SiteProgress> CODEC = new SiteStateCodec<>() {
        @Override
        public SiteProgress initial() {
            return new SiteProgress();
        }

        @Override
        public boolean isSilent(SiteProgress progress) {
            return progress.partitions.stream().noneMatch(PartitionProgress::awaits);
        }

        @Override
        public byte[] encode(SiteProgress progress) {
            int partitions = progress.partitions.size();
            ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + PartitionProgress.BYTES * partitions)
                    .put(VERSION)
                    .putInt(partitions)
                    .putLong(progress.windowsClosedUpToMs)
                    .putLong(progress.panesGoneBeforeMs)
                    .putLong(progress.rowsInWindows);
            LATE_REASONS.forEach(reason -> buffer.putLong(progress.late.getOrDefault(reason, 0L)));
            buffer.putLong(progress.masked.byToken()).putLong(progress.masked.byNorm());
            progress.partitions.forEach(partition -> partition.encode(buffer));
            return buffer.array();
        }

        @Override
        public SiteProgress decode(byte[] bytes) {
            ByteBuffer buffer = StateVersion.open("site progress", VERSION, bytes);
            int partitions = Math.max(0, bytes.length - HEADER_BYTES) / PartitionProgress.BYTES;
            StateVersion.requireLength("site progress", HEADER_BYTES + PartitionProgress.BYTES * partitions, bytes);
            if (buffer.getInt() != partitions) {
                throw new IllegalStateException(
                        "the state store holds a site progress that is cut short; reset the application's state");
            }
            SiteProgress progress = new SiteProgress();
            progress.windowsClosedUpToMs = buffer.getLong();
            progress.panesGoneBeforeMs = buffer.getLong();
            progress.rowsInWindows = buffer.getLong();
            LATE_REASONS.forEach(reason -> progress.late.put(reason, buffer.getLong()));
            progress.masked = new MaskedRows(buffer.getLong(), buffer.getLong());
            for (int p = 0; p < partitions; p++) {
                progress.partitions.add(PartitionProgress.decode(buffer));
            }
            return progress;
        }
    };
}
