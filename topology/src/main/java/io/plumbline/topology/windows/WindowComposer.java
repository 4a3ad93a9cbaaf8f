package io.plumbline.topology.windows;

import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.panes.Agreement;
import io.plumbline.topology.panes.CommitHook;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.windows.ClosedWindow.ClosedBy;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds the tiles of all partitions per site and pane, and forwards each window once when it closes: level 2.
 *
 * <p>Between the two lies what is done beside the stream: adding the panes together and the {@link WindowWork}. A
 * window is begun ({@link WindowsUnderWay}), and <em>finished</em> by the stream thread when the work is done. Only
 * then, in one transaction with what is forwarded, its panes leave the store and the site's mark moves. Rows that come
 * meanwhile for a window under way are late, as they would be after it.
 */
final class WindowComposer<V> implements Task<byte @Nullable [], byte @Nullable []> {

    private static final Logger LOG = LoggerFactory.getLogger(WindowComposer.class);

    private static final Duration HOLD_CHECK = Duration.ofSeconds(1);

    /** The interval at which finished work is looked for when no records come. */
    private static final Duration FINISH_CHECK = Duration.ofMillis(50);

    /** The most windows of a task that may be under way; the next one waits for the oldest. Bounds memory. */
    static final int MOST_UNDER_WAY = 2;

    private final ProcessorContext<String, V> context;
    private final WindowSettings settings;
    private final String storeName;
    private final PaneStore<SiteProgress> panes;
    private final CommitHook.Signal changed;
    private final WindowListener listener;
    private final WindowsUnderWay<V> underWay;
    private final Set<String> accounted = new HashSet<>();
    private final long application;
    private final Map<String, Agreement> agreements;
    private final int waitingPanes;
    private long skipped;
    private long lastCheckMs;
    private long stalledNanos;
    private boolean resumed;

    WindowComposer(
            ProcessorContext<String, V> context,
            WindowSettings settings,
            CommitHook hook,
            String storeName,
            WindowListener listener,
            WindowsUnderWay<V> underWay,
            Map<String, Agreement> agreements,
            int waitingPanes) {
        this.waitingPanes = waitingPanes;
        this.context = context;
        this.settings = settings;
        this.storeName = storeName;
        this.listener = listener;
        this.underWay = underWay;
        application = PaneMessage.application(context.applicationId());
        panes = context.getStateStore(storeName);
        panes.reset(agreements);
        this.agreements = agreements;
        lastCheckMs = context.currentSystemTimeMs();
        changed = hook.beforeCommit(context, this::write);
        listener.onState(storeName, task(), panes.size());
        context.schedule(PaneStore.FORGET_AFTER, PunctuationType.WALL_CLOCK_TIME, wallMs -> forgetUnknown());
        Duration maxHold = settings.maxHold();
        if (maxHold != null) {
            context.schedule(
                    HOLD_CHECK, PunctuationType.WALL_CLOCK_TIME, wallMs -> giveUpLaggards(wallMs, maxHold.toMillis()));
        }
        context.schedule(FINISH_CHECK, PunctuationType.WALL_CLOCK_TIME, wallMs -> finishDone());
    }

    /** Begins the windows again that a previous task left unfinished: no further record may arrive to trigger them. */
    private void resume() {
        if (!resumed) {
            resumed = true;
            for (String site : panes.sites()) {
                begin(site, panes.site(site), ClosedBy.EVENT_TIME);
                boundWaiting(site, panes.site(site));
            }
        }
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> record) {
        finishDone();
        byte[] key = record.key();
        byte[] value = record.value();
        if (key == null || value == null) {
            skip("", "it has no " + (key == null ? "key" : "value"));
            return;
        }
        String site = new String(key, StandardCharsets.UTF_8);
        try {
            PaneMessage message = PaneMessage.decode(value, application);
            requireAgreement(site, record.headers());
            take(site, message);
        } catch (IllegalArgumentException e) {
            // Stopping would not help: the record would be read again for ever.
            skip(site, String.valueOf(e.getMessage()));
        }
    }

    /** Ends this instance where another one makes panes that must not be added to those made here. */
    private void requireAgreement(String site, Headers headers) {
        Agreement here = agreements.get(site);
        if (here != null) {
            here.require(site, headers);
        }
    }

    private void skip(String site, String reason) {
        RecordMetadata place = context.recordMetadata().orElseThrow();
        skipped++;
        // The topic may hold a day of another application's messages.
        if (Long.bitCount(skipped) == 1) {
            LOG.warn(
                    "a record is not part of a pane and was skipped: "
                            + "site={} topic={} partition={} offset={} skipped={} reason={}",
                    Printable.value(site),
                    place.topic(),
                    place.partition(),
                    place.offset(),
                    skipped,
                    Printable.value(reason));
        }
        listener.onForeign();
    }

