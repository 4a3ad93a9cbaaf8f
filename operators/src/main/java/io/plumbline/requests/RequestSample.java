package io.plumbline.requests;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.NonFiniteRowException;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SplitMix;
import io.plumbline.records.ActivationBatch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A bounded uniform sample of whole requests: in ascending order of a hash of what they hold, as many as fit into
 * {@code capacity} rows.
 *
 * <p>Unlike a {@link RowSample} it keeps the rows of a request together, so that what is computed from it can be
 * averaged over requests, whose rows are not independent. It depends on the set of requests alone, not on their order
 * or on where they were read from; equal requests count once. A request longer than an eighth of the capacity gives one
 * stretch of that many consecutive rows, from a place its hash chooses: a few long requests are not to be the whole
 * sample.
 *
 * <p><b>Size.</b> {@code 4 (d_in + d_out)} bytes a row (d_out for transcoders only) and about 60 more. Values are
 * rounded to float32. Not thread-safe.
 */
public final class RequestSample {

    /** The fewest requests: none has more than one in so many of the rows. */
    public static final int FEWEST_REQUESTS = 8;

    private final int capacity;
    private final TreeMap<Long, List<SampledRow>> byHash = new TreeMap<>();
    private int rows;
    private long limit = Long.MAX_VALUE;

    private RequestSample(int capacity) {
        this.capacity = capacity;
    }

    /** An empty sample of at most {@code rows} rows. */
    public static RequestSample ofCapacity(int rows) {
        if (rows < FEWEST_REQUESTS) {
            throw new IllegalArgumentException(
                    "a sample of requests of %d rows: expected at least %d".formatted(rows, FEWEST_REQUESTS));
        }
        return new RequestSample(rows);
    }

    /**
     * Offers a whole request; its rows are copied if it enters.
     *
     * @throws NonFiniteRowException if a value that would be kept is not finite in float32
     */
    public RequestSample add(ActivationBatch request) {
        long hash = hash(request);
        // What was pushed out once would be again: everything beyond it is out, whatever room there may be now.
        if (hash >= limit || byHash.containsKey(hash)) {
            return this;
        }
        List<SampledRow> kept = stretch(hash, request);
        byHash.put(hash, kept);
        rows += kept.size();
        while (rows > capacity) {
            limit = byHash.lastKey();
            rows -= byHash.pollLastEntry().getValue().size();
        }
        return this;
    }

    /**
     * The rows kept, request after request in ascending order of their hashes: a prefix of requests is a sample too.
     */
    public List<SampledRow> rows() {
        return byHash.values().stream().flatMap(List::stream).toList();
    }

    /** Returns what a request holds, as two checksums of coprime polynomials over the bits of its values, mixed. */
    public static long hash(ActivationBatch request) {
        CRC32 first = new CRC32();
        CRC32C second = new CRC32C();
        for (Matrix matrix : request.targets() == null
                ? List.of(request.activations())
                : List.of(request.activations(), request.targetRows())) {
            ByteBuffer row = ByteBuffer.allocate(Double.BYTES * matrix.columns());
            for (int i = 0; i < matrix.rows(); i++) {
                row.asDoubleBuffer().put(matrix.values(), i * matrix.columns(), matrix.columns());
                first.update(row.array());
                second.update(row.array());
            }
        }
        return SplitMix.mix(first.getValue() << 32 | second.getValue());
    }

    private List<SampledRow> stretch(long hash, ActivationBatch request) {
        int length = Math.min(request.rows(), capacity / FEWEST_REQUESTS);
        int from = (int) Math.floorMod(SplitMix.mix(hash), (long) (request.rows() - length + 1));
        List<SampledRow> kept = new ArrayList<>(length);
        for (int row = from; row < from + length; row++) {
            kept.add(new SampledRow(
                    RowSample.hash(hash, row - from),
                    hash,
                    SampledRow.NO_TIME,
                    finite(request.activations(), row),
                    targets(request, row)));
        }
        return kept;
    }

    private static float @Nullable [] targets(ActivationBatch request, int row) {
        Matrix targets = request.targets();
        return targets == null ? null : finite(targets, row);
    }

    private static float[] finite(Matrix matrix, int row) {
        float[] values = matrix.floats(row);
        for (int j = 0; j < values.length; j++) {
            if (!Float.isFinite(values[j])) {
                throw new NonFiniteRowException(row, j, matrix.get(row, j));
            }
        }
        return values;
    }
}
