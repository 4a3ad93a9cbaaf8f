package io.plumbline.topology.ingest;

import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowMask;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.RequestRecord;
import org.jspecify.annotations.Nullable;

/**
 * A checked record, by what it brings to its site: rows, the moment of rows, or word of tokens whose rows come later.
 * The site is known, the widths are right and every value is finite.
 */
public sealed interface Ingested {

    /** Returns the site that the record is counted at. */
    String site();

    /**
     * Returns what the record is remembered by, so that it counts once when it is sent again, {@link RecordId}; null
     * where the producer did not ask for it.
     */
    @Nullable
    Long id();

    /** Returns what the producer says of the rows. */
    ProducerNotes notes();

    /** Returns how many rows were taken out. */
    default MaskedRows masked() {
        return MaskedRows.NONE;
    }

    /** Returns the number of rows, masked ones among them; 0 of an announcement alone. */
    default int rows() {
        return 0;
    }

    /** Returns the number of requests that rows are summed of. */
    default long requests() {
        return 0;
    }

    /**
     * Rows of one request.
     *
     * @param record identity of the record by what was sent, see {@link io.plumbline.moments.RowSample#recordHash}
     * @param kept the rows that are not masked, as they lie in the record, and how many are; together at least one
     * @param whole its requests with all their rows, masked ones too, where the site names the rest of its model and
     *     they can be run through it; otherwise null
     */
    record Rows(
            String site,
            @Nullable Long id,
            ProducerNotes notes,
            long record,
            Request request,
            RowMask.Kept<ActivationBlob> kept,
            @Nullable RequestRecord whole)
            implements Ingested {

        /** Returns the rows that are summed; null where all are masked. */
        public @Nullable ActivationBlob summed() {
            return kept.rows();
        }

        @Override
        public MaskedRows masked() {
            return kept.masked();
        }

        @Override
        public int rows() {
            ActivationBlob summed = summed();
            return Math.toIntExact(masked().total()) + (summed == null ? 0 : summed.rows());
        }

        @Override
        public long requests() {
            return summed() == null ? 0 : 1;
        }
    }

    /**
     * Names a request; rows of one request are not independent.
     *
     * @param hash of its name, or of the record that is its own request
     * @param name the text that names it, {@link io.plumbline.records.RequestName#shortened}; null where the record
     *     is its own request
     */
    record Request(long hash, @Nullable String name) {}

    /** The second moment of rows, which came instead of them. */
    record Moment(String site, @Nullable Long id, ProducerNotes notes, MomentRecord moment) implements Ingested {

        @Override
        public MaskedRows masked() {
            return new MaskedRows(
                    moment.counts().maskedByToken(), moment.counts().maskedByNorm());
        }

        @Override
        public int rows() {
            return rowsOf(moment);
        }

        static int rowsOf(MomentRecord moment) {
            MomentRecord.Counts counts = moment.counts();
            return counts.rows() + Math.toIntExact((long) counts.maskedByToken() + counts.maskedByNorm());
        }

        @Override
        public long requests() {
            return moment.counts().requests();
        }
    }

    /** A producer's word of tokens that it served, whose rows come later or never; its notes say how many. */
    record Announcement(String site, @Nullable Long id, ProducerNotes notes) implements Ingested {}
}
