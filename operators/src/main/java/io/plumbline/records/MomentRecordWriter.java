package io.plumbline.records;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes a {@link MomentRecord}: the sampled rows as F32, the moment as F64 or F32. It checks nothing but lengths; a
 * reader does.
 *
 * <p><b>Size.</b> {@code 4 d (d + 3)} bytes as F64 and half as F32, {@code 4 (d_in + d_out) + 24} a sampled row, and
 * {@code 4 (d + n) + 32} a request whose name has n code points. Not thread-safe.
 */
public final class MomentRecordWriter {

    /** The error of a number that is rounded once to float32: half a unit of its 24th bit. */
    private static final double ROUNDED_ONCE = 0x1p-24;

    private final SafetensorsWriter tensors = SafetensorsWriter.create();

    private MomentRecordWriter() {}

    /**
     * Begins a record.
     *
     * @param state {@code [ sum of rows (d) | packed lower triangle of the sum of products (d (d + 1) / 2) ]}
     * @param dtype of the moment, F64 or F32
     * @param largestNorm of the rows in the sums
     */
    public static MomentRecordWriter of(
            MomentRecord.Counts counts,
            MomentRecord.Pane pane,
            int dimension,
            double[] state,
            DType dtype,
            double largestNorm) {
        if (state.length != MomentTile.stateLength(dimension) || (dtype != DType.F64 && dtype != DType.F32)) {
            throw new IllegalArgumentException("%d numbers as %s: expected the %d of dimension %d, as F64 or F32"
                    .formatted(state.length, dtype, MomentTile.stateLength(dimension), dimension));
        }
        MomentRecordWriter writer = new MomentRecordWriter();
        writer.tensors
                .addLongs(MomentRecord.ROWS, counts.rows())
                .addLongs(MomentRecord.REQUESTS, counts.requests())
                .addLongs(MomentRecord.MASKED, counts.maskedByToken(), counts.maskedByNorm())
                .addLongs(MomentRecord.PANE, pane.startMs(), pane.sizeMs())
                .addVector(MomentRecord.LARGEST_NORM, DType.F64, new double[] {largestNorm})
                .addRaw(MomentRecord.SUM, DType.F64, new long[] {dimension}, doubles(state, 0, dimension))
                .addRaw(
                        MomentRecord.MOMENT,
                        dtype,
                        new long[] {state.length - dimension},
                        dtype == DType.F64
                                ? doubles(state, dimension, state.length)
                                : floats(state, dimension, state.length));
        if (dtype == DType.F32) {
            writer.tensors.addVector(MomentRecord.MOMENT_ERROR, DType.F64, new double[] {ROUNDED_ONCE});
        }
        return writer;
    }

    /** Says which rows were taken out. */
    public MomentRecordWriter mask(MomentRecord.Mask mask) {
        if (mask.tokenIds().length > 0) {
            tensors.addLongs(MomentRecord.MASK_TOKEN_IDS, mask.tokenIds());
        }
        if (mask.largestNorm() < Double.POSITIVE_INFINITY) {
            tensors.addVector(MomentRecord.MASK_NORM, DType.F64, new double[] {mask.largestNorm()});
        }
        return this;
    }

    /**
     * Adds the sampled rows.
     *
     * @param hashes ascending; of each row, as are the others
     * @param targets null for autoencoders
     */
    public MomentRecordWriter sample(
            long[] hashes,
            long[] requests,
            long[] timesMs,
            List<float[]> activations,
            @Nullable List<float[]> targets) {
        tensors.addLongs(MomentRecord.SAMPLE_HASH, hashes)
                .addLongs(MomentRecord.SAMPLE_REQUEST, requests)
                .addLongs(MomentRecord.SAMPLE_TIME, timesMs);
        addRows(MomentRecord.SAMPLE_ACTIVATIONS, activations);
        if (targets != null) {
            addRows(MomentRecord.SAMPLE_TARGETS, targets);
        }
        return this;
    }

    /**
     * Adds the totals of requests, ascending by their mixed hashes; sums as F32, or as F64 where one is beyond it.
     *
     * @param records row records that the rows of each would have been
     * @param names cut by {@link RequestName}; null where a record is its own request
     */
    public MomentRecordWriter totals(
            long[] requests, long[] records, long[] rows, List<@Nullable String> names, List<double[]> sums) {
        ByteBuffer counts = little(Math.multiplyExact(3 * Long.BYTES, requests.length));
        ByteBuffer text = little(Integer.BYTES * RequestName.LONGEST * requests.length);
        for (int i = 0; i < requests.length; i++) {
            String name = names.get(i);
            int[] points = name == null ? new int[0] : RequestName.codePoints(name);
            counts.putLong(records[i]).putLong(rows[i]).putLong(name == null ? -1 : points.length);
            Arrays.stream(points).forEach(text::putInt);
        }
        text.flip();
        boolean floats =
                sums.stream().flatMapToDouble(Arrays::stream).allMatch(value -> Math.abs(value) <= Float.MAX_VALUE);
        Matrix all = Matrix.zeros(sums.size(), sums.get(0).length);
        for (int i = 0; i < sums.size(); i++) {
            System.arraycopy(sums.get(i), 0, all.values(), i * all.columns(), all.columns());
        }
        tensors.addLongs(MomentRecord.TOTAL_REQUEST, requests)
                .addRaw(MomentRecord.TOTAL_COUNTS, DType.I64, new long[] {requests.length, 3}, counts.flip())
                .addRaw(MomentRecord.TOTAL_NAMES, DType.I32, new long[] {text.limit() / Integer.BYTES}, text)
                .add(MomentRecord.TOTAL_SUM, floats ? DType.F32 : DType.F64, all);
        return this;
    }

    /** The record's value. */
    public byte[] toBytes() {
        return tensors.toBytes();
    }

    private void addRows(String name, List<float[]> rows) {
        int width = rows.get(0).length;
        ByteBuffer bytes = little(Math.multiplyExact(Float.BYTES * width, rows.size()));
        for (float[] row : rows) {
            bytes.asFloatBuffer().put(row);
            bytes.position(bytes.position() + Float.BYTES * row.length);
        }
        tensors.addRaw(name, DType.F32, new long[] {rows.size(), width}, bytes.flip());
    }

    private static ByteBuffer doubles(double[] values, int from, int to) {
        ByteBuffer bytes = little(Math.multiplyExact(Double.BYTES, to - from));
        bytes.asDoubleBuffer().put(values, from, to - from);
        return bytes;
    }

    private static ByteBuffer floats(double[] values, int from, int to) {
        ByteBuffer bytes = little(Math.multiplyExact(Float.BYTES, to - from));
        for (int i = from; i < to; i++) {
            bytes.putFloat((float) values[i]);
        }
        return bytes.flip();
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
