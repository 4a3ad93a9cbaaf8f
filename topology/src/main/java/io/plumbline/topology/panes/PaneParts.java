package io.plumbline.topology.panes;

import io.plumbline.moments.RowSample;
import io.plumbline.requests.RequestTotals;
import io.plumbline.requests.WholeRequests;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lists the parts of a pane. A new one is its class and a constant here, behind the others: the place of a part is its
 * number in stores and messages.
 */
public final class PaneParts {

    private static final List<PartKind<?>> LIST = new ArrayList<>();

    /** Numbers of records, requests and masked rows. */
    public static final PartKind<PaneCounts> COUNTS =
            kind(site -> new CountsPart(), site -> PaneCounts.NONE, PaneCounts::plus);

    /** Sampled rows, for the refit. */
    public static final PartKind<RowSample> SAMPLE =
            kind(SamplePart::new, site -> RowSample.ofCapacity(site.sampleRows()), RowSample::merge);

    /** Rows and projected sums of each request. */
    public static final PartKind<RequestTotals> TOTALS = kind(TotalsPart::new, TotalsPart::nothing, TotalsPart::plus);

    /** The ids of records that count once; they stay at level 1. */
    public static final PartKind<RecordIds> IDS = kind(site -> new RecordIds(), site -> null, (sum, ids) -> sum);

    /** The notes of producers on their rows. */
    public static final PartKind<WindowNotes> NOTES =
            kind(site -> new NotesPart(), site -> new WindowNotes(), WindowNotes::merge);

    /** Requests with all their rows, of a site that names the rest of its model. */
    public static final PartKind<WholeRequests> WHOLE = kind(WholePart::new, WholePart::nothing, WholeRequests::merge);

    /** Some rows of requests by the engine that served them, of a site whose engines are compared. */
    public static final PartKind<EngineRequests> ENGINES =
            kind(EnginesPart::new, EnginesPart::nothing, EngineRequests::merge);

    /** All of them, in the order of their numbers. */
    public static final List<PartKind<?>> ALL = Collections.unmodifiableList(LIST);

    private PaneParts() {}

    /** Number 1 is the moment's, which is no part: so its tiles lie before the parts in every store. */
    private static <V> PartKind<V> kind(
            Function<PaneSite, PanePart<V>> open, Function<PaneSite, @Nullable V> nothing, BinaryOperator<V> plus) {
        PartKind<V> kind = new PartKind<>(LIST.size() + Pane.MOMENT + 1, open, nothing, plus);
        LIST.add(kind);
        return kind;
    }
}
