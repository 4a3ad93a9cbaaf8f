package io.plumbline.topology.ingest;

import io.plumbline.moments.MaskedRows;
import io.plumbline.wire.ActivationBlob;
import io.plumbline.wire.MomentRecord;
import io.plumbline.wire.RequestRecord;
import org.jspecify.annotations.Nullable;

/**
 * A checked record of rows or of a moment: known site, right widths, every value finite. One without either is a
 * producer's word of tokens that it served.
 *
 * @param request hash of the request the rows belong to; rows of one request are not independent
 * @param requestName the text that names it, {@link io.plumbline.moments.RequestTotals#shortName}; null where the
 *     record is its own
 * @param kept the rows that are not masked, as they lie in the record; null where all are
 * @param masked how many rows of the record were taken out; with those of the batch at least one,
 *     but for a producer's word
 * @param record identity of the record by what was sent, see {@link io.plumbline.moments.RowSample#recordHash}
 * @param moment the second moment that came instead of rows; {@code kept} is null then
 * @param id what the record is remembered by, so that it counts once when it is sent again, {@link RecordId}; null
 *     where the producer did not ask for it
 * @param notes what the producer says of its rows
 * @param whole its requests with all their rows, masked ones too, where the site names the rest of its model and they
 *     can be run through it; otherwise null
 */
public record Ingested(
        String site,
        long request,
        @Nullable String requestName,
        @Nullable ActivationBlob kept,
        MaskedRows masked,
        long record,
        @Nullable MomentRecord moment,
        @Nullable Long id,
        ProducerNotes notes,
        @Nullable RequestRecord whole) {

    /** Creates a record of which no request is kept whole. */
    public Ingested(
            String site,
            long request,
            @Nullable String requestName,
            @Nullable ActivationBlob kept,
            MaskedRows masked,
            long record,
            @Nullable MomentRecord moment,
            @Nullable Long id,
            ProducerNotes notes) {
        this(site, request, requestName, kept, masked, record, moment, id, notes, null);
    }

    /** Creates a record of rows that counts every time it comes, without notes. */
    public Ingested(
            String site,
            long request,
            @Nullable String requestName,
            @Nullable ActivationBlob kept,
            MaskedRows masked,
            long record) {
        this(site, request, requestName, kept, masked, record, null, null, ProducerNotes.NONE);
    }

    /** Creates a record that is its own request. */
    public Ingested(String site, long request, @Nullable ActivationBlob kept, MaskedRows masked, long record) {
        this(site, request, null, kept, masked, record);
    }

    /** Returns the rows of the record, masked ones among them. */
    public int rows() {
        int summed = moment == null ? 0 : moment.counts().rows();
        return Math.toIntExact(masked.total()) + summed + (kept == null ? 0 : kept.rows());
    }
}