    /** Takes one message; throws {@link IllegalArgumentException} before any sum is touched when it does not fit. */
    private void take(String site, PaneMessage message) {
        SiteProgress progress = panes.site(site);
        if (message instanceof PaneMessage.OfPane ofPane) {
            take(site, progress, ofPane);
        } else if (message instanceof PaneMessage.Progress step) {
            progress.update(step, wallMs());
            panes.touch(site);
            if (!panes.knows(site)) {
                // Added or removed by a rolling restart, and not done here yet: who knows the site closes its windows.
                LOG.debug(
                        "the site is not configured here; its panes are kept and its windows not closed: site={}",
                        Printable.value(site));
            } else {
                closeWindows(site, progress, step.silent() ? ClosedBy.IDLE : ClosedBy.EVENT_TIME);
                boundWaiting(site, progress);
                accounted.add(site);
                listener.onAccount(site, account(site, progress));
            }
        }
        changed.raise();
    }

    private void take(String site, SiteProgress progress, PaneMessage.OfPane message) {
        requirePane(message.paneStartMs(), message.paneMs());
        if (!isLate(progress, message.paneStartMs())) {
            panes.paneToChange(site, message).take(message.what(), message.messages(), message.bytes());
            progress.took(message.partition());
        } else if (message.rows() > 0) {
            leaveOut(site, progress, message.partition(), message.rows());
        }
        if (message.rows() > 0) {
            progress.arrived(message.partition(), message.rows());
            panes.touch(site);
        }
    }

    private void leaveOut(String site, SiteProgress progress, int partition, long rows) {
        LateReason reason = progress.isGivenUp(partition) ? LateReason.HELD_TOO_LONG : LateReason.WINDOW_CLOSED;
        progress.countLate(rows, reason);
        listener.onLate(site, rows, reason);
    }

    /** Deletes panes of sites taken out of the configuration in the end: their rows are in no window. */
    private void forgetUnknown() {
        panes.forgetUnknown().forEach((site, rows) -> {
            panes.site(site).countLate(rows, LateReason.NOT_CONFIGURED);
            listener.onLate(site, rows, LateReason.NOT_CONFIGURED);
            panes.touch(site);
            changed.raise();
        });
    }

    /** Stops waiting for partitions that hold windows back and do not catch up. */
    private void giveUpLaggards(long wallMs, long maxHoldMs) {
        // Time in which this task did not run is nobody's fault: what would have arrived lies unread.
        long elapsedMs = Math.min(wallMs - lastCheckMs, 2 * HOLD_CHECK.toMillis());
        lastCheckMs = wallMs;
        for (String site : panes.sites()) {
            SiteProgress progress = panes.site(site);
            List<Integer> givenUp = progress.hold(elapsedMs, wallMs, settings.rhythmMs(), settings, maxHoldMs);
            if (givenUp.isEmpty()) {
                continue;
            }
            for (int partition : givenUp) {
                LOG.warn(
                        "a source partition held windows back and did not catch up; they close without it, "
                                + "and its rows are late until it has caught up: site={} partition={} held_s={}\n"
                                + "look at the clocks of its producers",
                        Printable.value(site),
                        partition,
                        maxHoldMs / 1e3);
                listener.onGivenUp(site, partition);
            }
            panes.touch(site);
            closeWindows(site, progress, ClosedBy.MAX_HOLD);
            changed.raise();
        }
    }

    /**
     * Stops waiting for the slowest partitions where more panes wait than memory is reckoned for, although reading is
     * held back: a partition on which the site alone is far behind, or a source that cannot be looked at.
     */
    private void boundWaiting(String site, SiteProgress progress) {
        while (waiting(site) > waitingPanes) {
            List<Integer> givenUp = progress.giveUpSlowest();
            if (givenUp.isEmpty()) {
                return;
            }
            for (int partition : givenUp) {
                LOG.warn(
                        "more panes waited for a source partition than state.waiting_panes allows; "
                                + "windows close without it, and its rows are late until it has caught up: "
                                + "site={} partition={} waiting_panes={}\nlook at the clocks of its producers",
                        Printable.value(site),
                        partition,
                        waitingPanes);
                listener.onGivenUp(site, partition);
            }
            panes.touch(site);
            changed.raise();
            begin(site, progress, ClosedBy.MAX_HOLD);
        }
    }

    private int waiting(String site) {
        WindowsUnderWay.Mark mark = underWay.mark(site);
        SortedMap<Long, Pane> open = panes.panes(site);
        return mark == null ? open.size() : open.tailMap(mark.panesBeforeMs()).size();
    }

    private long wallMs() {
        return context.currentSystemTimeMs();
    }

    private void requirePane(long startMs, long paneMs) {
        if (paneMs != settings.paneMs() || settings.paneStart(startMs) != startMs) {
            throw new IllegalArgumentException(
                    "a pane of %d ms that starts at %d ms: panes have %d ms here and start at multiples of it"
                            .formatted(paneMs, startMs, settings.paneMs()));
        }
    }

