package io.plumbline.topology.windows;

import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.panes.Agreement;
import io.plumbline.topology.panes.CommitHook;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.WindowSettings;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * Adds every row to its pane and sends closed panes on: level 1. One instance per source partition and life of its
 * task.
 *
 * <p>What it sends about a site is in order: all parts of a pane, then the progress that covers it. Under exactly-once
 * the parts and the progress are one transaction.
 */
final class PaneAccumulator implements Task<String, Ingested> {

    private static final Duration IDLE_CHECK = Duration.ofSeconds(1);

    /** The time for which something has been unread before a partition counts as read with a backlog. */
    private static final Duration BACKLOG_AFTER = Duration.ofSeconds(15);

    private static final Headers NO_HEADERS = new RecordHeaders();

    private final ProcessorContext<byte[], byte[]> context;
    private final WindowSettings settings;
    private final WindowStage.Source source;
    private final PaneStore<SiteClock> panes;
    private final CommitHook.Signal changed;
    private final WindowListener listener;
    private final Duration checkInterval;
    private final long application;
    private final Silence silence;
    private final Map<String, Headers> headers = new HashMap<>();
    private final long absenceMs;
    private long lastCheckMs;
    private long provenMs;

    /** The newest event time of any site in this partition. */
    private long partitionTimeMs = SiteClock.NEVER;

    PaneAccumulator(
            ProcessorContext<byte[], byte[]> context,
            WindowSettings settings,
            CommitHook hook,
            WindowStage.Source source,
            WindowListener listener,
            Map<String, Agreement> agreements,
            Duration ahead) {
        this.context = context;
        this.settings = settings;
        this.source = source;
        this.listener = listener;
        application = PaneMessage.application(context.applicationId());
        panes = context.getStateStore(source.store());
        panes.reset(agreements);
        agreements.forEach((site, agreement) -> headers.put(site, agreement.headers()));
        lastCheckMs = context.currentSystemTimeMs();
        silence = new Silence(lastCheckMs);
        provenMs = lastCheckMs;
        absenceMs = settings.absence(ahead).toMillis();
        for (String site : panes.sites()) {
            partitionTimeMs = Math.max(partitionTimeMs, panes.site(site).eventTimeMs());
        }
        Duration idleClose = settings.idleClose();
        checkInterval = idleClose != null && idleClose.compareTo(IDLE_CHECK) < 0 ? idleClose : IDLE_CHECK;
        changed = hook.beforeCommit(context, this::write);
        listener.onState(source.store(), context.taskId().toString(), panes.size());
        context.schedule(checkInterval, PunctuationType.WALL_CLOCK_TIME, this::check);
        context.schedule(PaneStore.FORGET_AFTER, PunctuationType.WALL_CLOCK_TIME, wallMs -> forgetUnknown());
    }

    @Override
    public void process(Record<String, Ingested> record) {
        String site = record.key();
        SiteClock clock = panes.site(site);
        long wallMs = context.currentSystemTimeMs();
        clock.sawRecordAt(wallMs);
        context.recordMetadata().ifPresent(place -> silence.sawOffset(place.offset(), wallMs));
        boolean speaksAgain = clock.silent();
        clock.silent(false);
        long paneStart = settings.paneStart(record.timestamp());
        count(site, clock, record.value(), paneStart, record.timestamp());
        boolean advanced = clock.advanceTo(record.timestamp());
        long before = partitionTimeMs;
        partitionTimeMs = Math.max(before, record.timestamp());
        clock.follow(partitionTimeMs);
        if (speaksAgain || clock.toldPassedOverMs() > passedOverUpToMs(site, clock)) {
            forwardProgress(site, clock, record.timestamp());
        }
        if (advanced) {
            long closable = settings.paneStart(record.timestamp() - settings.graceMs());
            if (!clock.isClosed(closable)) {
                close(site, clock, closable);
            }
        }
        panes.touch(site);
        changed.raise();
        if (before != SiteClock.NEVER && settings.paneStart(before) < settings.paneStart(partitionTimeMs)) {
            panes.sites().forEach(this::passOver);
        }
    }

    /**
     * Lets the partition's event time speak for a site that it has had nothing of for long: closes what is open of it
     * up to there, and tells level 2, once a pane. Beyond its last pane nothing is closed here, so that rows which come
     * after all are counted while their window is open.
     */
    private void passOver(String site) {
        SiteClock clock = panes.site(site);
        if (clock.silent()) {
            return; // nobody waits for it
        }
        long upToMs = assumedUpToMs(clock);
        SortedMap<Long, Pane> open = panes.panes(site);
        if (!open.isEmpty() && open.firstKey() + settings.paneMs() <= upToMs) {
            close(site, clock, Math.min(upToMs, open.lastKey() + settings.paneMs()));
            panes.touch(site);
            changed.raise();
        } else if (passedOverUpToMs(site, clock) > clock.toldPassedOverMs()) {
            forwardProgress(site, clock, upToMs);
        }
    }

    private long assumedUpToMs(SiteClock clock) {
        return settings.paneStart(clock.assumedTimeMs(partitionTimeMs) - absenceMs);
    }

    /**
     * Returns up to when the records of other sites say that nothing of this one is left here; NEVER: no more than its
     * own.
     */
    private long passedOverUpToMs(String site, SiteClock clock) {
        if (partitionTimeMs == SiteClock.NEVER) {
            return SiteClock.NEVER;
        }
        SortedMap<Long, Pane> open = panes.panes(site);
        long upToMs = Math.min(assumedUpToMs(clock), open.isEmpty() ? Long.MAX_VALUE : open.firstKey());
        return clock.isClosed(upToMs) ? SiteClock.NEVER : upToMs;
    }

