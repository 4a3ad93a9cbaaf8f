package io.plumbline.topology.panes;

import io.plumbline.moments.RowSample;
import io.plumbline.requests.RequestTotals;
import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.panes.PartKind.Erasing;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * Lists the parts of a pane. A new one is its class and a constant here, behind the others: the place of a part is its
 * number in stores and messages.
 */
public final class PaneParts {

    private static final List<PartKind<?>> LIST = new ArrayList<>();

    /** Numbers of records, requests and masked rows. */
    public static final PartKind<PaneCounts> COUNTS =
            kind(site -> new CountsPart(), site -> PaneCounts.NONE, PaneCounts::plus, Erasing.NOTHING);

    /** Sampled rows, for the refit. */
    public static final PartKind<RowSample> SAMPLE = kind(
            SamplePart::new, site -> RowSample.ofCapacity(site.sampleRows()), RowSample::merge, RowSample::without);

    /** Rows and projected sums of each request. */
    public static final PartKind<RequestTotals> TOTALS =
            kind(TotalsPart::new, TotalsPart::nothing, TotalsPart::plus, RequestTotals::without);

    /** The ids of records that count once; they stay at level 1. */
    public static final PartKind<RecordIds> IDS =
            kind(site -> new RecordIds(), site -> null, (sum, ids) -> sum, Erasing.NOTHING);

    /** The notes of producers on their rows. */
    public static final PartKind<WindowNotes> NOTES =
            kind(site -> new NotesPart(), site -> new WindowNotes(), WindowNotes::merge, WindowNotes::without);

    /** Requests with all their rows, of a site that names the rest of its model. */
    public static final PartKind<WholeRequests> WHOLE =
            kind(WholePart::new, WholePart::nothing, WholeRequests::merge, WholeRequests::without);

    /** Some rows of requests by the engine that served them, of a site whose engines are compared. */
    public static final PartKind<EngineRequests> ENGINES =
            kind(EnginesPart::new, EnginesPart::nothing, EngineRequests::merge, EngineRequests::without);

    /** All of them, in the order of their numbers. */
    public static final List<PartKind<?>> ALL = Collections.unmodifiableList(LIST);

    private PaneParts() {}

    /**
     * Returns an entry of a pane store without one request; the same array where it holds nothing of it. Moments stay:
     * of a sum of rows nobody can tell whose they were.
     *
     * @param request hash of its name
     */
    public static byte[] without(Bytes key, byte[] value, long request) {
        PaneKeys entry = PaneKeys.decode(key);
        return entry.kind() == PaneKeys.PANE && entry.part() != Pane.MOMENT
                ? ALL.get(entry.part() - Pane.MOMENT - 1).without(value, request)
                : value;
    }

    /** Number 1 is the moment's, which is no part: so its tiles lie before the parts in every store. */
    private static <V> PartKind<V> kind(
            Function<PaneSite, PanePart<V>> open,
            Function<PaneSite, @Nullable V> nothing,
            BinaryOperator<V> plus,
            Erasing erasing) {
        PartKind<V> kind = new PartKind<>(LIST.size() + Pane.MOMENT + 1, open, nothing, plus, erasing);
        LIST.add(kind);
        return kind;
    }
}
