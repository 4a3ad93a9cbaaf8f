package io.plumbline.topology.panes;

import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.ingest.Ingested;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The second moment of one pane, in tiles, and which of them are not stored yet.
 *
 * <p>Rows are counted per tile, so that a moment put together from tiles knows whether every sender's tiles all
 * arrived: the counts of all tiles are then equal.
 *
 * <p><b>Size.</b> {@code 4 d (d + 3)} bytes.
 */
final class PaneMoment {

    private final SecondMomentAccumulator sum;
    private final long[] tileRows;
    private final BitSet unstored = new BitSet();

    PaneMoment(int dimension) {
        sum = SecondMomentAccumulator.ofDimension(dimension);
        tileRows = new long[MomentTile.tilesOf(dimension)];
        // The first write is whole: what is read back then has every tile.
        unstored.set(0, tileRows.length);
    }

    void add(Ingested record) {
        if (record instanceof Ingested.Moment summed) {
            sum.merge(summed.moment());
            countRows(summed.moment().counts().rows());
        }
        ActivationBlob rows = record instanceof Ingested.Rows read ? read.summed() : null;
        if (rows != null) {
            sum.addFloats(rows.targetRows());
            countRows(rows.rows());
        }
    }

    private void countRows(int rows) {
        for (int tile = 0; tile < tileRows.length; tile++) {
            tileRows[tile] += rows;
        }
        unstored.set(0, tileRows.length);
    }

    void take(MomentTile tile) {
        if (tile.dimension() != sum.dimension()) {
            throw new IllegalArgumentException(
                    "a tile of dimension %d for a pane of dimension %d".formatted(tile.dimension(), sum.dimension()));
        }
        sum.addState(tile.index() == 0 ? tile.rows() : 0, tile.values(), tile.offset());
        tileRows[tile.index()] += tile.rows();
        unstored.set(tile.index());
    }

    boolean isComplete() {
        return Arrays.stream(tileRows).allMatch(rows -> rows == tileRows[0]);
    }

    int tiles() {
        return tileRows.length;
    }

    /** Returns one tile as it is sent and stored; its values are copied once. */
    byte[] tile(int index) {
        return MomentTile.encoded(sum.dimension(), tileRows[index], sum.state(), index);
    }

    void store(PartSlots slots) {
        unstored.stream().forEach(index -> slots.put(index, tile(index)));
        unstored.clear();
    }

    void load(byte[] stored) {
        MomentTile tile = MomentTile.decode(ByteBuffer.wrap(stored));
        take(tile);
        unstored.clear(tile.index());
    }

    SecondMomentAccumulator sum() {
        return sum;
    }

    long rows() {
        return tileRows[0];
    }

    long bytes() {
        long d = sum.dimension();
        return 4 * d * (d + 3);
    }
}