    private void count(String site, SiteClock clock, Ingested ingested, long paneStart, long timestampMs) {
        int rows = ingested.rows();
        if (isRepeated(panes.panes(site).get(paneStart), ingested)) {
            listener.onRepeated(site);
        } else if (clock.isClosed(paneStart + settings.paneMs())) {
            clock.countRead(rows);
            LateReason reason = reasonOf(clock, paneStart + settings.paneMs());
            clock.countLate(rows, reason);
            listener.onLate(site, rows, reason);
        } else {
            long begin = System.nanoTime();
            clock.countRead(rows);
            panes.paneToChange(site, paneStart).add(ingested, timestampMs);
            listener.onAccumulated(site, rows, System.nanoTime() - begin);
        }
    }

    private static boolean isRepeated(@Nullable Pane open, Ingested record) {
        return open != null && open.remembers(record.id());
    }

    private void write() {
        long begin = System.nanoTime();
        panes.writeDirty();
        listener.onStored(System.nanoTime() - begin);
        listener.onState(source.store(), context.taskId().toString(), panes.size());
    }

    private LateReason reasonOf(SiteClock clock, long paneEndMs) {
        return clock.eventTimeMs() != SiteClock.NEVER
                        && paneEndMs <= settings.paneStart(clock.eventTimeMs() - settings.graceMs())
                ? LateReason.AFTER_GRACE
                : LateReason.AFTER_IDLE;
    }

    /** Sends the panes that end by {@code upToMs}, then the progress. */
    private void close(String site, SiteClock clock, long upToMs) {
        boolean sent = false;
        for (Map.Entry<Long, Pane> open :
                List.copyOf(panes.panes(site).headMap(upToMs).entrySet())) {
            if (open.getKey() + settings.paneMs() <= upToMs) {
                forwardPane(site, open.getKey(), open.getValue());
                panes.remove(site, open.getKey());
                sent = true;
            }
        }
        clock.closeUpTo(upToMs);
        forwardProgress(site, clock, upToMs);
        if (sent) {
            // Level 2 reads committed records only: without this, a window waits for the commit interval twice.
            context.commit();
        }
    }

    private void forwardPane(String site, long startMs, Pane pane) {
        int partition = context.taskId().partition();
        pane.send((what, rows, messages, bytes) -> forward(
                site,
                new PaneMessage.OfPane(partition, startMs, settings.paneMs(), what, rows, messages, bytes),
                startMs));
    }

    private void forwardProgress(String site, SiteClock clock, long timestampMs) {
        long open = 0;
        for (Pane pane : panes.panes(site).values()) {
            open += pane.rowsRead();
        }
        long wallMs = context.currentSystemTimeMs();
        long passedOverUpToMs = passedOverUpToMs(site, clock);
        PaneMessage progress = new PaneMessage.Progress(
                context.taskId().partition(),
                source.partitions(),
                clock.closedUpToMs(),
                clock.silent(),
                clock.eventTimeMs(),
                passedOverUpToMs,
                wallMs - provenMs > BACKLOG_AFTER.toMillis(),
                clock.rows(open));
        forward(site, progress, timestampMs);
        clock.told(wallMs, passedOverUpToMs);
    }

    private void forward(String site, PaneMessage message, long timestampMs) {
        byte[] key = site.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        context.forward(new Record<>(
                key, message.encode(application), Math.max(0, timestampMs), headers.getOrDefault(site, NO_HEADERS)));
    }

    /** Closes what is open of sites that fell silent, and tells level 2 what it would not hear of otherwise. */
    private void check(long wallMs) {
        // Time in which this task did not run is no silence of the sites: their records lie unread.
        long stalledMs = Math.max(0, wallMs - lastCheckMs - 2 * checkInterval.toMillis());
        lastCheckMs = wallMs;
        SourceWatch.Sight sight = source.watch().sight(context.taskId().partition());
        provenMs = silence.provenMs(sight, wallMs);
        for (String site : panes.sites()) {
            SiteClock clock = panes.site(site);
            clock.postpone(stalledMs);
            if (!clock.silent() && clock.idleMs(wallMs, sight.sinceMs(), provenMs) >= silentAfterMs(clock)) {
                closeSilent(site, clock);
            } else if (clock.hasNews(wallMs, settings.rhythmMs())) {
                forwardProgress(site, clock, clock.closedUpToMs());
            }
        }
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

    /** Closes what is open of a site and tells level 2 not to wait for it. */
    private void closeSilent(String site, SiteClock clock) {
        clock.silent(true);
        long end = panes.panes(site).isEmpty()
                ? clock.closedUpToMs()
                : panes.panes(site).lastKey() + settings.paneMs();
        close(site, clock, end);
        panes.touch(site);
        changed.raise();
        // Windows wait for this word, and where nothing is read nothing else asks for a commit.
        context.commit();
    }

    private long silentAfterMs(SiteClock clock) {
        Duration idleClose = settings.idleClose();
        if (idleClose != null) {
            return idleClose.toMillis();
        }
        return clock.eventTimeMs() == SiteClock.NEVER ? WindowSettings.FIRST_RECORD_WAIT.toMillis() : Long.MAX_VALUE;
    }

    @Override
    public void close() {
        listener.onStateReleased(source.store(), context.taskId().toString());
    }
}
