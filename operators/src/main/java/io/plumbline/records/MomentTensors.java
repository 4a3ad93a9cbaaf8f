package io.plumbline.records;

import static io.plumbline.records.MomentRecord.LARGEST_NORM;
import static io.plumbline.records.MomentRecord.MASKED;
import static io.plumbline.records.MomentRecord.MASK_NORM;
import static io.plumbline.records.MomentRecord.MASK_TOKEN_IDS;
import static io.plumbline.records.MomentRecord.MOMENT;
import static io.plumbline.records.MomentRecord.MOMENT_ERROR;
import static io.plumbline.records.MomentRecord.MOST_ROWS;
import static io.plumbline.records.MomentRecord.PANE;
import static io.plumbline.records.MomentRecord.REQUESTS;
import static io.plumbline.records.MomentRecord.ROWS;
import static io.plumbline.records.MomentRecord.SAMPLE_ACTIVATIONS;
import static io.plumbline.records.MomentRecord.SAMPLE_HASH;
import static io.plumbline.records.MomentRecord.SAMPLE_REQUEST;
import static io.plumbline.records.MomentRecord.SAMPLE_TARGETS;
import static io.plumbline.records.MomentRecord.SAMPLE_TIME;
import static io.plumbline.records.MomentRecord.SUM;
import static io.plumbline.records.MomentRecord.TOTAL_COUNTS;
import static io.plumbline.records.MomentRecord.TOTAL_NAMES;
import static io.plumbline.records.MomentRecord.TOTAL_REQUEST;
import static io.plumbline.records.MomentRecord.TOTAL_SUM;

import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads the tensors of a {@link MomentRecord}; shapes are compared with each other before a value is converted. */
final class MomentTensors {

    /** The latest time; later ones would overflow when a window is added to them. */
    private static final long LARGEST_TIME_MS = 1L << 52;

    /** The largest error of a number: more is several times the rounding to float32, hence another number. */
    private static final double LARGEST_ERROR = 1e-6;

    /** The longest row, since none of float32 numbers is longer. */
    private static final double LONGEST_ROW = 1e45;

    /** Row records, rows, and code points of the name. */
    private static final int COUNTS_OF_A_TOTAL = 3;

    private static final int NO_NAME = -1;

    private final Safetensors blob;

    private MomentTensors(Safetensors blob) {
        this.blob = blob;
    }

    static MomentRecord read(Safetensors blob) {
        return new MomentTensors(blob).read();
    }

    private MomentRecord read() {
        for (String rows : List.of(ActivationTensors.ACTIVATIONS, ActivationTensors.HIDDEN_STATES)) {
            if (blob.contains(rows)) {
                throw new ActivationBatchException(
                        "the blob has both \"moment\" and \"%s\"; send rows in one record and moments in another"
                                .formatted(rows));
            }
        }
        MomentRecord.Counts counts = counts();
        MomentRecord.Pane pane = pane();
        Tensor sum = vector(SUM, DType.F64);
        Tensor moment = moment(sum.size(0));
        return new MomentRecord(
                counts,
                pane,
                mask(),
                sum.toDoubles(),
                moment,
                number(LARGEST_NORM, LONGEST_ROW),
                sample(counts.rows(), pane),
                totals(counts, sum.size(0)));
    }

    private MomentRecord.Counts counts() {
        int rows = count(ROWS, vector(ROWS, DType.I64, 1).toLongs()[0], 0, MOST_ROWS);
        long[] masked = blob.contains(MASKED) ? vector(MASKED, DType.I64, 2).toLongs() : new long[2];
        int byToken = count(MASKED, masked[0], 0, MOST_ROWS - rows);
        int byNorm = count(MASKED, masked[1], 0, MOST_ROWS - rows - byToken);
        if (rows + byToken + byNorm == 0) {
            throw new EmptyBatchException("the moment is of no rows, and none was masked; send nothing instead");
        }
        int requests = count(REQUESTS, vector(REQUESTS, DType.I64, 1).toLongs()[0], Math.min(1, rows), rows);
        return new MomentRecord.Counts(rows, requests, byToken, byNorm);
    }

    private MomentRecord.Pane pane() {
        long[] pane = vector(PANE, DType.I64, 2).toLongs();
        if (Math.abs(pane[0]) > LARGEST_TIME_MS
                || pane[0] == Long.MIN_VALUE
                || pane[1] < 1
                || pane[1] > LARGEST_TIME_MS) {
            throw new ActivationBatchException(
                    "tensor \"pane\": %s, expected the start and the size, at least 1, in milliseconds"
                            .formatted(Arrays.toString(pane)));
        }
        return new MomentRecord.Pane(pane[0], pane[1]);
    }

