package io.plumbline.requests;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MergeableLaws;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationRecord;
import io.plumbline.records.MomentRecord;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import java.util.ArrayList;
import java.util.List;

/**
 * Tests the laws of totals that come with moments: whoever sums which rows, and where some come as rows. A batch that
 * begins at an odd row is sent as a moment of all its rows, the others come row by row.
 */
class MomentTotalsLawsTest extends MergeableLaws<RequestTotals> {

    private static final RequestProjection PROJECTION =
            RequestProjection.of(new Matrix(2, DIMENSION, new double[] {1, -2, 0, 3, 1, 0, 5, 1, 1, -1}));

    /** The requests of a window; each producer sends a few more. */
    private static final int CAPACITY = 5;

    @Override
    public RequestTotals empty() {
        return RequestTotals.ofCapacity(PROJECTION.id(), CAPACITY);
    }

    @Override
    public void add(RequestTotals totals, Batch batch) {
        if (batch.firstRow() % 2 == 1 && batch.rows().rows() > 0) {
            totals.merge(RequestTotals.of(PROJECTION, CAPACITY, moment(batch)));
            return;
        }
        for (int i = 0; i < batch.rows().rows(); i++) {
            double[] sum = new double[PROJECTION.components()];
            PROJECTION.add(batch.rows().rowRange(i, i + 1), sum);
            totals.add(RowSample.requestHash(name(batch, i)), name(batch, i), 1, sum);
        }
    }

    private static String name(Batch batch, int row) {
        return "request " + (batch.firstRow() + row) / 3;
    }

    private static MomentRecord moment(Batch batch) {
        List<byte[]> records = new ArrayList<>();
        try (MomentAccumulator accumulator = MomentAccumulator.of(
                new MomentAccumulator.Settings(
                        DIMENSION, null, RowMask.NONE, 1_000, 0, 4, DType.F64, Long.MAX_VALUE, CAPACITY + 2),
                (time, value, headers) -> records.add(value))) {
            for (int i = 0; i < batch.rows().rows(); i++) {
                accumulator.add(new ActivationBatch(batch.rows().rowRange(i, i + 1), null, null), name(batch, i), 0);
            }
        }
        return (MomentRecord) ActivationRecord.parse(records.get(0), new KnownHeaders());
    }

    @Override
    public void merge(RequestTotals totals, RequestTotals other) {
        totals.merge(other);
    }

    @Override
    public Object snapshot(RequestTotals totals) {
        return List.of(totals.totals(), totals.recordsNotKept(), totals.records(), totals.capacity());
    }
}
