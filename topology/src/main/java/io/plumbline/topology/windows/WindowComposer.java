package io.plumbline.topology.windows;

import io.plumbline.topology.windows.ClosedWindow.ClosedBy;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.SortedMap;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Level 2: adds the tiles of all partitions per site and pane, and forwards each window once when it closes. */
final class WindowComposer implements Processor<byte @Nullable [], byte @Nullable [], String, ClosedWindow> {

    private static final Logger LOG = LoggerFactory.getLogger(WindowComposer.class);

    private final WindowSettings settings;
    private final CommitHook hook;
    private final String storeName;
    private final WindowListener listener;

    private @Nullable ProcessorContext<String, ClosedWindow> context;
    private @Nullable PaneStore<SiteProgress> store;
    private CommitHook.@Nullable Signal changed;

    WindowComposer(WindowSettings settings, CommitHook hook, String storeName, WindowListener listener) {
        this.settings = settings;
        this.hook = hook;
        this.storeName = storeName;
        this.listener = listener;
    }

    @Override
    public void init(ProcessorContext<String, ClosedWindow> processorContext) {
        context = processorContext;
        PaneStore<SiteProgress> panes = processorContext.getStateStore(storeName);
        panes.reset();
        store = panes;
        changed = hook.beforeCommit(processorContext, panes::writeDirty);
        processorContext.schedule(
                PaneStore.FORGET_AFTER, PunctuationType.WALL_CLOCK_TIME, wallMs -> panes.forgetUnknown());
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> record) {
        byte[] key = record.key();
        byte[] value = record.value();
        if (key == null || value == null) {
            skip("", "it has no " + (key == null ? "key" : "value"));
            return;
        }
        String site = new String(key, StandardCharsets.UTF_8);
        try {
            take(site, PaneMessage.decode(value));
        } catch (IllegalArgumentException e) {
            // Stopping would not help: the record would be read again for ever.
            skip(site, String.valueOf(e.getMessage()));
        }
    }

    private void skip(String site, String reason) {
        RecordMetadata place = Objects.requireNonNull(context, "init was called")
                .recordMetadata()
                .orElseThrow();
        LOG.warn(
                "site \"{}\": the record at {}-{}, offset {} is not part of a pane and was skipped: {}",
                site,
                place.topic(),
                place.partition(),
                place.offset(),
                reason);
        listener.onForeign();
    }

    /** Takes one message; throws {@link IllegalArgumentException} before any sum is touched when it does not fit. */
    private void take(String site, PaneMessage message) {
        PaneStore<SiteProgress> panes = panes();
        SiteProgress progress = panes.site(site);
        if (message instanceof PaneMessage.Tile tile) {
            addTile(site, progress, tile);
        } else if (message instanceof PaneMessage.SamplePart part) {
            requirePane(part.paneStartMs(), part.paneMs());
            if (!isLate(progress, part.paneStartMs())) {
                samplePane(site, part.paneStartMs()).addSamplePart(part.part());
            }
        } else if (message instanceof PaneMessage.Progress step) {
            progress.update(step);
            panes.touch(site);
            if (!panes.knows(site)) {
                // Added or removed by a rolling restart, and not done here yet: who knows the site closes its windows.
                LOG.debug("site {} is not configured here; its panes are kept and its windows not closed", site);
            } else {
                closeWindows(site, progress, step.silent() ? ClosedBy.IDLE : ClosedBy.EVENT_TIME);
            }
        }
        Objects.requireNonNull(changed, "init was called").raise();
    }

    private void addTile(String site, SiteProgress progress, PaneMessage.Tile message) {
        requirePane(message.paneStartMs(), message.paneMs());
        boolean first = message.tile().index() == 0;
        if (isLate(progress, message.paneStartMs())) {
            if (first) {
                listener.onLate(site, message.tile().rows(), WindowListener.Level.WINDOW);
            }
            return;
        }
        Pane pane =
                panes().paneToChange(site, message.paneStartMs(), message.tile().dimension());
        pane.addTile(message.tile());
        if (first) {
            pane.addRequests(message.requests());
        }
    }

    /** The tiles of a pane come before its sample, and say how wide a site is that is not configured here. */
    private Pane samplePane(String site, long paneStartMs) {
        Pane open = panes().panes(site).get(paneStartMs);
        return open == null
                ? panes().paneToChange(site, paneStartMs)
                : panes().paneToChange(site, paneStartMs, open.moment().dimension());
    }

    private void requirePane(long startMs, long paneMs) {
        if (paneMs != settings.paneMs() || settings.paneStart(startMs) != startMs) {
            throw new IllegalArgumentException(
                    "a pane of %d ms that starts at %d ms: panes have %d ms here and start at multiples of it"
                            .formatted(paneMs, startMs, settings.paneMs()));
        }
    }

    /** A pane is late when a window that holds it has closed without it: partly counted would be wrong in silence. */
    private boolean isLate(SiteProgress progress, long paneStartMs) {
        return progress.isClosed(paneStartMs + settings.paneMs());
    }

    private void closeWindows(String site, SiteProgress progress, ClosedBy closedBy) {
        long frontierMs = progress.frontierMs();
        if (frontierMs == SiteProgress.NEVER) {
            return;
        }
        SortedMap<Long, Pane> open = panes().panes(site);
        boolean closed = false;
        while (!open.isEmpty()) {
            long startMs = firstOpenWindow(progress, open.firstKey());
            long endMs = startMs + settings.sizeMs();
            if (endMs > frontierMs) {
                break;
            }
            close(site, startMs, endMs, closedBy);
            progress.closeWindowsUpTo(endMs);
            removePanesBefore(site, startMs + settings.advanceMs());
            open = panes().panes(site);
            closed = true;
        }
        progress.closeWindowsUpTo(settings.lastWindowEnd(frontierMs));
        if (closed) {
            Objects.requireNonNull(context, "init was called").commit();
        }
    }

    private long firstOpenWindow(SiteProgress progress, long paneStartMs) {
        long first = settings.firstWindowStart(paneStartMs);
        if (progress.windowsClosedUpToMs() == SiteProgress.NEVER) {
            return first;
        }
        return Math.max(first, progress.windowsClosedUpToMs() - settings.sizeMs() + settings.advanceMs());
    }

    private void close(String site, long startMs, long endMs, ClosedBy closedBy) {
        Pane whole = panes().newPane(site);
        for (Pane pane : panes().panes(site).subMap(startMs, endMs).values()) {
            whole.merge(pane);
        }
        if (whole.moment().rows() == 0) {
            return;
        }
        ClosedWindow window = new ClosedWindow(
                site,
                startMs,
                endMs,
                whole.moment().snapshot(),
                whole.sample(),
                whole.requests(),
                closedBy,
                whole.isComplete());
        listener.onWindowClosed(site, whole.rows());
        Objects.requireNonNull(context, "init was called").forward(new Record<>(site, window, endMs - 1));
    }

    private void removePanesBefore(String site, long timeMs) {
        for (long startMs :
                java.util.List.copyOf(panes().panes(site).headMap(timeMs).keySet())) {
            panes().remove(site, startMs);
        }
    }

    private PaneStore<SiteProgress> panes() {
        return Objects.requireNonNull(store, "init was called");
    }
}
