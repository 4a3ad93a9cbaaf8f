package io.plumbline.records;

import io.plumbline.wire.DType;
import io.plumbline.wire.Tensor;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The second moment of the rows of one stretch of time, as a producer sends it instead of the rows. {@code
 * docs/reference/moment-records.md} has every tensor; {@link MomentRecordWriter} writes one.
 *
 * <p>Its tensors agree with each other, which nothing else is said of here: widths are compared with a site's by
 * whoever knows the site, and {@link MomentClaim} looks at the numbers.
 *
 * <p><b>Size.</b> {@code 8 d + 24 k + 200 t} bytes beside the record's own, of width d with k sampled rows and totals
 * of t requests. Immutable and thread-safe; arrays and bytes are not copied and must not be changed.
 */
public final class MomentRecord implements ActivationRecord {

    static final String MOMENT = "moment";
    static final String ROWS = "rows";
    static final String REQUESTS = "requests";
    static final String PANE = "pane";
    static final String SUM = "sum";
    static final String MOMENT_ERROR = "moment_error";
    static final String LARGEST_NORM = "largest_norm";
    static final String MASKED = "masked";
    static final String MASK_TOKEN_IDS = "mask_token_ids";
    static final String MASK_NORM = "mask_norm";
    static final String SAMPLE_HASH = "sample_hash";
    static final String SAMPLE_REQUEST = "sample_request";
    static final String SAMPLE_TIME = "sample_time";
    static final String SAMPLE_ACTIVATIONS = "sample_activations";
    static final String SAMPLE_TARGETS = "sample_targets";
    static final String TOTAL_REQUEST = "total_request";
    static final String TOTAL_COUNTS = "total_counts";
    static final String TOTAL_NAMES = "total_names";
    static final String TOTAL_SUM = "total_sum";

    /** The most rows that a record stands for, masked or not. */
    public static final int MOST_ROWS = 1 << 30;

    /**
     * The numbers of rows.
     *
     * @param rows in the sums
     * @param requests row records they would have been
     * @param maskedByToken taken out before they were summed
     * @param maskedByNorm the same
     */
    public record Counts(int rows, int requests, int maskedByToken, int maskedByNorm) {}

    /** The time that rows come from, {@code [startMs, startMs + sizeMs)}. */
    public record Pane(long startMs, long sizeMs) {

        /** Returns whether a time lies in it. */
        public boolean holds(long timeMs) {
            return timeMs >= startMs && timeMs - startMs < sizeMs;
        }

        /** The last millisecond in it. */
        public long lastMs() {
            return startMs + sizeMs - 1;
        }
    }

    /**
     * The mask that a producer applied.
     *
     * @param tokenIds of rows that were taken out, ascending
     * @param largestNorm longest row that was not; infinite without a cap
     */
    public record Mask(long[] tokenIds, double largestNorm) {}

    /**
     * A uniform sample of the rows: those with the smallest hashes, ascending.
     *
     * @param targets null for autoencoders
     */
    public record Sample(
            long[] hashes,
            long[] requests,
            long[] timesMs,
            EncodedRows activations,
            @Nullable EncodedRows targets) {

        /** Number of sampled rows, at least 1. */
        public int rows() {
            return hashes.length;
        }

        /** The rows that the decoder should reproduce. */
        public EncodedRows targetRows() {
            return targets == null ? activations : targets;
        }
    }

    /**
     * Totals of single requests: of those whose mixed hashes are smallest ({@code SplitMix}), ascending by them. Each
     * stands for every row that the request has in the sums. Where these are not all rows, no other request has a
     * smaller mixed hash than the last one here.
     *
     * @param requests hashes of their names, as sampled rows have them
     * @param records how many row records their rows would have been
     * @param rows of each in the sums
     * @param names cut by {@link RequestName}; null where a record is its own request
     * @param sums of the rows of each, a row of d values
     */
    public record Totals(long[] requests, long[] records, long[] rows, List<@Nullable String> names, EncodedRows sums) {

        /** The most requests that a producer of this project sends. */
        public static final int MOST = 1_024;

        /** The most bytes that they take, of the smallest number of requests apart, which is one. */
        static final long MOST_BYTES = 1L << 20;

        /** The most requests of rows of width d that a producer sends: as many as take 1 MiB with float32 sums. */
        public static int most(int dimension) {
            return (int) Math.max(1, Math.min(MOST, MOST_BYTES / bytesOfOne(dimension)));
        }

