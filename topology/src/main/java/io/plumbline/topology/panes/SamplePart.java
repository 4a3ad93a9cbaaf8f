package io.plumbline.topology.panes;

import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.EncodedRows;
import io.plumbline.topology.ingest.Ingested;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The row sample of one pane, and which of its rows are stored.
 *
 * <p><b>Size.</b> At most {@code capacity * (4 (d_in + d_out) + 150)} bytes.
 */
final class SamplePart implements PanePart<RowSample> {

    private final RowSample sample;
    private final int dimension;

    /** The hashes of the sampled rows that are stored, ascending, and how many rows the stored parts hold in all. */
    private long[] storedRows = new long[0];

    private int storedPartRows;

    SamplePart(PaneSite site) {
        dimension = site.dimension();
        sample = RowSample.ofCapacity(site.sampleRows());
    }

    /** Computes only a hash for rows that do not enter the sample. */
    @Override
    public void add(Ingested record, long timestampMs) {
        if (record instanceof Ingested.Moment summed) {
            sample.merge(summed.moment());
        } else if (record instanceof Ingested.Rows rows && rows.summed() != null) {
            offer(rows, rows.summed(), timestampMs);
        }
    }

    private void offer(Ingested.Rows record, ActivationBlob kept, long timestampMs) {
        EncodedRows targets = kept.targets();
        for (int row = 0; row < kept.rows(); row++) {
            long hash = RowSample.hash(record.record(), row);
            if (hash <= sample.threshold()) {
                sample.offer(
                        hash,
                        record.request().hash(),
                        timestampMs,
                        kept.activations().row(row),
                        rowOf(targets, row));
            }
        }
    }

    private static float @Nullable [] rowOf(@Nullable EncodedRows targets, int row) {
        return targets == null ? null : targets.row(row);
    }

    @Override
    public RowSample value() {
        return sample;
    }

    @Override
    public List<byte[]> encode() {
        return sample.encode(RowSample.RECORD_PART_BYTES);
    }

    @Override
    public void take(byte[] part) {
        RowSample read = RowSample.ofCapacity(sample.capacity());
        int unused = read.mergeEncoded(part);
        for (SampledRow row : read.rows()) {
            float[] target = row.target() == null ? row.activation() : row.target();
            if (target.length != dimension) {
                throw new IllegalArgumentException(
                        "sampled rows of %d values for a pane of dimension %d".formatted(target.length, dimension));
            }
        }
        sample.merge(read);
    }

    @Override
    public void store(PartSlots slots) {
        if (storedPartRows > 2 * sample.capacity()) {
            slots.replace(encode());
            storedPartRows = sample.size();
        } else {
            slots.append(sample.encodeWithout(storedRows, RowSample.RECORD_PART_BYTES));
            for (long hash : sample.hashes()) {
                storedPartRows += Arrays.binarySearch(storedRows, hash) < 0 ? 1 : 0;
            }
        }
        storedRows = sample.hashes();
    }

    @Override
    public void load(byte[] part) {
        storedPartRows += sample.mergeEncoded(part);
        storedRows = sample.hashes();
    }

    @Override
    public long bytes() {
        return sample.bytes();
    }
}
