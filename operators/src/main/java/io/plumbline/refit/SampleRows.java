package io.plumbline.refit;

import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.KnownCodes;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Rows to fit or to check a decoder on: the codes of n rows, the targets (n x d) it should give for them, and the
 * request that each row came with.
 */
public record SampleRows(SparseCodes codes, Matrix targets, long[] requests) {

    public SampleRows {
        if (codes.rows() != targets.rows() || codes.rows() != requests.length) {
            throw new IllegalArgumentException("codes of %d rows, targets of %d, requests of %d"
                    .formatted(codes.rows(), targets.rows(), requests.length));
        }
    }

    /**
     * Encodes sampled rows.
     *
     * @param targetWidth d, needed when there are no rows to see it from
     */
    public static SampleRows of(Encoder encoder, List<SampledRow> rows, int targetWidth) {
        return of(encoder, KnownCodes.NONE, rows, targetWidth);
    }

    /**
     * Encodes sampled rows, but for those whose codes are known.
     *
     * @param known codes that this encoder made
     * @param targetWidth d, needed when there are no rows to see it from
     */
    public static SampleRows of(Encoder encoder, KnownCodes known, List<SampledRow> rows, int targetWidth) {
        Matrix targets = Matrix.zeros(rows.size(), targetWidth);
        for (int i = 0; i < rows.size(); i++) {
            copyInto(targets, i, rows.get(i).targetRow());
        }
        long[] requests = rows.stream().mapToLong(SampledRow::request).toArray();
        return new SampleRows(known.of(encoder, rows), targets, requests);
    }

    /** Returns the given rows in the given order. */
    public SampleRows select(int... chosen) {
        Matrix selected = Matrix.zeros(chosen.length, targets.columns());
        long[] theirs = new long[chosen.length];
        for (int i = 0; i < chosen.length; i++) {
            System.arraycopy(
                    targets.values(),
                    chosen[i] * targets.columns(),
                    selected.values(),
                    i * targets.columns(),
                    targets.columns());
            theirs[i] = requests[chosen[i]];
        }
        return new SampleRows(codes.select(chosen), selected, theirs);
    }

    /** Returns the first rows, at most so many. */
    public SampleRows first(int most) {
        return most >= rows() ? this : select(IntStream.range(0, most).toArray());
    }

    public int rows() {
        return codes.rows();
    }

    private static void copyInto(Matrix matrix, int row, float[] values) {
        if (values.length != matrix.columns()) {
            throw new IllegalArgumentException(
                    "sampled row %d has %d values: expected %d".formatted(row, values.length, matrix.columns()));
        }
        for (int j = 0; j < values.length; j++) {
            matrix.set(row, j, values[j]);
        }
    }
}
