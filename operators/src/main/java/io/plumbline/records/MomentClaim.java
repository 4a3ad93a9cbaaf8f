package io.plumbline.records;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Looks whether the numbers of a {@link MomentRecord} can be those of rows. One number that no rows have would spoil a
 * window.
 *
 * <p>With the moment {@code M}, the sum {@code s}, n rows, the largest norm {@code B} and the sampled rows y: {@code
 * M_ii >= 0}, {@code |M_ij| <= sqrt(M_ii M_jj)}, {@code |s_i| <= sqrt(n M_ii)}, {@code B^2 <= tr M <= n B^2}, {@code Σ
 * y_i^2 <= M_ii}, and the mean of {@code |y|^2} is where Chernoff's bounds allow it beside {@code tr M / n} (Hoeffding
 * 1963: for samples without replacement, too). All up to a share of {@value #ROUNDING}, and of {@value #SHORT_ROUNDING}
 * where the sample is of 16 bits.
 *
 * <p>Where the sample has all rows, sum, moment and largest norm are compared with theirs, entry by entry. A sum of n
 * terms that are each off by a share e is off by at most {@code e Σ|y_i|}, which is at most {@code e sqrt(n M_ii)}, and
 * one of products by at most {@code e sqrt(M_ii M_jj)}.
 *
 * <p><b>Not seen:</b> where the sample has not all rows, whether M as a whole is positive semidefinite; rows that were
 * made up. <b>Cost.</b> One pass over the moment, a root and a comparison an entry, and one over the sample; {@code 16
 * d} bytes. Where the sample has all n rows, {@code n d^2} flops and {@code 8 d n} bytes more.
 */
public final class MomentClaim {

    /** The most that float32 products which are summed 128 at a time are off by. */
    public static final double ROUNDING = 1e-5;

    /** The most that squares of values rounded to 8 bits are off by. */
    public static final double SHORT_ROUNDING = 1e-2;

    /** The most that one value below the normal numbers of 16 bits is off by. */
    public static final double SHORT_VANISHED = 0x1p-25;

    private static final int STRIP = 64;

    /** The least rounding: a product of float32 below 2^-149 vanishes, and rounding takes half of it. */
    public static final double VANISHED = 0x1p-148;

    /**
     * The evidence that refuses a record: -ln of 1e-15, one false refusal in 30 million years at one record a second.
     */
    private static final double UNLIKELY = 34.5;

    /**
     * The reason why a record is refused.
     *
     * @param nonFinite whether a number is not finite or too large, rather than impossible beside another one
     * @param message a sentence without the site's name
     */
    public record Fault(boolean nonFinite, String message) {}

    private final MomentRecord record;
    private final int dimension;
    private final double rows;
    private final double[] diagonal;
    private final double[] root;
    private double trace;

    private MomentClaim(MomentRecord record) {
        this.record = record;
        dimension = record.dimension();
        rows = record.counts().rows();
        diagonal = new double[dimension];
        root = new double[dimension];
    }

    /** Returns why the numbers cannot be those of rows, or null. */
    public static @Nullable Fault fault(MomentRecord record) {
        MomentClaim claim = new MomentClaim(record);
        Fault fault = claim.ofDiagonal();
        fault = fault == null ? claim.ofProducts() : fault;
        fault = fault == null ? claim.ofSum() : fault;
        fault = fault == null ? claim.ofNorms() : fault;
        MomentRecord.Sample sample = record.sample();
        return fault == null && sample != null ? claim.of(sample) : fault;
    }

    private @Nullable Fault ofDiagonal() {
        double[] one = new double[1];
        int at = -1;
        for (int i = 0; i < dimension; i++) {
            at += i + 1;
            record.copyTriangle(at, one, 0, 1);
            if (!Double.isFinite(one[0])) {
                return nonFinite("moment", i, i, one[0]);
            }
            if (one[0] < 0.0) {
                return impossible("entry (%d, %d) of the moment, a sum of squares, is %s".formatted(i, i, one[0]));
            }
            diagonal[i] = one[0];
            root[i] = Math.sqrt(one[0] + rows * VANISHED);
            trace += one[0];
        }
        return null;
    }

    private @Nullable Fault ofProducts() {
        double[] row = new double[dimension];
        int at = 0;
        for (int i = 0; i < dimension; i++) {
            record.copyTriangle(at, row, 0, i);
            at += i + 1;
            double most = (1.0 + ROUNDING) * root[i];
            for (int j = 0; j < i; j++) {
                // Written so that NaN fails it.
                if (!(Math.abs(row[j]) <= most * root[j])) {
                    return Double.isFinite(row[j])
                            ? impossible(("entry (%d, %d) of the moment is %s, and the squares of these columns, %s and"
                                            + " %s, allow at most"
                                            + " the root of their product")
                                    .formatted(i, j, row[j], diagonal[i], diagonal[j]))
                            : nonFinite("moment", i, j, row[j]);
                }
            }
        }
        return null;
    }

    private @Nullable Fault ofSum() {
        double[] sum = record.sum();
        for (int i = 0; i < dimension; i++) {
            if (!Double.isFinite(sum[i])) {
                return new Fault(
                        true, "entry %d of the sum is %s; nothing of the moment was added".formatted(i, sum[i]));
            }
            if (Math.abs(sum[i]) > (1.0 + ROUNDING) * Math.sqrt(rows) * root[i]) {
                return impossible(
                        "entry %d of the sum is %s, and %.0f rows whose squares add up to %s sum up to at most %s"
                                .formatted(i, sum[i], rows, diagonal[i], Math.sqrt(rows * diagonal[i])));
            }
        }
        return null;
    }

    private @Nullable Fault ofNorms() {
        double largest = record.largestNorm();
        double square = largest * largest;
        double vanished = rows * dimension * VANISHED;
        if (trace > (1.0 + ROUNDING) * rows * square + vanished) {
            return impossible("the trace of the moment is %s, and %.0f rows up to %s long have at most %s"
                    .formatted(trace, rows, largest, rows * square));
        }
        if (trace < (1.0 - ROUNDING) * square - vanished) {
            return impossible("the trace of the moment is %s, and the longest row alone, %s long, gives %s"
                    .formatted(trace, largest, square));
        }
        if (largest > (1.0 + ROUNDING) * record.mask().largestNorm()) {
            return impossible("the longest row is %s long, and rows longer than mask_norm, %s, were taken out"
                    .formatted(largest, record.mask().largestNorm()));
        }
        return null;
    }

    private @Nullable Fault of(MomentRecord.Sample sample) {
        Fault fault = finite(sample.activations(), MomentRecord.SAMPLE_ACTIVATIONS);
        EncodedRows targets = sample.targets();
        fault = fault == null && targets != null ? finite(targets, MomentRecord.SAMPLE_TARGETS) : fault;
        return fault == null ? ofSampledRows(sample.targetRows()) : fault;
    }

    /** Compares with the sums over all rows, where the sample has them. */
    private @Nullable Fault ofWholeSample(EncodedRows all) {
        Matrix rowsByColumn = columns(all);
        double rounding = all.isShort() ? SHORT_ROUNDING : ROUNDING;
        double vanished = all.isShort() ? Math.sqrt(rows) * SHORT_VANISHED : 0.0;
        double[] claimed = new double[dimension];
        int at = 0;
        for (int from = 0; from < dimension; from += STRIP) {
            int to = Math.min(from + STRIP, dimension);
            Matrix products = Kernels.multiplyTranspose(rowsByColumn.rowRange(from, to), rowsByColumn.rowRange(0, to));
            for (int i = from; i < to; i++) {
                record.copyTriangle(at, claimed, 0, i + 1);
                at += i + 1;
                for (int j = 0; j <= i; j++) {
                    double counted = products.get(i - from, j);
                    double off = rounding * root[i] * root[j] + vanished * (root[i] + root[j]);
                    if (Math.abs(claimed[j] - counted) > off) {
                        return ofAll("entry (%d, %d) of the moment".formatted(i, j), claimed[j], counted);
                    }
                }
            }
        }
        return ofWholeSum(rowsByColumn, rounding, rows * (all.isShort() ? SHORT_VANISHED : 0.0));
    }

    private @Nullable Fault ofWholeSum(Matrix rowsByColumn, double rounding, double vanished) {
        double[] sum = record.sum();
        double[] squares = new double[rowsByColumn.columns()];
        for (int i = 0; i < dimension; i++) {
            double counted = 0.0;
            for (int row = 0; row < squares.length; row++) {
                double value = rowsByColumn.get(i, row);
                counted += value;
                squares[row] += value * value;
            }
            if (Math.abs(sum[i] - counted) > rounding * Math.sqrt(rows) * root[i] + vanished) {
                return ofAll("entry %d of the sum".formatted(i), sum[i], counted);
            }
        }
        double longest = Math.sqrt(Arrays.stream(squares).max().orElse(0.0));
        return record.largestNorm() > (1.0 + rounding) * longest + Math.sqrt(dimension) * vanished
                ? ofAll("the length of the longest row", record.largestNorm(), longest)
                : null;
    }

    private static Matrix columns(EncodedRows all) {
        Matrix columns = Matrix.zeros(/* rows= */ all.columns(), /* columns= */ all.rows());
        double[] row = new double[all.columns()];
        for (int i = 0; i < all.rows(); i++) {
            all.copy(i, row, 0);
            for (int j = 0; j < row.length; j++) {
                columns.set(j, i, row[j]);
            }
        }
        return columns;
    }

    private Fault ofAll(String what, double claimed, double counted) {
        return impossible(
                "%s is %s, and the sample, which has all %.0f rows, gives %s".formatted(what, claimed, rows, counted));
    }

    private static @Nullable Fault finite(EncodedRows values, String tensor) {
        if (values.fitFloatPanel()) {
            return null;
        }
        long bad = values.firstBeyond(Float.MAX_VALUE);
        if (bad < 0) {
            return null;
        }
        int row = (int) (bad / values.columns());
        int column = (int) (bad % values.columns());
        return nonFinite(tensor, row, column, values.value(row, column));
    }

    private @Nullable Fault ofSampledRows(EncodedRows sampled) {
        double rounding = sampled.isShort() ? SHORT_ROUNDING : ROUNDING;
        double longest = (1.0 + rounding) * record.largestNorm();
        double[] row = new double[dimension];
        double[] squares = new double[dimension];
        double energy = 0.0;
        for (int i = 0; i < sampled.rows(); i++) {
            sampled.copy(i, row, 0);
            double square = 0.0;
            for (int j = 0; j < dimension; j++) {
                squares[j] += row[j] * row[j];
                square += row[j] * row[j];
            }
            if (Math.sqrt(square) > longest) {
                return impossible("sampled row %d is %s long, and the longest row is said to be %s long"
                        .formatted(i, Math.sqrt(square), record.largestNorm()));
            }
            energy += square;
        }
        for (int j = 0; j < dimension; j++) {
            if (squares[j] > (1.0 + rounding) * (diagonal[j] + rows * VANISHED)) {
                return impossible("entry (%d, %d) of the moment is %s, and the %d sampled rows alone give %s"
                        .formatted(j, j, diagonal[j], sampled.rows(), squares[j]));
            }
        }
        return record.isSampledWhole() ? ofWholeSample(sampled) : ofEnergy(energy, sampled.rows(), rounding);
    }

    private @Nullable Fault ofEnergy(double energy, int sampled, double rounding) {
        double mean = trace / rows;
        double ofSample = energy / sampled;
        double off = Math.max(0.0, Math.abs(ofSample - mean) - rounding * mean - dimension * VANISHED);
        double square = record.largestNorm() * record.largestNorm();
        double scale = ofSample < mean ? 2.0 * mean : mean + ofSample;
        return sampled * off * off <= UNLIKELY * scale * square
                ? null
                : impossible(("the mean square of a row is %s by the moment and %s by the %d sampled rows, none longer"
                                + " than %s: a sample of"
                                + " these rows would come nearer")
                        .formatted(mean, ofSample, sampled, record.largestNorm()));
    }

    private static Fault nonFinite(String tensor, int row, int column, double value) {
        return new Fault(
                true,
                "entry (%d, %d) of \"%s\" is %s; nothing of the moment was added"
                        .formatted(row, column, tensor, value));
    }

    private static Fault impossible(String message) {
        return new Fault(false, message + "; nothing of the moment was added");
    }
}
