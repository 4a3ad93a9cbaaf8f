package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.Matrix;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the laws of everything that is filled, merged and read off. On integer-valued rows they hold exactly, so values
 * are compared with {@code equals}.
 *
 * @param <A> the thing that accumulates
 */
public abstract class MergeableLaws<A> {

    public static final int DIMENSION = 5;

    /** Rows with a place in the stream: where they were read names them, however they are cut into batches. */
    public record Batch(int firstRow, Matrix rows) {
        Batch part(int from, int to) {
            return new Batch(firstRow + from, rows.rowRange(from, to));
        }
    }

    public abstract A empty();

    public abstract void add(A accumulator, Batch batch);

    public abstract void merge(A accumulator, A other);

    /** Returns a value that {@code equals} another one if and only if both saw the same rows. */
    public abstract Object snapshot(A accumulator);

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void mergedHalvesEqualTheWhole(long seed) {
        Batch whole = rows(seed);
        for (int cut = 0; cut <= whole.rows().rows(); cut += 7) {
            A left = of(whole.part(0, cut));
            merge(left, of(whole.part(cut, whole.rows().rows())));
            assertEquals(snapshot(of(whole)), snapshot(left), "seed " + seed + ", cut at " + cut);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13})
    void mergingIsCommutative(long seed) {
        Batch whole = rows(seed);
        A forwards = of(whole.part(0, 10));
        merge(forwards, of(whole.part(10, 40)));
        A backwards = of(whole.part(10, 40));
        merge(backwards, of(whole.part(0, 10)));
        assertEquals(snapshot(forwards), snapshot(backwards), "seed " + seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23})
    void mergingIsAssociative(long seed) {
        Batch whole = rows(seed);
        A left = of(whole.part(0, 9));
        merge(left, of(whole.part(9, 20)));
        merge(left, of(whole.part(20, 40)));
        A tail = of(whole.part(9, 20));
        merge(tail, of(whole.part(20, 40)));
        A right = of(whole.part(0, 9));
        merge(right, tail);
        assertEquals(snapshot(left), snapshot(right), "seed " + seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {31, 32})
    void anEmptyOneIsNeutral(long seed) {
        A some = of(rows(seed));
        Object before = snapshot(some);
        merge(some, empty());
        assertEquals(before, snapshot(some), "seed " + seed);
        A none = empty();
        merge(none, some);
        assertEquals(before, snapshot(none), "seed " + seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {41, 42})
    void batchesMayComeInAnyOrderAndSize(long seed) {
        Batch whole = rows(seed);
        A backwards = empty();
        for (int row = whole.rows().rows() - 1; row >= 0; row--) {
            add(backwards, whole.part(row, row + 1));
        }
        assertEquals(snapshot(of(whole)), snapshot(backwards), "seed " + seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {51})
    void aSnapshotDoesNotSeeLaterAdds(long seed) {
        Batch whole = rows(seed);
        A accumulator = of(whole.part(0, 10));
        Object early = snapshot(accumulator);
        add(accumulator, whole.part(10, 40));
        assertEquals(snapshot(of(whole.part(0, 10))), early, "seed " + seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {61})
    void theOtherSideOfAMergeIsUnchanged(long seed) {
        Batch whole = rows(seed);
        A other = of(whole.part(10, 40));
        Object before = snapshot(other);
        A accumulator = of(whole.part(0, 10));
        merge(accumulator, other);
        add(accumulator, whole.part(40, 70));
        assertEquals(before, snapshot(other), "seed " + seed);
    }

    private A of(Batch batch) {
        A accumulator = empty();
        add(accumulator, batch);
        return accumulator;
    }

    private static Batch rows(long seed) {
        Random random = new Random(seed);
        Matrix rows = Matrix.zeros(70, DIMENSION);
        for (int i = 0; i < rows.values().length; i++) {
            rows.values()[i] = random.nextInt(2001) - 1000;
        }
        return new Batch(random.nextInt(1000), rows);
    }
}