    private MomentRecord.Mask mask() {
        long[] ids = blob.contains(MASK_TOKEN_IDS)
                ? vector(MASK_TOKEN_IDS, DType.I64).toLongs()
                : new long[0];
        requireAscending(MASK_TOKEN_IDS, ids);
        return new MomentRecord.Mask(
                ids, blob.contains(MASK_NORM) ? number(MASK_NORM, Double.MAX_VALUE) : Double.POSITIVE_INFINITY);
    }

    private Tensor moment(int dimension) {
        Tensor moment = blob.tensor(MOMENT);
        if (moment.dtype() != DType.F64 && moment.dtype() != DType.F32) {
            throw wrong(moment, "dtype " + moment.dtype(), "F64 or F32");
        }
        if (dimension < 1 || dimension > MomentTile.LARGEST_DIMENSION) {
            throw new EmptyBatchException("tensor \"sum\": shape [%d], expected [d] with d from 1 to %d"
                    .formatted(dimension, MomentTile.LARGEST_DIMENSION));
        }
        long length = (long) dimension * (dimension + 1) / 2;
        if (!moment.shape().equals(List.of(length))) {
            throw wrong(
                    moment,
                    "shape " + moment.shape(),
                    "[%d], the lower triangle of %d columns, as many as \"sum\" has".formatted(length, dimension));
        }
        if (moment.dtype() == DType.F32 && !blob.contains(MOMENT_ERROR)) {
            throw wrong(moment, "dtype F32", "a tensor \"moment_error\" beside it, 2^-24 where it was rounded once");
        }
        if (blob.contains(MOMENT_ERROR)) {
            number(MOMENT_ERROR, LARGEST_ERROR);
        }
        return moment;
    }

    private MomentRecord.@Nullable Sample sample(int rows, MomentRecord.Pane pane) {
        if (rows == 0) {
            if (blob.contains(SAMPLE_HASH)) {
                throw new ActivationBatchException("the blob has \"sample_hash\" and no rows it could be a sample of");
            }
            return null;
        }
        Tensor hashes = vector(SAMPLE_HASH, DType.I64);
        int sampled = hashes.size(0);
        if (sampled < 1 || sampled > rows) {
            throw wrong(hashes, "shape " + hashes.shape(), "[k] with k from 1 to the %d rows".formatted(rows));
        }
        long[] hash = hashes.toLongs();
        requireAscending(SAMPLE_HASH, hash);
        long[] times = vector(SAMPLE_TIME, DType.I64, sampled).toLongs();
        for (int i = 0; i < sampled; i++) {
            if (!pane.holds(times[i])) {
                throw new ActivationBatchException(
                        "tensor \"sample_time\": entry %d is %d, expected a time in the pane of %d ms from %d ms on"
                                .formatted(i, times[i], pane.sizeMs(), pane.startMs()));
            }
        }
        return new MomentRecord.Sample(
                hash,
                vector(SAMPLE_REQUEST, DType.I64, sampled).toLongs(),
                times,
                rows(SAMPLE_ACTIVATIONS, sampled),
                blob.contains(SAMPLE_TARGETS) ? rows(SAMPLE_TARGETS, sampled) : null);
    }

    private MomentRecord.@Nullable Totals totals(MomentRecord.Counts counts, int dimension) {
        if (!blob.contains(TOTAL_REQUEST)) {
            return null;
        }
        Tensor requests = vector(TOTAL_REQUEST, DType.I64);
        int size = requests.size(0);
        if (size < 1 || size > counts.requests()) {
            throw wrong(
                    requests,
                    "shape " + requests.shape(),
                    "[t] with t from 1 to the %d row records".formatted(counts.requests()));
        }
        long[] counted =
                matrix(TOTAL_COUNTS, size, COUNTS_OF_A_TOTAL, DType.I64).toLongs();
        long[] records = new long[size];
        long[] rows = new long[size];
        int[] lengths = new int[size];
        int recordsLeft = counts.requests();
        int rowsLeft = counts.rows();
        int codePoints = 0;
        for (int i = 0; i < size; i++) {
            int at = COUNTS_OF_A_TOTAL * i;
            records[i] = count(TOTAL_COUNTS, counted[at], 1, recordsLeft);
            rows[i] = count(TOTAL_COUNTS, counted[at + 1], (int) records[i], rowsLeft);
            lengths[i] = count(TOTAL_COUNTS, counted[at + 2], NO_NAME, RequestName.LONGEST);
            recordsLeft -= (int) records[i];
            rowsLeft -= (int) rows[i];
            codePoints += Math.max(0, lengths[i]);
        }
        if (rowsLeft == 0 && recordsLeft > 0) {
            throw new ActivationBatchException(
                    "tensor \"total_counts\": all rows, but %d row records less than \"requests\" has"
                            .formatted(recordsLeft));
        }
        return new MomentRecord.Totals(
                requests.toLongs(),
                records,
                rows,
                names(lengths, codePoints),
                EncodedRows.of(matrix(TOTAL_SUM, size, dimension, DType.F32, DType.F64)));
    }

