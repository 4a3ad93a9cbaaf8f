package io.plumbline.topology.windows;

import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.wire.ActivationBlob;
import io.plumbline.wire.EncodedRows;
import io.plumbline.wire.MomentRecord;
import io.plumbline.wire.MomentTile;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The second moment, the row sample and the request totals of one site over one pane, being filled. One stream task
 * owns it.
 *
 * <p>Rows are counted per tile, so that a pane put together from tiles knows whether every sender's tiles all arrived:
 * the counts of all tiles are then equal. It also remembers what a {@link PaneStore} has not stored yet: tiles that
 * changed, and sampled rows that came.
 *
 * <p><b>Size.</b> {@code 4 d (d + 3)} bytes of moment and at most {@code capacity * (4 (d_in + d_out) + 150)} of
 * sample; of totals of k requests with p components {@code k (8 p + 128)}, and once more until they are stored; {@value
 * RecordIds#BYTES} of each record id.
 */
final class Pane {

    private final SecondMomentAccumulator moment;
    private final RowSample sample;
    private final PaneRequests requestTotals;
    private final PaneWhole whole;
    private final long[] tileRows;
    private final BitSet changedTiles = new BitSet();
    private final RecordIds ids = new RecordIds();
    private final PaneNotes notes = new PaneNotes();
    private long requests;
    private long records;
    private long momentRecords;
    private MaskedRows masked = MaskedRows.NONE;

    /** The hashes of the sampled rows that are stored, ascending, and how many rows the stored parts hold in all. */
    private long[] storedRows = new long[0];

    private int storedPartRows;

    /** Makes a pane of a site without request totals. */
    Pane(int dimension, int sampleCapacity) {
        this(dimension, sampleCapacity, new PaneRequests(null, 1), new PaneWhole(0));
    }

    Pane(int dimension, int sampleCapacity, PaneRequests requestTotals, PaneWhole whole) {
        this.requestTotals = requestTotals;
        this.whole = whole;
        moment = SecondMomentAccumulator.ofDimension(dimension);
        sample = RowSample.ofCapacity(sampleCapacity);
        tileRows = new long[MomentTile.tilesOf(dimension)];
        // The first write is whole: what is read back then has every tile.
        changedTiles.set(0, tileRows.length);
    }

    /** Adds every row of a record of this event time, once; masked ones are only counted. */
    void add(Ingested record, long timestampMs) {
        ids.remember(record.id());
        notes.add(record);
        records++;
        masked = masked.plus(record.masked());
        whole.add(record);
        MomentRecord sent = record.moment();
        if (sent != null) {
            add(sent);
        }
        ActivationBlob kept = record.kept();
        if (kept == null) {
            return;
        }
        moment.addFloats(kept.targetRows());
        countRows(kept.rows());
        requests++;
        requestTotals.add(record, kept.targetRows());
        offerToSample(record, kept, timestampMs);
    }

    /** Adds a moment whose requests are in no totals: their rows are not there. */
    private void add(MomentRecord sent) {
        moment.merge(sent);
        countRows(sent.counts().rows());
        requests += sent.counts().requests();
        momentRecords++;
        sample.merge(sent);
    }

    private void countRows(int rows) {
        for (int tile = 0; tile < tileRows.length; tile++) {
            tileRows[tile] += rows;
        }
        changedTiles.set(0, tileRows.length);
    }

    /** Returns whether a record of this id was added; never so for null. */
    boolean remembers(@Nullable Long id) {
        return ids.holds(id);
    }

    /** Computes only a hash for rows that do not enter the sample. */
    private void offerToSample(Ingested record, ActivationBlob kept, long timestampMs) {
        EncodedRows targets = kept.targets();
        for (int row = 0; row < kept.rows(); row++) {
            long hash = RowSample.hash(record.record(), row);
            if (hash <= sample.threshold()) {
                sample.offer(
                        hash,
                        record.request(),
                        timestampMs,
                        kept.activations().row(row),
                        targets == null ? null : targets.row(row));
            }
        }
    }

    void addTile(MomentTile tile) {
        if (tile.dimension() != moment.dimension()) {
            throw new IllegalArgumentException("a tile of dimension %d for a pane of dimension %d"
                    .formatted(tile.dimension(), moment.dimension()));
        }
        moment.addState(tile.index() == 0 ? tile.rows() : 0, tile.values(), tile.offset());
        tileRows[tile.index()] += tile.rows();
        changedTiles.set(tile.index());
    }

    /**
     * Merges a part of a sample and returns how many rows it holds, kept or not.
     *
     * @throws IllegalArgumentException when the bytes are no sample of this site's rows
     */
    int addSamplePart(byte[] part) {
        RowSample read = RowSample.ofCapacity(sample.capacity());
        int rows = read.mergeEncoded(part);
        for (SampledRow row : read.rows()) {
            float[] target = row.target() == null ? row.activation() : row.target();
            if (target.length != moment.dimension()) {
                throw new IllegalArgumentException("sampled rows of %d values for a pane of dimension %d"
                        .formatted(target.length, moment.dimension()));
            }
        }
        sample.merge(read);
        return rows;
    }

    void addRequests(long count) {
        requests += count;
    }

    void addRecords(long count) {
        records += count;
    }

    void addMomentRecords(long count) {
        momentRecords += count;
    }

    void addMasked(MaskedRows more) {
        masked = masked.plus(more);
    }

    /** Returns what moment, sample, request totals, whole requests, record ids and notes hold. */
    long bytes() {
        long d = moment.dimension();
        return 4 * d * (d + 3)
                + sample.bytes()
                + requestTotals.bytes()
                + whole.bytes()
                + ids.bytes()
                + notes.all().bytes();
    }

    /** Returns whether all tiles and request totals of every sender are in. */
    boolean isComplete() {
        return Arrays.stream(tileRows).allMatch(rows -> rows == tileRows[0]) && requestTotals.isComplete();
    }

    int tiles() {
        return tileRows.length;
    }

    /** Copies one tile. */
    MomentTile tile(int index) {
        MomentTile cut = MomentTile.cut(moment.dimension(), moment.rows(), moment.state(), index);
        return new MomentTile(cut.dimension(), tileRows[index], index, cut.count(), cut.values());
    }

    /** One tile as it is stored; its values are copied once. */
    byte[] encodedTile(int index) {
        return MomentTile.encoded(moment.dimension(), tileRows[index], moment.state(), index);
    }

    /** Returns the indices of the tiles that changed since the last {@link #stored}. */
    int[] changedTiles() {
        return changedTiles.stream().toArray();
    }

    /**
     * Returns whether the sampled rows should be written anew: the parts stored hold mostly rows that left the sample.
     */
    boolean sampleIsScattered() {
        return storedPartRows > 2 * sample.capacity();
    }

    /** Forgets which sampled rows are stored. */
    void rewriteSample() {
        storedRows = new long[0];
        storedPartRows = 0;
    }

    /** The sampled rows that are not stored, in parts that become records. */
    List<byte[]> newSampleParts() {
        return sample.encodeWithout(storedRows, RowSample.RECORD_PART_BYTES);
    }

    /** Notes that everything is stored now. */
    void stored() {
        changedTiles.clear();
        long[] now = sample.hashes();
        for (long hash : now) {
            storedPartRows += Arrays.binarySearch(storedRows, hash) < 0 ? 1 : 0;
        }
        storedRows = now;
    }

    /** Notes that this pane was put together from what is stored, {@code partRows} sampled rows in all. */
    void loaded(int partRows) {
        changedTiles.clear();
        storedRows = sample.hashes();
        storedPartRows = partRows;
    }

    SecondMomentAccumulator moment() {
        return moment;
    }

    RowSample sample() {
        return sample;
    }

    PaneRequests requestTotals() {
        return requestTotals;
    }

    PaneWhole whole() {
        return whole;
    }

    /** Returns the rows in the moment. */
    long rows() {
        return tileRows[0];
    }

    /** Returns the rows that were taken out before the moment. */
    MaskedRows masked() {
        return masked;
    }

    /** Returns how many rows came, masked or not. */
    long rowsRead() {
        return rows() + masked.total();
    }

    /** Returns how many requests contributed rows; a moment counts for as many as its producer says. */
    long requests() {
        return requests;
    }

    /** Returns how many records were added here, each once. */
    long records() {
        return records;
    }

    /** Returns how many moments came instead of rows. */
    long momentRecords() {
        return momentRecords;
    }

    /** Returns what producers said of its rows. */
    PaneNotes notes() {
        return notes;
    }

    RecordIds ids() {
        return ids;
    }
}
