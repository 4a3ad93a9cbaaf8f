package io.plumbline.topology.joining;

import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.RecordReader;
import io.plumbline.topology.ingest.RefusedRecords;
import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.windows.CommitHook;
import io.plumbline.topology.windows.StateSize;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.topology.windows.WindowStage;
import io.plumbline.wire.ActivationPart;
import io.plumbline.wire.EmptyBatchException;
import io.plumbline.wire.KnownHeaders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Joins the parts that one task reads. A record that is no part is handed on as it came, for the price of looking for
 * one header.
 */
final class JoinTask implements Task<byte @Nullable [], byte @Nullable []> {

    private static final Duration CHECK = Duration.ofSeconds(1);

    private final ProcessorContext<Object, Object> context;
    private final Map<Bytes, JoinedSite> sites;
    private final Limits limits;
    private final JoinStage.Nodes nodes;
    private final RefusedRecords refused;
    private final WindowListener listener;
    private final WindowStage.Closing closing;
    private final KnownHeaders known = new KnownHeaders();
    private final WaitingRecords waiting = new WaitingRecords();
    private final PartStore store;
    private final CommitHook.Signal changed;

    /** Stored parts that are none under this configuration: dead letters as soon as records may be forwarded. */
    private final List<PartRecord> orphans = new ArrayList<>();

    /** Stored parts that bring nothing under this configuration. */
    private final List<PartRecord> repeated = new ArrayList<>();

    /** Restored records that are whole under this configuration: handed on ahead of the next record that is read. */
    private final List<WaitingRecord> whole = new ArrayList<>();

    JoinTask(
            ProcessorContext<Object, Object> context,
            Map<Bytes, JoinedSite> sites,
            Limits limits,
            JoinStage.Nodes nodes,
            RefusedRecords refused,
            WindowListener listener,
            WindowStage.Closing closing,
            CommitHook hook) {
        this.context = context;
        this.sites = sites;
        this.limits = limits;
        this.nodes = nodes;
        this.refused = refused;
        this.listener = listener;
        this.closing = closing;
        store = new PartStore(context.getStateStore(JoinStage.PARTS_STORE));
        store.load().forEach(this::restore);
        sites.values().forEach(this::takeOutWhole);
        changed = hook.beforeCommit(context, this::write);
        tellSize();
        context.schedule(CHECK, PunctuationType.WALL_CLOCK_TIME, wallMs -> check());
    }

    private void restore(PartRecord stored) {
        JoinedSite site = siteOf(stored.record());
        try {
            if (site == null) {
                throw new IllegalArgumentException("not a site with several targets any more");
            }
            Part part = Part.of(site, stored, tensors(site, stored));
            WaitingRecord now = joined(part);
            if (now == waiting.get(part.of())) {
                repeated.add(stored);
            } else {
                waiting.put(now);
            }
        } catch (IllegalArgumentException otherConfiguration) {
            orphans.add(stored);
        }
    }

    /** Takes out what needs no further part since its site has fewer targets than when its parts came. */
    private void takeOutWhole(JoinedSite site) {
        for (WaitingRecord record : waiting.of(site.name())) {
            if (site.isWhole(record.tensors())) {
                waiting.remove(record.of());
                whole.add(record);
            }
        }
    }

    private ActivationPart tensors(JoinedSite site, PartRecord sent) {
        byte[] value = Objects.requireNonNull(sent.record().value(), "a part without a value");
        return ActivationPart.parse(value, known, site.tensors());
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> record) {
        handOnRestored();
        boolean isPart = record.headers().lastHeader(Part.POSITION) != null && record.value() != null;
        JoinedSite site = isPart ? siteOf(record) : null;
        if (site == null) {
            context.forward(record, nodes.whole());
            return;
        }
        RecordMetadata metadata = context.recordMetadata().orElseThrow();
        PartRecord sent =
                new PartRecord(record, new DeadLetter.Place(metadata.topic(), metadata.partition(), metadata.offset()));
        DeadLetter wrong = limits.wrongTime(site.name(), record.timestamp(), context.currentSystemTimeMs());
        if (wrong != null) {
            giveUp(sent, wrong);
            return;
        }
        Part part;
        WaitingRecord now;
        try {
            ActivationPart tensors = tensors(site, sent);
            part = site.isWhole(tensors) ? null : Part.of(site, sent, tensors);
            now = part == null ? null : joined(part);
        } catch (EmptyBatchException e) {
            giveUp(sent, letter(DeadLetter.Reason.EMPTY_BATCH, site, e));
            return;
        } catch (IllegalArgumentException e) {
            giveUp(sent, letter(DeadLetter.Reason.MALFORMED, site, e));
            return;
        }
        if (part == null || now == null) {
            context.forward(record, nodes.whole());
        } else {
            take(site, part, now);
        }
    }

