package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.SampleRows;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Forty watched features in eight dimensions, whose columns are wrong by as much before a refit as after it. */
class WatchedColumnsTest {

    private static final int FEATURES = 40;
    private static final int DIMENSION = 8;
    private static final int ROWS_OF_REQUEST = 10;
    private static final WatchedColumns WATCHED =
            new WatchedColumns(IntStream.range(0, FEATURES).boxed().toList());

    @Test
    void aNeutralRefitIsRefusedInFiveOfAHundredHoweverManyFeaturesAreWatched() {
        int refused = 0;
        for (int seed = 0; seed < 60; seed++) {
            refused += judge(new Random(seed), 20, 1.0).passed() ? 0 : 1;
        }
        // Three are expected; of tests that know nothing of each other 57 would be.
        assertTrue(refused <= 8, refused + " of 60");
    }

    @Test
    void aColumnThatIsWrongThreeTimesAsFarIsFoundAmongThem() {
        assertFalse(judge(new Random(1), 20, 3.0).passed());
    }

    @Test
    void ofFewerThanFiveRequestsNoResidualIsTested() {
        for (int requests = 1; requests < 5; requests++) {
            GateTest test = judge(new Random(1), requests, 3.0);
            assertTrue(test.passed(), test.finding());
            assertEquals(
                    "40 watched features keep their directions; %d requests do not test their residuals, expected 5"
                            .formatted(requests),
                    test.finding());
        }
    }

    /** @param more how many times the error of the first column is as large after as before */
    private static GateTest judge(Random random, int requests, double more) {
        int rows = requests * ROWS_OF_REQUEST;
        Matrix weights = gaussian(random, FEATURES);
        Matrix before = weights.copy();
        Matrix after = weights.copy();
        for (int j = 0; j < FEATURES; j++) {
            // Across the column, so that its length is the same on both sides.
            across(before, j, 0, 0.05);
            across(after, j, 2, j == 0 ? 0.05 * more : 0.05);
        }
        Matrix codes = Matrix.zeros(rows, FEATURES);
        for (int i = 0; i < codes.values().length; i++) {
            codes.values()[i] = random.nextDouble() < 0.3 ? 1.0 + random.nextDouble() : 0.0;
        }
        SparseCodes sparse = SparseCodes.fromDense(codes);
        double[] bias = new double[DIMENSION];
        Decoder trained = new Decoder(weights, bias);
        Decoder current = new Decoder(before, bias);
        Decoder proposed = new Decoder(after, bias);
        Matrix targets = trained.reconstruct(sparse);
        long[] names =
                IntStream.range(0, rows).mapToLong(row -> row / ROWS_OF_REQUEST).toArray();
        return WATCHED.on(
                new SampleRows(sparse, targets, names),
                trained,
                current,
                proposed,
                current.reconstruct(sparse),
                proposed.reconstruct(sparse));
    }

    private static void across(Matrix columns, int j, int first, double off) {
        double a = columns.get(j, first);
        double b = columns.get(j, first + 1);
        columns.set(j, first, a + off * b / Math.hypot(a, b));
        columns.set(j, first + 1, b - off * a / Math.hypot(a, b));
    }

    private static Matrix gaussian(Random random, int rows) {
        Matrix matrix = Matrix.zeros(rows, DIMENSION);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextGaussian();
        }
        return matrix;
    }
}
