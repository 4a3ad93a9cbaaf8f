package io.plumbline.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rates of 600 features, active in 1 to 40 of 100 rows, where a test says nothing else. */
class ActivityComparisonTest {

    private static final double RATE = 0.1;
    private static final int FEATURES = 600;
    private static final double[] RATES = SyntheticActivity.rates(FEATURES, 0.01, 0.4);
    private static final int ALL = FEATURES;

    @Test
    void ofRatesHalvedOrDoubledNineInTenAreFoundAndAtMostATenthOfTheListIsFalse() {
        Tally tally = changedWindows(0.0, 16, 12);
        assertTrue(tally.falseShare() <= RATE, "false: " + tally.falseShare());
        assertTrue(tally.recall() >= 0.9, "found: " + tally.recall());
    }

    @Test
    void whereRowsOfARequestAreAlikeTheListStillKeepsItsPromise() {
        Tally tally = changedWindows(0.1, 32, 8);
        assertTrue(tally.falseShare() <= RATE, "false: " + tally.falseShare());
    }

    @Test
    void aCleanWindowListsAnythingAtMostAsOftenAsTheRateSays() {
        for (double correlation : new double[] {0.0, 0.1}) {
            SyntheticActivity clean = new SyntheticActivity(SyntheticActivity.rates(200, 0.001, 0.4), correlation);
            ActivityComparison test = ActivityComparison.of(clean.draw(512, 16, 1), RATE);
            int windows = 60;
            int alarms = 0;
            for (int window = 0; window < windows; window++) {
                alarms += test.changes(clean.draw(64, 16, 100 + window), ALL)
                                .features()
                                .isEmpty()
                        ? 0
                        : 1;
            }
            // Three standard deviations above a tenth of 60.
            assertTrue(alarms <= 12, "correlation " + correlation + ": " + alarms + " of " + windows);
        }
    }

    @Test
    void aFeatureThatFallsSilentWakesUpOrIsNoLongerAlwaysActiveIsListedWithBothRates() {
        double[] rates = RATES.clone();
        rates[0] = 0.03;
        rates[1] = 0.0;
        rates[2] = 1.0;
        double[] later = rates.clone();
        later[0] = 0.0;
        later[1] = 0.02;
        later[2] = 0.95;
        SyntheticActivity clean = new SyntheticActivity(rates, 0.0);
        ActivityChanges changes = ActivityComparison.of(clean.draw(256, 16, 1), 0.01)
                .changes(clean.with(later).draw(128, 16, 2), ALL);
        Map<Integer, ActivityChange> byFeature =
                changes.features().stream().collect(Collectors.toMap(ActivityChange::feature, Function.identity()));
        ActivityChange silent = byFeature.get(0);
        assertEquals("less_active", silent.direction());
        assertEquals(0.0, silent.frequency());
        assertEquals(0.03, silent.frequencyBaseline(), 0.01);
        assertEquals(0.0, silent.meanActivation());
        assertEquals(2.0, silent.meanActivationBaseline(), 1e-12);
        assertEquals(0, silent.activeRequests());
        ActivityChange awake = byFeature.get(1);
        assertEquals("more_active", awake.direction());
        assertEquals(0.0, awake.frequencyBaseline());
        assertEquals(0.02, awake.frequency(), 0.01);
        assertTrue(awake.activeRequests() > 20);
        assertEquals("less_active", byFeature.get(2).direction());
        assertNull(changes.undefined());
        assertEquals(changes.features().size(), changes.lessActive() + changes.moreActive());
        assertEquals(FEATURES - 2, changes.tested());
    }

    @Test
    void aFeatureThatFiresInEveryRowOfOneRequestIsNoChange() {
        SyntheticActivity clean = new SyntheticActivity(RATES, 0.0);
        FeatureActivity baseline = clean.draw(512, 16, 1);
        SparseCodes window = oneBurst(64, 32);
        long[] requests = new long[window.rows()];
        Arrays.setAll(requests, row -> row / 32);
        ActivityChanges changes = ActivityComparison.of(baseline, RATE).changes(window, requests, ALL);
        assertTrue(changes.features().stream().noneMatch(change -> change.feature() == 5), changes.toString());
    }

    /** Draws all features at their rates, and feature 5, rare otherwise, in all rows of request 7. */
    private static SparseCodes oneBurst(int requests, int rowsOfRequest) {
        Random random = new Random(9);
        boolean[][] active = new boolean[requests * rowsOfRequest][FEATURES];
        for (int row = 0; row < active.length; row++) {
            for (int j = 0; j < FEATURES; j++) {
                active[row][j] = random.nextDouble() < RATES[j] || (j == 5 && row / rowsOfRequest == 7);
            }
        }
        return SyntheticActivity.codes(active);
    }

    @Test
    void theSurestStandFirstAndTheCountsAreOfAllOfThem() {
        SyntheticActivity clean = new SyntheticActivity(RATES, 0.0);
        double[] later = RATES.clone();
        for (int j = 300; j < 400; j++) {
            later[j] /= 2.0;
        }
        ActivityComparison test = ActivityComparison.of(clean.draw(256, 16, 1), RATE);
        FeatureActivity window = clean.with(later).draw(128, 16, 2);
        ActivityChanges all = test.changes(window, ALL);
        ActivityChanges first = test.changes(window, 7);
        assertEquals(all.features().subList(0, 7), first.features());
        assertEquals(all.lessActive(), first.lessActive());
        assertTrue(first.lessActive() > 80, first.toString());
        double last = 0.0;
        for (ActivityChange change : all.features()) {
            assertTrue(change.pValue() >= last);
            last = change.pValue();
        }
    }