        /** Hash, three counts, a name of four bytes a character, and the sum. */
        private static long bytesOfOne(int dimension) {
            return 4L * Long.BYTES + (long) Integer.BYTES * RequestName.LONGEST + (long) Float.BYTES * dimension;
        }

        /** Number of requests, at least 1. */
        public int size() {
            return requests.length;
        }
    }

    private final Counts counts;
    private final Pane pane;
    private final Mask mask;
    private final double[] sum;
    private final Tensor moment;
    private final double largestNorm;
    private final @Nullable Sample sample;
    private final @Nullable Totals totals;

    MomentRecord(
            Counts counts,
            Pane pane,
            Mask mask,
            double[] sum,
            Tensor moment,
            double largestNorm,
            @Nullable Sample sample,
            @Nullable Totals totals) {
        this.counts = counts;
        this.pane = pane;
        this.mask = mask;
        this.sum = sum;
        this.moment = moment;
        this.largestNorm = largestNorm;
        this.sample = sample;
        this.totals = totals;
    }

    public Counts counts() {
        return counts;
    }

    public Pane pane() {
        return pane;
    }

    public Mask mask() {
        return mask;
    }

    /** Width d of the rows that were summed. */
    public int dimension() {
        return sum.length;
    }

    /** Norm of the longest row in the sums, as the producer says. */
    public double largestNorm() {
        return largestNorm;
    }

    /** Bytes of header, counts and names that a record has beside its sums and its sample, at most. */
    private static final int OTHER_BYTES = 1 << 16;

    /** Hash, request and time of a sampled row. */
    private static final int BYTES_OF_A_NAME = 3 * Long.BYTES;

    /**
     * Returns bytes that are enough for any record of a site: a float64 moment, a sample of float32 rows, and totals of
     * {@link Totals#most} requests.
     *
     * @param inputWidth width of the rows that the encoder reads
     * @param targetWidth width d of the rows that are summed
     * @param transcoder whether targets are sampled beside activations
     * @param sampleRows rows of the sample
     */
    public static long largestBytes(int inputWidth, int targetWidth, boolean transcoder, int sampleRows) {
        long row = BYTES_OF_A_NAME + (long) Float.BYTES * (inputWidth + (transcoder ? targetWidth : 0));
        return (long) Double.BYTES * MomentTile.stateLength(targetWidth)
                + sampleRows * row
                + Totals.most(targetWidth) * Totals.bytesOfOne(targetWidth)
                + OTHER_BYTES;
    }

    /** Returns the sample; null where there are no rows in the sums. */
    public @Nullable Sample sample() {
        return sample;
    }

    /** Returns whether every row of the sums is in the sample. */
    public boolean isSampledWhole() {
        return sample == null || sample.rows() == counts.rows();
    }

    /** Returns the totals of its requests; null where the producer sends none. */
    public @Nullable Totals totals() {
        return totals;
    }

    /** Returns whether every row of the sums is in the total of its request; without totals false. */
    public boolean isTotalledWhole() {
        return totals != null && Arrays.stream(totals.rows()).sum() == counts.rows();
    }

    /** The sum of the rows, d values; shared. */
    double[] sum() {
        return sum;
    }

    /**
     * Copies numbers of the state {@code [ sum (d) | packed lower triangle (d (d + 1) / 2) ]} from {@code from} on, as
     * many as fit into {@code target} or are there, and returns how many.
     */
    public int copyState(int from, double[] target) {
        int d = sum.length;
        int length = Math.min(target.length, MomentTile.stateLength(d) - from);
        int ofSum = Math.max(0, Math.min(length, d - from));
        System.arraycopy(sum, Math.min(from, d), target, 0, ofSum);
        copyTriangle(Math.max(0, from - d), target, ofSum, length - ofSum);
        return length;
    }

    /** Copies {@code count} numbers of the packed triangle. */
    void copyTriangle(int from, double[] target, int at, int count) {
        ByteBuffer bytes = moment.memory();
        if (moment.dtype() == DType.F64) {
            bytes.asDoubleBuffer().get(from, target, at, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            target[at + i] = bytes.getFloat(Float.BYTES * (from + i));
        }
    }

    @Override
    public String toString() {
        return "MomentRecord[%d rows of dimension %d]".formatted(counts.rows(), sum.length);
    }
}