    private List<@Nullable String> names(int[] lengths, int codePoints) {
        long[] all = codePoints == 0
                ? new long[0]
                : vector(TOTAL_NAMES, DType.I32, codePoints).toLongs();
        List<@Nullable String> names = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < lengths.length; i++) {
            int to = from + Math.max(0, lengths[i]);
            String name = RequestName.of(Arrays.copyOfRange(all, from, to));
            if (name == null) {
                throw new ActivationBatchException(
                        "tensor \"total_names\": name %d is no text of at most %d UTF-16 units"
                                .formatted(i, RequestName.LONGEST));
            }
            names.add(lengths[i] == NO_NAME ? null : name);
            from = to;
        }
        return Collections.unmodifiableList(names);
    }

    private Tensor matrix(String name, int rows, int columns, DType... types) {
        Tensor tensor = blob.tensor(name);
        if (!List.of(types).contains(tensor.dtype())) {
            throw wrong(
                    tensor,
                    "dtype " + tensor.dtype(),
                    Arrays.stream(types).map(DType::name).collect(Collectors.joining(" or ")));
        }
        if (!tensor.shape().equals(List.of((long) rows, (long) columns))) {
            throw wrong(tensor, "shape " + tensor.shape(), "[%d, %d]".formatted(rows, columns));
        }
        return tensor;
    }

    private EncodedRows rows(String name, int sampled) {
        Tensor tensor = ActivationTensors.matrix(blob.tensor(name));
        if (tensor.size(0) != sampled) {
            throw wrong(tensor, "shape " + tensor.shape(), "[%d, width], a row for each hash".formatted(sampled));
        }
        return EncodedRows.of(tensor);
    }

    private Tensor vector(String name, DType dtype) {
        Tensor tensor = blob.tensor(name);
        if (tensor.dtype() != dtype) {
            throw wrong(tensor, "dtype " + tensor.dtype(), dtype.name());
        }
        if (tensor.shape().size() != 1) {
            throw wrong(tensor, "shape " + tensor.shape(), "one dimension");
        }
        return tensor;
    }

    private Tensor vector(String name, DType dtype, int length) {
        Tensor tensor = vector(name, dtype);
        if (tensor.size(0) != length) {
            throw wrong(tensor, "shape " + tensor.shape(), "[" + length + "]");
        }
        return tensor;
    }

    private double number(String name, double largest) {
        double value = vector(name, DType.F64, 1).toDoubles()[0];
        // Written so that NaN fails it.
        if (!(value >= 0.0 && value <= largest)) {
            throw new ActivationBatchException(
                    "tensor \"%s\": %s, expected a number from 0 to %s".formatted(name, value, largest));
        }
        return value;
    }

    private static int count(String name, long value, int least, int most) {
        if (value < least || value > most) {
            throw new ActivationBatchException(
                    "tensor \"%s\": %d, expected %d to %d".formatted(name, value, least, most));
        }
        return (int) value;
    }

    private static void requireAscending(String name, long[] values) {
        for (int i = 1; i < values.length; i++) {
            if (values[i] <= values[i - 1]) {
                throw new ActivationBatchException(
                        "tensor \"%s\": entry %d is %d after %d, expected them strictly ascending as signed numbers"
                                .formatted(name, i, values[i], values[i - 1]));
            }
        }
    }

    private static ActivationBatchException wrong(Tensor tensor, String found, String expected) {
        return new ActivationBatchException("tensor \"%s\": %s, expected %s".formatted(tensor.name(), found, expected));
    }
}
