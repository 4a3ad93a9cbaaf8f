package io.plumbline.moments;

import io.plumbline.records.EncodedRows;
import io.plumbline.records.MomentClaim;
import io.plumbline.records.MomentRecord;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Looks whether the totals of a {@link MomentRecord} can be those of its requests, beside a moment that
 * {@link MomentClaim} found possible.
 *
 * <p>With the moment {@code M}, the sum {@code s}, n rows, the largest norm {@code B}, and {@code n_g} rows that sum up
 * to {@code s_g} of each request, m rows of no total: mixed hashes ascend, {@code |s_g| <= n_g B},
 * {@code Σ s_gi^2 / n_g <= M_ii} and {@code |s_i - Σ s_gi| <= sqrt(m M_ii)} (Cauchy-Schwarz), so that the totals of all
 * rows add up to their sum. All up to a share of {@value MomentClaim#ROUNDING}, for sums a share of
 * {@code sqrt(n M_ii)}.
 *
 * <p>A sampled row is of a request that has a total, if that request is among the smallest; no request has more sampled
 * rows than rows. Where the sample has every row, each total is compared with its rows.
 *
 * <p><b>Not seen:</b> rows that were given to another request, where the sample has not all. <b>Cost.</b> One pass over
 * the totals, and over the sample where it has every row; {@code 24 d} bytes, and then the sums of the requests.
 */
public final class TotalsClaim {

    private final MomentRecord record;
    private final MomentRecord.Totals totals;
    private final int dimension;
    private final double rows;
    private final long[] mixed;

    /** The roots of the diagonal, as {@link MomentClaim} takes them. */
    private final double[] root;

    private TotalsClaim(MomentRecord record, MomentRecord.Totals totals) {
        this.record = record;
        this.totals = totals;
        dimension = record.dimension();
        rows = record.counts().rows();
        mixed = Arrays.stream(totals.requests()).map(SplitMix::mix).toArray();
        root = new double[dimension];
        double[] one = new double[1];
        int at = dimension - 1;
        for (int i = 0; i < dimension; i++) {
            at += i + 1;
            record.copyState(at, one);
            root[i] = Math.sqrt(one[0] + rows * MomentClaim.VANISHED);
        }
    }

    /** Returns why the totals cannot be those of requests, or null; null where there are none. */
    public static MomentClaim.@Nullable Fault fault(MomentRecord record) {
        MomentRecord.Totals totals = record.totals();
        if (totals == null) {
            return null;
        }
        TotalsClaim claim = new TotalsClaim(record, totals);
        MomentClaim.Fault fault = claim.ofOrder();
        fault = fault == null ? claim.ofSums() : fault;
        MomentRecord.Sample sample = record.sample();
        return fault == null && sample != null ? claim.ofSample(sample) : fault;
    }

    private MomentClaim.@Nullable Fault ofOrder() {
        for (int g = 1; g < mixed.length; g++) {
            if (mixed[g] <= mixed[g - 1]) {
                return impossible("the mixed hash of total %d is %d after %d, expected them strictly ascending"
                        .formatted(g, mixed[g], mixed[g - 1]));
            }
        }
        return null;
    }

    private MomentClaim.@Nullable Fault ofSums() {
        double most = 1.0 + MomentClaim.ROUNDING;
        double[] sum = new double[dimension];
        double[] all = new double[dimension];
        double[] squares = new double[dimension];
        long totalled = 0;
        for (int g = 0; g < mixed.length; g++) {
            long its = totals.rows()[g];
            totals.sums().copy(g, sum, 0);
            double square = 0.0;
            for (int i = 0; i < dimension; i++) {
                if (!Double.isFinite(sum[i])) {
                    return new MomentClaim.Fault(
                            true,
                            "entry (%d, %d) of \"total_sum\" is %s; nothing of the moment was added"
                                    .formatted(g, i, sum[i]));
                }
                square += sum[i] * sum[i];
                squares[i] += sum[i] * sum[i] / its;
                all[i] += sum[i];
            }
            if (Math.sqrt(square)
                    > most * its * record.largestNorm() + its * Math.sqrt(dimension * MomentClaim.VANISHED)) {
                return impossible("total %d of %d rows is %s long, and the longest row is said to be %s long"
                        .formatted(g, its, Math.sqrt(square), record.largestNorm()));
            }
            totalled += its;
        }
        record.copyState(0, sum);
        double spread = Math.sqrt(rows - totalled);
        for (int i = 0; i < dimension; i++) {
            if (squares[i] > most * root[i] * root[i]) {
                return impossible("column %d of the totals needs squares of %s, and those of all rows add up to %s"
                        .formatted(i, squares[i], root[i] * root[i]));
            }
            double rest = Math.abs(sum[i] - all[i]);
            if (rest > (most * spread + MomentClaim.ROUNDING * Math.sqrt(rows)) * root[i]) {
                return impossible("entry %d of the sum is %s, and the totals of %d of %.0f rows add up to %s"
                        .formatted(i, sum[i], totalled, rows, all[i]));
            }
        }
        return null;
    }

    private MomentClaim.@Nullable Fault ofSample(MomentRecord.Sample sample) {
        long limit = record.isTotalledWhole() ? Long.MAX_VALUE : mixed[mixed.length - 1];
        long[] sampled = new long[mixed.length];
        int[] owner = new int[sample.rows()];
        for (int row = 0; row < sample.rows(); row++) {
            long hash = SplitMix.mix(sample.requests()[row]);
            owner[row] = Arrays.binarySearch(mixed, hash);
            if (owner[row] < 0 && hash <= limit) {
                return impossible("sampled row %d is of the request %d, which has no total"
                        .formatted(row, sample.requests()[row]));
            }
            if (owner[row] >= 0) {
                sampled[owner[row]]++;
            }
        }
        boolean whole = record.isSampledWhole();
        for (int g = 0; g < mixed.length; g++) {
            if (sampled[g] > totals.rows()[g] || (whole && sampled[g] < totals.rows()[g])) {
                return impossible(
                        "total %d is of %d rows, and %d are sampled".formatted(g, totals.rows()[g], sampled[g]));
            }
        }
        return whole ? ofWholeSample(sample.targetRows(), owner) : null;
    }

    private MomentClaim.@Nullable Fault ofWholeSample(EncodedRows all, int[] owner) {
        double rounding = all.isShort() ? MomentClaim.SHORT_ROUNDING : MomentClaim.ROUNDING;
        double vanished = all.isShort() ? MomentClaim.SHORT_VANISHED : 0.0;
        double[] sums = new double[Math.multiplyExact(mixed.length, dimension)];
        double[] row = new double[dimension];
        for (int k = 0; k < owner.length; k++) {
            if (owner[k] >= 0) {
                all.copy(k, row, 0);
                for (int i = 0; i < dimension; i++) {
                    sums[owner[k] * dimension + i] += row[i];
                }
            }
        }
        for (int g = 0; g < mixed.length; g++) {
            double its = totals.rows()[g];
            totals.sums().copy(g, row, 0);
            for (int i = 0; i < dimension; i++) {
                double counted = sums[g * dimension + i];
                if (Math.abs(row[i] - counted) > rounding * Math.sqrt(its) * root[i] + its * vanished) {
                    return impossible(
                            "entry (%d, %d) of \"total_sum\" is %s, and the sampled rows, all of them, give %s"
                                    .formatted(g, i, row[i], counted));
                }
            }
        }
        return null;
    }

    private static MomentClaim.Fault impossible(String message) {
        return new MomentClaim.Fault(false, message + "; nothing of the moment was added");
    }
}
