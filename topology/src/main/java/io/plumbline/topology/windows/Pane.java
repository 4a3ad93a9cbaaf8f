package io.plumbline.topology.windows;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.wire.MomentTile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The second moment and the row sample of one site over one pane, being filled. One stream task owns it.
 *
 * <p>Rows are counted per tile, so that a pane put together from tiles knows whether every sender's tiles all arrived:
 * the counts of all tiles are then equal.
 *
 * <p><b>Size.</b> {@code 4 d (d + 3)} bytes of moment and at most {@code capacity * 4 (d_in + d_out)} of sample.
 */
final class Pane {

    private final SecondMomentAccumulator moment;
    private final RowSample sample;
    private final long[] tileRows;
    private long requests;

    Pane(int dimension, int sampleCapacity) {
        moment = SecondMomentAccumulator.ofDimension(dimension);
        sample = RowSample.ofCapacity(sampleCapacity);
        tileRows = new long[MomentTile.tilesOf(dimension)];
    }

    /** Adds every row of a record, once. */
    void add(Ingested record) {
        Matrix targets = record.batch().targetRows();
        moment.add(targets);
        for (int tile = 0; tile < tileRows.length; tile++) {
            tileRows[tile] += targets.rows();
        }
        requests++;
        offerToSample(record);
    }

    private void offerToSample(Ingested record) {
        Matrix activations = record.batch().activations();
        Matrix targets = record.batch().targets();
        for (int row = 0; row < activations.rows(); row++) {
            long hash = RowSample.hash(record.topic(), record.partition(), record.offset(), row);
            if (hash <= sample.threshold()) {
                sample.offer(
                        hash,
                        record.request(),
                        floats(activations, row),
                        targets == null ? null : floats(targets, row));
            }
        }
    }

    private static float[] floats(Matrix rows, int row) {
        float[] values = new float[rows.columns()];
        for (int j = 0; j < values.length; j++) {
            values[j] = (float) rows.get(row, j);
        }
        return values;
    }

    void addTile(MomentTile tile) {
        if (tile.dimension() != moment.dimension()) {
            throw new IllegalArgumentException("a tile of dimension %d for a pane of dimension %d"
                    .formatted(tile.dimension(), moment.dimension()));
        }
        moment.addState(tile.index() == 0 ? tile.rows() : 0, tile.values(), tile.offset());
        tileRows[tile.index()] += tile.rows();
    }

    /** Throws {@link IllegalArgumentException} when the bytes are no sample of this site's rows. */
    void addSamplePart(byte[] part) {
        RowSample read = RowSample.ofCapacity(sample.capacity());
        read.mergeEncoded(part);
        for (SampledRow row : read.rows()) {
            float[] target = row.target() == null ? row.activation() : row.target();
            if (target.length != moment.dimension()) {
                throw new IllegalArgumentException("sampled rows of %d values for a pane of dimension %d"
                        .formatted(target.length, moment.dimension()));
            }
        }
        sample.merge(read);
    }

    void addRequests(long count) {
        requests += count;
    }

    /** Adds another pane whole: windows are composed this way. */
    void merge(Pane other) {
        moment.merge(other.moment);
        sample.merge(other.sample);
        for (int tile = 0; tile < tileRows.length; tile++) {
            tileRows[tile] += other.tileRows[tile];
        }
        requests += other.requests;
    }

    /** Whether all tiles of every sender are in. */
    boolean isComplete() {
        return Arrays.stream(tileRows).allMatch(rows -> rows == tileRows[0]);
    }

    List<MomentTile> tiles() {
        List<MomentTile> cut = MomentTile.cut(moment.dimension(), moment.rows(), moment.state());
        List<MomentTile> counted = new ArrayList<>(cut.size());
        for (MomentTile tile : cut) {
            counted.add(new MomentTile(
                    tile.dimension(), tileRows[tile.index()], tile.index(), tile.count(), tile.values()));
        }
        return counted;
    }

    SecondMomentAccumulator moment() {
        return moment;
    }

    RowSample sample() {
        return sample;
    }

    long rows() {
        return tileRows[0];
    }

    long requests() {
        return requests;
    }
}