    @Test
    void ofChangesBeyondTheSmallestDoubleTheLargestStandFirstInBothDirections() {
        int features = 40;
        double[] rates = new double[features];
        double[] later = new double[features];
        for (int j = 0; j < features; j++) {
            rates[j] = j % 2 == 0 ? 0.1 : 0.9;
            // The later the feature, the larger its change: from 8 to 120 standard deviations.
            double change = 0.05 + 0.018 * j;
            later[j] = j % 4 < 2 ? rates[j] : j % 2 == 0 ? rates[j] + change : rates[j] - change;
        }
        ActivityChanges changes = ActivityComparison.of(new SyntheticActivity(rates, 0.0).draw(512, 16, 1), 1e-3)
                .changes(new SyntheticActivity(later, 0.0).draw(512, 16, 2), 10);
        assertEquals(20, changes.lessActive() + changes.moreActive(), changes.toString());
        assertEquals(
                List.of(39, 38, 35, 34, 31, 30, 27, 26, 23, 22),
                changes.features().stream().map(ActivityChange::feature).toList());
        assertTrue(changes.features().stream().allMatch(change -> change.pValue() >= 1e-300));
    }

    @Test
    void asManyRowsInFewerRequestsAreLessCertain() {
        double[] later = RATES.clone();
        later[300] = 2.0 * RATES[300];
        FeatureActivity few = new SyntheticActivity(later, 0.2).draw(32, 64, 3);
        FeatureActivity many = new SyntheticActivity(later, 0.2).draw(1_024, 2, 3);
        ActivityComparison test = ActivityComparison.of(new SyntheticActivity(RATES, 0.2).draw(256, 16, 1), RATE);
        assertTrue(test.changes(many, ALL).features().stream().anyMatch(change -> change.feature() == 300));
        assertTrue(test.changes(few, ALL).features().stream().noneMatch(change -> change.feature() == 300));
    }

    @Test
    void whatCannotBeComparedSaysWhy() {
        FeatureActivity baseline = new SyntheticActivity(RATES, 0.0).draw(32, 16, 1);
        FeatureActivity window = new SyntheticActivity(RATES, 0.0).draw(4, 64, 2);
        assertTrue(String.valueOf(
                        ActivityComparison.of(null, RATE).changes(window, ALL).undefined())
                .contains("run `plumbline baseline` again"));
        assertTrue(String.valueOf(ActivityComparison.of(baseline, RATE)
                        .changes(window, ALL)
                        .undefined())
                .contains("expected rows of 5 or more requests, "
                        + "the window's sample has rows of 4 and the baseline's of 32"));
        SparseCodes none = SparseCodes.fromDense(Matrix.zeros(0, FEATURES));
        assertEquals(
                "no row of the window was encoded",
                ActivityComparison.of(baseline, RATE)
                        .changes(none, new long[0], ALL)
                        .undefined());
        FeatureActivity other = new SyntheticActivity(new double[] {0.5}, 0.0).draw(8, 16, 1);
        assertThrows(IllegalArgumentException.class, () -> ActivityComparison.of(baseline, RATE)
                .changes(other, ALL));
        assertThrows(IllegalArgumentException.class, () -> ActivityComparison.of(baseline, 0.0));
        assertThrows(IllegalArgumentException.class, () -> ActivityComparison.of(baseline, 0.6));
    }

    @Test
    void theOrderOfRowsDoesNotMatter() {
        SparseCodes codes = oneBurst(16, 8);
        long[] requests = new long[codes.rows()];
        int[] mixed = new int[codes.rows()];
        long[] theirs = new long[codes.rows()];
        for (int row = 0; row < codes.rows(); row++) {
            requests[row] = row / 8;
            mixed[row] = row * 37 % codes.rows();
            theirs[row] = mixed[row] / 8;
        }
        FeatureActivity activity = FeatureActivity.of(codes, requests);
        assertEquals(activity, FeatureActivity.of(codes.select(mixed), theirs));
        assertEquals(16, activity.requests());
        assertEquals(16 * 64, activity.squaredRows());
        assertThrows(IllegalArgumentException.class, () -> FeatureActivity.of(codes, new long[3]));
    }

    private record Tally(double falseShare, double recall) {}

    /**
     * Tests windows of 2,048 rows in which a tenth of the features changed: half are twice as active as in the
     * baseline, half half as active.
     */
    private static Tally changedWindows(double correlation, int rowsOfRequest, int windows) {
        SyntheticActivity clean = new SyntheticActivity(RATES, correlation);
        ActivityComparison test = ActivityComparison.of(clean.draw(1_024, 16, 1), RATE);
        double falseShare = 0.0;
        int changed = 0;
        int found = 0;
        for (int window = 0; window < windows; window++) {
            Random random = new Random(window);
            double[] later = RATES.clone();
            for (int j = 0; j < FEATURES; j++) {
                if (random.nextInt(10) == 0) {
                    later[j] *= random.nextBoolean() ? 2.0 : 0.5;
                    changed++;
                }
            }
            List<ActivityChange> listed = test.changes(
                            clean.with(later).draw(2_048 / rowsOfRequest, rowsOfRequest, 1_000 + window), ALL)
                    .features();
            int right = 0;
            for (ActivityChange change : listed) {
                int j = change.feature();
                boolean isRight = later[j] != RATES[j]
                        && change.direction().equals(later[j] < RATES[j] ? "less_active" : "more_active");
                right += isRight ? 1 : 0;
            }
            found += right;
            falseShare += listed.isEmpty() ? 0.0 : (double) (listed.size() - right) / listed.size() / windows;
        }
        return new Tally(falseShare, (double) found / changed);
    }
}
