package io.plumbline.records;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A stretch of the state of a second moment that can be added on its own: a receiver that adds every tile it gets holds
 * the sum of all senders, in any order, with no reassembly buffer.
 *
 * <p>The state is {@code [ sum y (d) | packed lower triangle of sum y yᵀ (d (d + 1) / 2) ]} in float64. A tile is at
 * most 512 KiB, under every default limit of a Kafka broker: 1 tile up to d = 360, 5 at 768, 33 at 2048, 129 at 4096.
 *
 * <pre>
 * offset  size  field
 *      0     1  version, 1
 *      1     4  dimension d, int
 *      5     8  rows in the state this tile was cut from, long
 *     13     4  index of this tile, int
 *     17     4  number of tiles, int
 *     21   8 n  values, float64
 * </pre>
 *
 * All numbers are little endian. The row count travels with every tile, so that a receiver can see that it got all
 * tiles of a state before it judges the sum.
 */
public record MomentTile(int dimension, long rows, int index, int count, double[] values) {

    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 21;

    /** Values in a full tile: 512 KiB less room for headers and keys. */
    static final int VALUES_PER_TILE = (512 * 1024 - 1024) / Double.BYTES;

    /** The largest width; larger ones would need more than 2^31 values in one array. */
    static final int LARGEST_DIMENSION = 65_534;

    /** Number of float64 values in the state of width {@code dimension}. */
    public static int stateLength(int dimension) {
        if (dimension < 1 || dimension > LARGEST_DIMENSION) {
            throw new IllegalArgumentException(
                    "dimension = %d: expected 1 to %d".formatted(dimension, LARGEST_DIMENSION));
        }
        return Math.toIntExact(dimension + (long) dimension * (dimension + 1) / 2);
    }

    /** Number of tiles of the state of width {@code dimension}. */
    public static int tilesOf(int dimension) {
        return (stateLength(dimension) - 1) / VALUES_PER_TILE + 1;
    }

    /** Cuts a state into tiles; each tile copies its stretch. */
    public static List<MomentTile> cut(int dimension, long rows, double[] state) {
        List<MomentTile> tiles = new ArrayList<>();
        for (int index = 0; index < tilesOf(dimension); index++) {
            tiles.add(cut(dimension, rows, state, index));
        }
        return tiles;
    }

    /** Cuts one tile out of a state: at d = 4096 all of them together would be a second copy of 67 MB. */
    public static MomentTile cut(int dimension, long rows, double[] state, int index) {
        requireState(dimension, state);
        int from = index * VALUES_PER_TILE;
        double[] values = new double[lengthOf(state.length, index)];
        System.arraycopy(state, from, values, 0, values.length);
        return new MomentTile(dimension, rows, index, tilesOf(dimension), values);
    }

    /** Returns where {@link #values} begins in the state. */
    public int offset() {
        return index * VALUES_PER_TILE;
    }

    public byte[] encode() {
        return encodeTo(ByteBuffer.allocate(encodedBytes())).array();
    }

    /** Length of the encoded tile. */
    public int encodedBytes() {
        return HEADER_BYTES + values.length * Double.BYTES;
    }

    /** Appends the encoded tile to a message that holds more than it, and returns the message. */
    public ByteBuffer encodeTo(ByteBuffer message) {
        return encode(dimension, rows, index, values, 0, values.length, message);
    }

    /** Cuts a tile out of a state and encodes it; the values are copied once. */
    public static byte[] encoded(int dimension, long rows, double[] state, int index) {
        requireState(dimension, state);
        int length = lengthOf(state.length, index);
        ByteBuffer tile = ByteBuffer.allocate(HEADER_BYTES + length * Double.BYTES);
        return encode(dimension, rows, index, state, index * VALUES_PER_TILE, length, tile)
                .array();
    }

    private static ByteBuffer encode(
            int dimension, long rows, int index, double[] from, int offset, int length, ByteBuffer target) {
        ByteBuffer buffer = target.slice().order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(VERSION).putInt(dimension).putLong(rows).putInt(index).putInt(tilesOf(dimension));
        buffer.asDoubleBuffer().put(from, offset, length);
        return target.position(target.position() + HEADER_BYTES + length * Double.BYTES);
    }

    private static void requireState(int dimension, double[] state) {
        if (state.length != stateLength(dimension)) {
            throw new IllegalArgumentException("a state of dimension %d has %d values, got %d"
                    .formatted(dimension, stateLength(dimension), state.length));
        }
    }

    private static int lengthOf(int stateLength, int index) {
        return Math.min(VALUES_PER_TILE, stateLength - index * VALUES_PER_TILE);
    }

    /**
     * Reads one tile; nothing is allocated before dimension, index and length agree.
     *
     * @throws IllegalArgumentException when the bytes are not exactly one tile of this version
     */
    public static MomentTile decode(ByteBuffer bytes) {
        ByteBuffer buffer = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        try {
            byte version = buffer.get();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "moment tile of version %d, expected %d".formatted(version, VERSION));
            }
            int dimension = buffer.getInt();
            long rows = buffer.getLong();
            int index = buffer.getInt();
            int count = buffer.getInt();
            int stateLength = stateLength(dimension);
            if (rows < 0 || count != tilesOf(dimension) || index < 0 || index >= count) {
                throw new IllegalArgumentException(
                        "moment tile %d of %d with %d rows: a state of dimension %d has %d tiles"
                                .formatted(index, count, rows, dimension, tilesOf(dimension)));
            }
            int expected = lengthOf(stateLength, index);
            if (buffer.remaining() != (long) expected * Double.BYTES) {
                throw new IllegalArgumentException("moment tile %d of %d: expected %d bytes of values, got %d"
                        .formatted(index, count, (long) expected * Double.BYTES, buffer.remaining()));
            }
            double[] values = new double[expected];
            buffer.asDoubleBuffer().get(values);
            return new MomentTile(dimension, rows, index, count, values);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException(
                    "moment tile of %d bytes is shorter than its %d byte header"
                            .formatted(bytes.remaining(), HEADER_BYTES),
                    e);
        }
    }
}
