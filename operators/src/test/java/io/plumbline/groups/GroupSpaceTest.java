package io.plumbline.groups;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotal;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GroupSpaceTest {

    private static final double[] SCORES = new double[20];

    private static GroupSpace space(Matrix basis, double... location) {
        return GroupSpace.of(RequestProjection.of(basis).id(), basis, location, 1.0, SCORES, new double[0]);
    }

    @Test
    void directionsAreThoseOfTheRowsWhereEveryDirectionIsKept() {
        Matrix basis = new Matrix(2, 2, new double[] {0.25, 0, 0, 8});
        // The mean (7, 1) of two rows less the location (4, -3) is (3, 4), whatever the whitening.
        RequestTotal total = new RequestTotal(1, null, 2, new double[] {2 * 0.25 * 7, 2 * 8 * 1});
        assertArrayEquals(
                new double[] {0.6, 0.8}, space(basis, 0.25 * 4, 8 * -3).direction(total), 1e-15);
    }

    @Test
    void coordinatesOfASketchStandForAllDirectionsBeyondTheLeadingOnes() {
        // One leading direction, and two of eight others, of one length: each stands for four.
        Matrix basis = Matrix.zeros(3, 9);
        basis.set(0, 0, 3.0);
        basis.set(1, 4, -5.0);
        basis.set(2, 7, 5.0);
        RequestTotal total = new RequestTotal(1, null, 1, new double[] {3.0 * 2, 5.0 * 1, 5.0 * -1});
        double length = Math.sqrt(4 + 4 + 4);
        assertArrayEquals(
                new double[] {2 / length, 2 / length, -2 / length},
                space(basis, 0, 0, 0).direction(total),
                1e-15);
    }

    @Test
    void whatHasNoDirectionHasNone() {
        GroupSpace space = space(Matrix.zeros(2, 2), 0, 0);
        assertNull(space.direction(new RequestTotal(1, null, 1, new double[] {1, 1})));
        GroupSpace far = space(Matrix.identity(2), Double.MAX_VALUE, 0);
        assertNull(far.direction(new RequestTotal(1, null, 1, new double[] {-Double.MAX_VALUE, 0})));
        assertNull(space(Matrix.identity(2), 1, 1).direction(new RequestTotal(1, null, 1, new double[] {1, 1})));
        RequestTotal large = new RequestTotal(1, null, 1, new double[] {1e200, 1e200});
        double[] direction =
                Objects.requireNonNull(space(Matrix.identity(2), 0, 0).direction(large));
        assertEquals(Math.sqrt(0.5), direction[0], 1e-15);
    }

    @Test
    void aRequestIsUnusualByItsScoreOrByItsLengthWhateverTheWhitening() {
        // Along the first direction the baseline varies much, along the second hardly.
        Matrix basis = new Matrix(2, 2, new double[] {0.1, 0, 0, 10});
        double[] scores = IntStream.range(0, 100).mapToDouble(i -> i / 10.0).toArray();
        double[] lengths = IntStream.range(0, 100).mapToDouble(i -> i).toArray();
        RequestProjection.Id id = RequestProjection.of(basis).id();
        GroupSpace both = GroupSpace.of(id, basis, new double[2], 4.0, scores, lengths);
        GroupSpace byScore = GroupSpace.of(id, basis, new double[2], 4.0, scores, new double[0]);
        RequestTotal along = new RequestTotal(1, null, 4, new double[] {4 * 0.1 * 10, 0});
        assertEquals(100.0, both.length(along), 1e-9);
        assertTrue(both.isUnusual(along));
        assertFalse(byScore.isUnusual(along));
        RequestTotal across = new RequestTotal(1, null, 4, new double[] {0, 4 * 10 * 0.32});
        assertTrue(both.isUnusual(across));
        assertTrue(byScore.isUnusual(across));
        // A quarter of the usual rows: a quarter of the length.
        RequestTotal few = new RequestTotal(1, null, 1, new double[] {0.1 * 19, 0});
        assertEquals(361.0 / 4, both.length(few), 1e-9);
        assertFalse(both.isUnusual(few));
        assertNotEquals(both, byScore);
        assertNotEquals(both.fingerprint(), byScore.fingerprint());
    }

    @Test
    void spacesOfOneBaselineAreEqualAndOthersAreNot() {
        assertEquals(space(Matrix.identity(2), 1, 2), space(Matrix.identity(2), 1, 2));
        assertEquals(
                space(Matrix.identity(2), 1, 2).hashCode(),
                space(Matrix.identity(2), 1, 2).hashCode());
        assertNotEquals(space(Matrix.identity(2), 1, 2), space(Matrix.identity(2), 1, 3));
        assertNotEquals(space(Matrix.identity(2), 1, 2), space(new Matrix(2, 2, new double[] {1, 0, 0, 2}), 1, 2));
    }
}
