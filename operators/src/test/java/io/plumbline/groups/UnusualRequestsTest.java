package io.plumbline.groups;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MergeableLaws;
import io.plumbline.moments.RowSample;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotal;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the laws of a pool where every row is a request, and more requests are unusual than are kept. */
public class UnusualRequestsTest extends MergeableLaws<UnusualRequests> {

    private static final double[] SCORES = {1.0, 4e5, 5e5, 6e5, 7e5, 8e5, 9e5, 9.1e5, 9.2e5, 1e6};

    static GroupSpace space(double... location) {
        Matrix basis = Matrix.identity(DIMENSION);
        return GroupSpace.of(RequestProjection.of(basis).id(), basis, location, 3.0, SCORES, new double[0]);
    }

    @Override
    public UnusualRequests empty() {
        return UnusualRequests.ofCapacity(space(0, 1, 2, 3, 4), 7);
    }

    @Override
    public void add(UnusualRequests pool, Batch batch) {
        for (int i = 0; i < batch.rows().rows(); i++) {
            // Every fifth has the content of another, under a name of its own.
            int place = batch.firstRow() + i;
            double[] sum = batch.rows().rowRange(i, i + 1).values();
            pool.add(List.of(total(place, sum)));
            if (place % 5 == 0) {
                pool.add(List.of(total(place + 1_000, sum)));
            }
        }
    }

    private static RequestTotal total(int place, double... sum) {
        String name = "request " + place;
        return new RequestTotal(RowSample.requestHash(name), place % 2 == 0 ? name : null, 3, sum);
    }

    @Override
    public void merge(UnusualRequests pool, UnusualRequests other) {
        pool.merge(other);
    }

    @Override
    public Object snapshot(UnusualRequests pool) {
        return List.of(
                pool.requests(),
                pool.unusual(),
                pool.kept().stream()
                        .map(one -> List.of(
                                one.content(),
                                one.request(),
                                one.label(),
                                one.copies(),
                                Arrays.stream(one.direction()).boxed().toList()))
                        .toList());
    }

    @Test
    void copiesAreOneRequestWithTheirNumberAndTheFirstName() {
        double[] far = {9_000, 0, 0, 0, 0};
        UnusualRequests pool = empty().add(List.of(total(6, far), total(4, far), total(1, far)));
        assertEquals(3, pool.requests());
        assertEquals(3, pool.unusual());
        assertEquals(1, pool.kept().size());
        assertEquals(3, pool.kept().get(0).copies());
        assertEquals("request 4", pool.kept().get(0).label());
    }

    @Test
    void onlyRequestsAboveNineTenthsOfTheBaselinesScoresAreKept() {
        // Scores of rows 3: |sum / 3 - m|^2 against 1e6; of one row a third of it counts.
        UnusualRequests pool = UnusualRequests.of(space(0, 0, 0, 0, 0));
        pool.add(List.of(total(1, 2_999, 0, 0, 0, 0)));
        assertEquals(0, pool.unusual());
        pool.add(List.of(total(2, 3_003, 0, 0, 0, 0)));
        assertEquals(1, pool.unusual());
        pool.add(List.of(new RequestTotal(3, null, 1, new double[] {1_700, 0, 0, 0, 0})));
        assertEquals(1, pool.unusual());
        pool.add(List.of(new RequestTotal(4, null, 1, new double[] {1_740, 0, 0, 0, 0})));
        assertEquals(2, pool.unusual());
        assertEquals(4, pool.requests());
    }

    @Test
    void aPoolOfAnotherBaselineIsRefusedAndNothingIsAdded() {
        UnusualRequests pool = empty().add(List.of(total(1, 9_000, 0, 0, 0, 0)));
        Object before = snapshot(pool);
        UnusualRequests other = UnusualRequests.of(space(0, 0, 0, 0, 0)).add(List.of(total(1, 9_000, 0, 0, 0, 0)));
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> pool.merge(other));
        assertTrue(String.valueOf(refusal.getMessage()).contains("nothing was added"), refusal::toString);
        assertEquals(before, snapshot(pool));
    }

    @Test
    void sumsAtTheEndOfTheRangeHaveFiniteDirections() {
        UnusualRequests pool = UnusualRequests.of(space(0, 0, 0, 0, 0))
                .add(List.of(total(1, 1e200, -1e200, 0, 0, 0), total(2, 1e-300, 1e200, 0, 0, 0)));
        assertEquals(2, pool.kept().size());
        for (UnusualRequest one : pool.kept()) {
            assertEquals(1.0, Arrays.stream(one.direction()).map(x -> x * x).sum(), 1e-12);
        }
        assertThrows(IllegalArgumentException.class, () -> pool.add(List.of(total(1, 1.0, 2.0))));
    }
}
