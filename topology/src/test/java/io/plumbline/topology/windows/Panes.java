package io.plumbline.topology.windows;

import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMoment;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.MomentTile;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneCounts;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.PaneSite;
import io.plumbline.topology.panes.PartKind;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowNotes;
import io.plumbline.topology.panes.WindowParts;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes panes, their messages and windows for tests. */
public final class Panes {

    private Panes() {}

    /** Makes a pane of a site without request totals. */
    static Pane of(int width, int sampleRows) {
        return new Pane(site("site", width, sampleRows, RequestTotalling.NONE));
    }

    /** Makes a record of rows that are their own request; no row is masked. */
    public static Ingested.Rows rows(String site, long request, ActivationBlob rows, long record) {
        return rows(site, new Ingested.Request(request, null), rows, record);
    }

    /** Makes a record without masked rows, which counts as often as it comes. */
    public static Ingested.Rows rows(String site, Ingested.Request request, ActivationBlob rows, long record) {
        RowMask.Kept<ActivationBlob> kept = new RowMask.Kept<>(rows, MaskedRows.NONE);
        return new Ingested.Rows(site, null, ProducerNotes.NONE, record, request, kept, null);
    }

    static PaneSite site(String site, int width, int sampleRows, RequestTotalling totalling) {
        return new PaneSite(site, 0, width, sampleRows, totalling);
    }

    public static RowSample sample(Pane pane) {
        return Objects.requireNonNull(pane.value(PaneParts.SAMPLE));
    }

    static RequestTotals totals(Pane pane) {
        return Objects.requireNonNull(pane.value(PaneParts.TOTALS));
    }

    /** Has a pane take a tile as the only message of its sender. */
    public static void take(Pane pane, MomentTile tile) {
        pane.take(Pane.MOMENT, 1, tile.encode());
    }

    /** Has a pane take parts that nobody announced. */
    public static void take(Pane pane, PartKind<?> kind, List<byte[]> parts) {
        parts.forEach(part -> pane.take(kind.number(), 1, part));
    }

    /** Has a pane count what no record brought. */
    static void count(Pane pane, long requests, MaskedRows masked) {
        take(pane, PaneParts.COUNTS, List.of(counts(requests, masked)));
    }

    private static byte[] counts(long requests, MaskedRows masked) {
        return ByteBuffer.allocate(7 * Long.BYTES)
                .putLong(requests)
                .putLong(requests)
                .putLong(0)
                .putLong(masked.byToken())
                .putLong(masked.byNorm())
                .array();
    }

    /** Returns a pane of one tile as its first partition sends it. */
    public static PaneMessage.OfPane tile(long startMs, long paneMs, MomentTile tile) {
        return new PaneMessage.OfPane(0, startMs, paneMs, Pane.MOMENT, tile.rows(), 1, tile.encode());
    }

    /** Returns parts that nobody announced. */
    static List<PaneMessage.OfPane> parts(long startMs, long paneMs, PartKind<?> kind, List<byte[]> parts) {
        List<PaneMessage.OfPane> messages = new ArrayList<>();
        for (byte[] part : parts) {
            messages.add(new PaneMessage.OfPane(0, startMs, paneMs, kind.number(), 0, 1, part));
        }
        return messages;
    }

    static List<PaneMessage.OfPane> counted(long startMs, long paneMs, long requests) {
        return parts(startMs, paneMs, PaneParts.COUNTS, List.of(counts(requests, MaskedRows.NONE)));
    }

    /** Makes a window of whose requests nothing is known. */
    public static ClosedWindow window(
            String site,
            long startMs,
            long endMs,
            SecondMoment moment,
            RowSample sample,
            long requests,
            WindowNotes notes,
            RowAccount account) {
        WindowParts parts = WindowParts.NONE
                .with(PaneParts.COUNTS, new PaneCounts(requests, requests, 0, MaskedRows.NONE))
                .with(PaneParts.SAMPLE, sample)
                .with(PaneParts.NOTES, notes);
        return new ClosedWindow(site, startMs, endMs, moment, parts, ClosedWindow.ClosedBy.EVENT_TIME, account, true);
    }

    /** Returns a window with another value of one part. */
    public static <V> ClosedWindow with(ClosedWindow window, PartKind<V> kind, @Nullable V value) {
        return new ClosedWindow(
                window.site(),
                window.startMs(),
                window.endMs(),
                window.moment(),
                window.parts().with(kind, value),
                window.closedBy(),
                window.account(),
                window.complete());
    }

    /** Returns a window at another time. */
    public static ClosedWindow at(ClosedWindow window, long startMs, long endMs) {
        return new ClosedWindow(
                window.site(),
                startMs,
                endMs,
                window.moment(),
                window.parts(),
                window.closedBy(),
                window.account(),
                window.complete());
    }
}
