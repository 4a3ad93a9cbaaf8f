package io.plumbline.topology.panes;

import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.ingest.Ingested;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * One site over one pane of time, being filled: the second moment of its rows, and the {@link PaneParts} that are
 * collected beside it. One stream task owns it.
 */
public final class Pane {

    /** Stands in messages and keys for the moment, whose tiles come before all parts. */
    public static final byte MOMENT = 1;

    private final PaneMoment moment;
    private final List<PanePart<?>> parts = new ArrayList<>();

    public Pane(PaneSite site) {
        moment = new PaneMoment(site.dimension());
        for (PartKind<?> kind : PaneParts.ALL) {
            parts.add(kind.open(site));
        }
    }

    /** Adds every row of a record of this event time, once; masked ones are only counted. */
    public void add(Ingested record, long timestampMs) {
        moment.add(record);
        for (PanePart<?> part : parts) {
            part.add(record, timestampMs);
        }
    }

    /**
     * Merges one message of level 1.
     *
     * @param messages of the pane that its sender announces with it; 0 where another one does
     * @throws IllegalArgumentException when the bytes do not fit; nothing is changed then
     */
    public void take(byte what, long messages, byte[] bytes) {
        if (what == MOMENT) {
            moment.take(MomentTile.decode(ByteBuffer.wrap(bytes)));
        } else {
            part(what).take(bytes);
        }
        counts().arrived(messages);
    }

    /** Hands over what level 2 needs: the tiles first, one at a time, then the parts. */
    public void send(Sender sender) {
        List<List<byte[]>> encoded = new ArrayList<>();
        long messages = moment.tiles();
        for (PanePart<?> part : parts) {
            encoded.add(part.encode());
            messages += encoded.get(encoded.size() - 1).size();
        }
        for (int index = 0; index < moment.tiles(); index++) {
            boolean first = index == 0;
            sender.send(MOMENT, first ? rowsRead() : 0, first ? messages : 0, moment.tile(index));
        }
        for (PartKind<?> kind : PaneParts.ALL) {
            for (byte[] bytes : encoded.get(place(kind.number()))) {
                sender.send(kind.number(), 0, 0, bytes);
            }
        }
    }

    /** Takes what {@link #send} hands over. */
    public interface Sender {
        /**
         * Takes one message.
         *
         * @param rows read for the pane, with the first message, otherwise 0
         * @param messages of the pane, with the first message, otherwise 0
         */
        void send(byte what, long rows, long messages, byte[] bytes);
    }

    /** Writes what is not stored yet. */
    void store(IntFunction<PartSlots> slots) {
        moment.store(slots.apply(MOMENT));
        for (PartKind<?> kind : PaneParts.ALL) {
            part(kind.number()).store(slots.apply(kind.number()));
        }
    }

    /** Takes in what was stored. */
    void load(byte what, byte[] bytes) {
        if (what == MOMENT) {
            moment.load(bytes);
        } else {
            part(what).load(bytes);
        }
    }

    /** Returns whether all tiles and messages of every sender are in. */
    public boolean isComplete() {
        return moment.isComplete() && counts().isComplete();
    }

    /** Returns what its moment and its parts take. */
    long bytes() {
        return moment.bytes() + parts.stream().mapToLong(PanePart::bytes).sum();
    }

    /** Returns what a part has collected; null where the site collects nothing of this kind. */
    @Nullable
    public <V> V value(PartKind<V> kind) {
        return part(kind).value();
    }

    public SecondMomentAccumulator moment() {
        return moment.sum();
    }

    /** Returns the rows in the moment. */
    public long rows() {
        return moment.rows();
    }

    public PaneCounts counted() {
        return counts().value();
    }

    /** Returns how many rows came, masked or not. */
    public long rowsRead() {
        return rows() + counted().masked().total();
    }

    /** Returns whether a record of this id was added; never so for null. */
    public boolean remembers(@Nullable Long id) {
        return Objects.requireNonNull(value(PaneParts.IDS)).holds(id);
    }

    private CountsPart counts() {
        return (CountsPart) part(PaneParts.COUNTS);
    }

    @SuppressWarnings("unchecked") // what a kind opens is of its type
    private <V> PanePart<V> part(PartKind<V> kind) {
        return (PanePart<V>) part(kind.number());
    }

    private PanePart<?> part(byte number) {
        int place = place(number);
        if (place < 0 || place >= parts.size()) {
            throw new IllegalArgumentException("part %d of a pane is not known here".formatted(number));
        }
        return parts.get(place);
    }

    private static int place(byte number) {
        return number - MOMENT - 1;
    }
}