    /**
     * Returns whether a pane is late: a window that holds it has closed without it, and partly counted would be wrong
     * in silence.
     */
    private boolean isLate(SiteProgress progress, long paneStartMs) {
        return progress.isClosed(paneStartMs + settings.paneMs());
    }

    private void closeWindows(String site, SiteProgress progress, ClosedBy closedBy) {
        begin(site, progress, closedBy);
        finishDone();
    }

    /** Closes every window that may close, and has it composed and worked on. */
    private void begin(String site, SiteProgress progress, ClosedBy closedBy) {
        long frontierMs = progress.frontierMs();
        if (frontierMs == SiteProgress.NEVER) {
            return;
        }
        WindowsUnderWay.Mark mark = underWay.mark(site);
        if (mark == null) {
            mark = new WindowsUnderWay.Mark(progress.windowsClosedUpToMs(), Long.MIN_VALUE);
        }
        long begin = System.nanoTime();
        SortedMap<Long, Pane> open = panes.panes(site).tailMap(mark.panesBeforeMs());
        while (!open.isEmpty()) {
            long startMs = progress.firstOpenWindow(settings, mark.windowsUpToMs(), open.firstKey());
            long endMs = startMs + settings.sizeMs();
            if (endMs > frontierMs) {
                break;
            }
            if (underWay.size() >= MOST_UNDER_WAY) {
                finish(Objects.requireNonNull(underWay.next(true)));
            }
            mark = new WindowsUnderWay.Mark(endMs, startMs + settings.advanceMs());
            underWay.begin(closed(site, startMs, endMs, closedBy, progress), mark.panesBeforeMs());
            open = panes.panes(site).tailMap(mark.panesBeforeMs());
            stalledNanos += System.nanoTime() - begin;
            begin = System.nanoTime();
        }
        long upToMs = Math.max(mark.windowsUpToMs(), settings.lastWindowEnd(frontierMs));
        underWay.mark(site, new WindowsUnderWay.Mark(upToMs, mark.panesBeforeMs()));
        progress.composeWindowsUpTo(upToMs);
        if (!underWay.holds(site)) {
            progress.closeWindowsUpTo(upToMs);
        }
    }

    /** Finishes what is done, in order. */
    private void finishDone() {
        resume();
        long begin = System.nanoTime();
        boolean any = false;
        for (WindowsUnderWay.Entry<V> entry = underWay.next(false); entry != null; entry = underWay.next(false)) {
            finish(entry);
            any = true;
        }
        if (any) {
            context.commit();
            stalledNanos += System.nanoTime() - begin;
        }
        if (stalledNanos > 0) {
            listener.onStall(stalledNanos);
            stalledNanos = 0;
        }
    }

    /** Takes the window out of the state and forwards it, all in the transaction under way. */
    private void finish(WindowsUnderWay.Entry<V> entry) {
        WindowsUnderWay.Worked<V> worked = entry.join();
        String site = entry.panes().site().site();
        SiteProgress progress = panes.site(site);
        progress.closeWindowsUpTo(entry.panes().endMs());
        removePanesBefore(site, progress, entry.panesBeforeMs());
        if (!underWay.holds(site)) {
            progress.closeWindowsUpTo(
                    Objects.requireNonNull(underWay.mark(site)).windowsUpToMs());
        }
        panes.touch(site);
        changed.raise();
        RowAccount account = account(site, progress);
        if (worked != null) {
            ClosedWindow window = worked.window();
            listener.onWindowClosed(site, window.moment().rows());
            context.forward(new Record<>(site, worked.result().apply(window.with(account)), window.endMs() - 1));
        }
        accounted.add(site);
        listener.onAccount(site, account);
    }

    private void write() {
        long begin = System.nanoTime();
        panes.writeDirty();
        listener.onStored(System.nanoTime() - begin);
        listener.onState(storeName, task(), panes.size());
    }

    private String task() {
        return context.taskId().toString();
    }

    private WindowPanes closed(String site, long startMs, long endMs, ClosedBy closedBy, SiteProgress progress) {
        return new WindowPanes(
                panes.knownSite(site, startMs),
                startMs,
                endMs,
                List.copyOf(panes.panes(site).subMap(startMs, endMs).values()),
                closedBy,
                account(site, progress));
    }

    private RowAccount account(String site, SiteProgress progress) {
        long open = 0;
        for (Pane pane : panes.panes(site).values()) {
            open += pane.rowsRead();
        }
        return progress.account(open);
    }

    private void removePanesBefore(String site, SiteProgress progress, long timeMs) {
        for (Map.Entry<Long, Pane> ended :
                List.copyOf(panes.panes(site).headMap(timeMs).entrySet())) {
            progress.countInWindows(
                    ended.getValue().rows(), ended.getValue().counted().masked());
            panes.remove(site, ended.getKey());
        }
        progress.forgetPanesBefore(timeMs);
    }

    @Override
    public void close() {
        underWay.drop();
        accounted.forEach(listener::onAccountReleased);
        listener.onStateReleased(storeName, task());
    }
}