    private void handOnRestored() {
        for (WaitingRecord record : whole) {
            forget(record.of(), record);
            context.forward(record.joined(), nodes.whole());
        }
        whole.clear();
    }

    /** Returns what waits of a record together with a part; the same object where the part brings nothing new. */
    private WaitingRecord joined(Part part) {
        WaitingRecord before = waiting.get(part.of());
        if (before == null) {
            return WaitingRecord.of(part);
        }
        return before.tensors().holds(part.tensors()) ? before : before.plus(part);
    }

    private static DeadLetter letter(DeadLetter.Reason reason, JoinedSite site, RuntimeException refusal) {
        return new DeadLetter(reason, "site %s: %s".formatted(site.name(), refusal.getMessage()));
    }

    private @Nullable JoinedSite siteOf(Record<byte @Nullable [], byte @Nullable []> record) {
        byte[] name = RecordReader.siteOf(record.key(), record.headers());
        return name == null ? null : sites.get(Bytes.wrap(name));
    }

    /** @param now the record that the part belongs to, with it */
    private void take(JoinedSite site, Part part, WaitingRecord now) {
        WaitingRecord before = waiting.get(part.of());
        if (now == before) {
            listener.onRepeated(site.name());
            return;
        }
        if (part.sent().bytes() > limits.unjoinedBytes()) {
            giveUp(
                    part.sent(),
                    unjoined("site %s: %s: a part of %d bytes, limits.unjoined_bytes lets %d bytes of a partition wait"
                            .formatted(site.name(), part.of(), part.sent().bytes(), limits.unjoinedBytes())));
            return;
        }
        if (site.isWhole(now.tensors())) {
            forget(now.of(), before);
            context.forward(now.joined(), nodes.whole());
        } else {
            waiting.put(now);
            store.add(part.sent());
            changed.raise();
        }
        // Behind what the part completes: the record has the earliest time of its parts.
        long timestampMs = part.sent().record().timestamp();
        for (String block : site.blocks()) {
            context.forward(new Record<>(block, Ingested.timeOf(block), timestampMs), nodes.times());
        }
        giveUpClosed(site);
        giveUpBeyondLimit();
    }

    private void check() {
        orphans.forEach(part -> {
            store.remove(part);
            changed.raise();
            giveUp(part, unjoined("the part waited when the sites were configured in another way"));
        });
        orphans.clear();
        repeated.forEach(part -> {
            store.remove(part);
            changed.raise();
        });
        repeated.clear();
        sites.values().forEach(this::giveUpClosed);
    }

    /** Gives up what waits for a pane that has closed. */
    private void giveUpClosed(JoinedSite site) {
        WaitingRecord earliest = waiting.earliest(site.name());
        while (earliest != null && closing.isOver(site.blocks().get(0), earliest.timestampMs())) {
            giveUp(earliest, site, "before its pane closed");
            earliest = waiting.earliest(site.name());
        }
    }

    private void giveUpBeyondLimit() {
        WaitingRecord earliest = waiting.earliest();
        while (earliest != null && waiting.bytes() > limits.unjoinedBytes()) {
            JoinedSite site = siteOf(earliest.parts().get(0).sent().record());
            if (site == null) {
                throw new IllegalStateException("%s waits for a site that is none".formatted(earliest.of()));
            }
            giveUp(
                    earliest,
                    site,
                    "before the parts that wait on this partition passed limits.unjoined_bytes = %d, and the earliest go first"
                            .formatted(limits.unjoinedBytes()));
            earliest = waiting.earliest();
        }
    }

    private void giveUp(WaitingRecord record, JoinedSite site, String when) {
        forget(record.of(), record);
        DeadLetter letter = unjoined(
                "site %s: %s: %s did not come %s; all parts name the same site, request and position and have the same key, so that they lie on one partition"
                        .formatted(site.name(), record.of(), record.missing(site.tensors()), when));
        record.parts().forEach(part -> giveUp(part.sent(), letter));
    }

    private void forget(Part.Of of, @Nullable WaitingRecord record) {
        waiting.remove(of);
        if (record != null) {
            record.parts().forEach(part -> store.remove(part.sent()));
            changed.raise();
        }
    }

    private static DeadLetter unjoined(String message) {
        return new DeadLetter(DeadLetter.Reason.UNJOINED, message);
    }

    private void giveUp(PartRecord part, DeadLetter letter) {
        refused.take(context, part.record(), letter, part.place());
    }

    private void write() {
        store.write();
        tellSize();
    }

    private void tellSize() {
        listener.onState(JoinStage.PARTS_STORE, context.taskId().toString(), new StateSize(0, waiting.bytes()));
    }

    @Override
    public void close() {
        listener.onStateReleased(JoinStage.PARTS_STORE, context.taskId().toString());
    }
}
