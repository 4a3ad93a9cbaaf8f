package io.plumbline.requests;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MergeableLaws;
import io.plumbline.moments.RowSample;
import java.util.List;

/**
 * Tests the laws of totals where every row is a record, three neighbouring ones are a request, and there are more
 * requests than are kept.
 */
public class RequestTotalsLawsTest extends MergeableLaws<RequestTotals> {

    private static final RequestProjection PROJECTION = RequestProjection.of(basis());

    private static Matrix basis() {
        return new Matrix(2, DIMENSION, new double[] {1, -2, 0, 3, 1, 0, 5, 1, 1, -1});
    }

    @Override
    public RequestTotals empty() {
        return RequestTotals.ofCapacity(PROJECTION.id(), 7);
    }

    @Override
    public void add(RequestTotals totals, Batch batch) {
        for (int i = 0; i < batch.rows().rows(); i++) {
            String name = "request " + (batch.firstRow() + i) / 3;
            double[] sum = new double[PROJECTION.components()];
            PROJECTION.add(batch.rows().rowRange(i, i + 1), sum);
            totals.add(RowSample.requestHash(name), name, 1, sum);
        }
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
