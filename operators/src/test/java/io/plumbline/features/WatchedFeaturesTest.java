package io.plumbline.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.SampleRows;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Twelve features in eight dimensions, each active in a tenth of the rows of each request, more or less. */
class WatchedFeaturesTest {

    private static final int FEATURES = 12;
    private static final int DIMENSION = 8;
    private static final int ROWS_OF_REQUEST = 60;
    private static final int TWICE = 5;
    private static final int TURNED = 9;
    private static final List<Integer> WATCHED = List.of(1, TWICE, TURNED);
    private static final MeanTest TEST = MeanTest.resolving(1e-4);

    private final Decoder trained = new Decoder(gaussian(new Random(1), FEATURES), new double[DIMENSION]);
    private final WatchedFeatures watched = WatchedFeatures.of(trained, WATCHED, rows(40, 2, false));

    @Test
    void aFeatureThatIsActiveTwiceAsOftenAndAColumnThatIsWrongAreFoundAndNoOther() {
        SampleRows window = rows(40, 3, true);
        List<List<WatchedChange>> changes = changes(window);
        double[] chances = changes.stream()
                .flatMap(List::stream)
                .mapToDouble(change -> Objects.requireNonNull(change.pValue(), change::toString))
                .toArray();
        double[] rates = FalseDiscoveries.qValues(chances);
        for (int i = 0; i < rates.length; i++) {
            boolean twice = i == 3 || i == 4;
            boolean turned = i == 8;
            assertEquals(twice || turned, rates[i] <= 0.01, changes.get(i / 3).get(i % 3) + " at " + rates[i]);
        }
    }

    @Test
    void ratesAndActivationsAreMeansOverRequests() {
        SampleRows window = rows(7, 4, true);
        double rate = 0.0;
        double activation = 0.0;
        Matrix dense = window.codes().toDense();
        for (int i = 0; i < window.rows(); i++) {
            rate += (dense.get(i, TWICE) > 0.0 ? 1.0 : 0.0) / window.rows();
            activation += dense.get(i, TWICE) / window.rows();
        }
        List<WatchedChange> changes = changes(window).get(1);
        assertEquals(WatchedChange.RATE, changes.get(0).what());
        assertEquals(rate, changes.get(0).window(), 1e-12);
        assertEquals(WatchedChange.ACTIVATION, changes.get(1).what());
        assertEquals(activation, changes.get(1).window(), 1e-12);
    }

    @Test
    void ofFewRequestsOrWithoutABaselineNothingIsTested() {
        for (List<WatchedChange> changes : changes(rows(4, 5, true))) {
            changes.forEach(change -> assertNull(change.pValue(), change::toString));
        }
        SampleRows none = rows(1, 6, false).first(0);
        WatchedFeatures alone = WatchedFeatures.of(trained, WATCHED, none);
        SampleRows window = rows(9, 7, false);
        for (WatchedNumbers numbers : alone.numbers(TEST, window, trained.reconstruct(window.codes()), 1.0)) {
            numbers.changes().forEach(change -> assertNull(change.baseline(), change::toString));
            numbers.changes().forEach(change -> assertNull(change.pValue(), change::toString));
        }
        assertTrue(watched.numbers(TEST, none, trained.reconstruct(none.codes()), 1.0).stream()
                .allMatch(one -> one.changes().isEmpty()));
    }

    /** A sample of one row in a hundred has nearly every long request and few short ones. */
    @Test
    void aSampleOfRequestsWhoseLengthsDifferIsComparedWithAsMuchOfTheBaseline() {
        WatchedFeatures clean = WatchedFeatures.of(trained, WATCHED, lengths(200, 11));
        SampleRows all = lengths(400, 12);
        SampleRows sampled = all.select(ByRequest.thinned(all.rows(), 0.01));
        Matrix reconstructions = trained.reconstruct(sampled.codes());
        for (int what = 0; what < 2; what++) {
            double thinned = chance(clean.numbers(TEST, sampled, reconstructions, 0.01), what);
            assertTrue(thinned > 0.05, "thinned: " + thinned);
            double whole = chance(clean.numbers(TEST, sampled, reconstructions, 1.0), what);
            assertTrue(whole < 1e-3, "not thinned: " + whole);
        }
    }

    private static double chance(List<WatchedNumbers> numbers, int what) {
        return Objects.requireNonNull(numbers.get(1).changes().get(what).pValue());
    }

    /** Requests of 200 rows and of four in turn, and a feature that the short ones rarely have. */
    private SampleRows lengths(int requests, long seed) {
        Random random = new Random(seed);
        long[] names = IntStream.range(0, requests)
                .flatMap(g -> IntStream.generate(() -> g).limit(g % 2 == 0 ? 200 : 4))
                .asLongStream()
                .toArray();
        Matrix codes = Matrix.zeros(names.length, FEATURES);
        for (int i = 0; i < names.length; i++) {
            codes.set(i, TWICE, random.nextDouble() < (names[i] % 2 == 0 ? 0.8 : 0.1) ? 1.0 : 0.0);
        }
        SparseCodes sparse = SparseCodes.fromDense(codes);
        return new SampleRows(sparse, trained.reconstruct(sparse), names);
    }

    private List<List<WatchedChange>> changes(SampleRows window) {
        return watched.numbers(TEST, window, trained.reconstruct(window.codes()), 1.0).stream()
                .map(WatchedNumbers::changes)
                .toList();
    }

    /** @param changed whether one feature is active twice as often, and another one's column is turned */
    private SampleRows rows(int requests, long seed, boolean changed) {
        Random random = new Random(seed);
        int rows = requests * ROWS_OF_REQUEST;
        Matrix codes = Matrix.zeros(rows, FEATURES);
        long[] names = new long[rows];
        for (int g = 0; g < requests; g++) {
            double often = 0.05 + 0.1 * random.nextDouble();
            for (int i = g * ROWS_OF_REQUEST; i < (g + 1) * ROWS_OF_REQUEST; i++) {
                names[i] = g;
                for (int j = 0; j < FEATURES; j++) {
                    double rate = changed && j == TWICE ? 2.0 * often : often;
                    codes.set(i, j, random.nextDouble() < rate ? 1.0 + random.nextDouble() : 0.0);
                }
            }
        }
        SparseCodes sparse = SparseCodes.fromDense(codes);
        Matrix targets = trained.reconstruct(sparse);
        double[] turn = new Random(8).doubles(DIMENSION, -1.0, 1.0).toArray();
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < DIMENSION; j++) {
                double turned = changed ? codes.get(i, TURNED) * turn[j] : 0.0;
                targets.set(i, j, targets.get(i, j) + turned + 0.1 * random.nextGaussian());
            }
        }
        return new SampleRows(sparse, targets, names);
    }

    private static Matrix gaussian(Random random, int rows) {
        Matrix matrix = Matrix.zeros(rows, DIMENSION);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextGaussian();
        }
        return matrix;
    }
}
