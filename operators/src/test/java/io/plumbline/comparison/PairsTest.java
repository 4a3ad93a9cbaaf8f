package io.plumbline.comparison;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.features.FeatureActivity;
import io.plumbline.features.FeatureActivityAccumulator;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import java.util.Arrays;
import java.util.Random;
import org.apache.commons.math3.stat.correlation.PearsonsCorrelation;
import org.junit.jupiter.api.Test;

class PairsTest {

    private static final int GROUPS = 16;
    private static final int ROWS = 40;

    /** Codes of requests before and after, one request a group. */
    private record Codes(SparseCodes[] before, SparseCodes[] after) {

        Pairs.Survival survival() {
            return pairs().survival(activity(before), activity(after), ROWS);
        }

        FeatureSurvival features() {
            return survival().features();
        }

        Estimate share() {
            return survival().share();
        }

        Pairs pairs() {
            Pairs pairs = new Pairs(before.length, before[0].features());
            for (int g = 0; g < before.length; g++) {
                ActivationBatch rows = new ActivationBatch(Matrix.zeros(before[g].rows(), 1), null, null);
                pairs.add(g, rows, rows, before[g], after[g]);
            }
            return pairs;
        }

        private static FeatureActivity activity(SparseCodes[] requests) {
            FeatureActivityAccumulator activity = FeatureActivityAccumulator.of(requests[0].features());
            for (SparseCodes codes : requests) {
                activity.addRows(codes).endRequest();
            }
            return activity.snapshot();
        }
    }

    /** Draws codes whose feature j has the correlation {@code ofFeature[j]}, active in bursts of requests. */
    private static Codes draw(double[] ofFeature, long seed) {
        Random random = new Random(seed);
        SparseCodes[] before = new SparseCodes[GROUPS];
        SparseCodes[] after = new SparseCodes[GROUPS];
        for (int g = 0; g < GROUPS; g++) {
            Matrix b = Matrix.zeros(ROWS, ofFeature.length);
            Matrix a = Matrix.zeros(ROWS, ofFeature.length);
            for (int j = 0; j < ofFeature.length; j++) {
                double rate = 0.05 + 0.2 * j / ofFeature.length;
                double here = random.nextDouble() < 0.7 ? rate / 0.7 : 0.0;
                // A code that is exponential where it is active has E b = rate and E b^2 = 2 rate.
                double noise = Math.sqrt((2.0 * rate - rate * rate) * (1.0 / (ofFeature[j] * ofFeature[j]) - 1.0));
                for (int i = 0; i < ROWS; i++) {
                    double code = random.nextDouble() < here ? -Math.log(1.0 - random.nextDouble()) : 0.0;
                    b.set(i, j, code);
                    a.set(i, j, code + noise * random.nextGaussian());
                }
            }
            before[g] = SparseCodes.fromDense(b);
            after[g] = SparseCodes.fromDense(a);
        }
        return new Codes(before, after);
    }

    private static double[] filled(int count, double value) {
        double[] filled = new double[count];
        Arrays.fill(filled, value);
        return filled;
    }

    @Test
    void theCorrelationIsPearsonsOverAllRowsAndOverThoseOfAllOtherGroups() {
        Codes codes = draw(new double[] {0.95, 0.6}, 1);
        for (int without = -1; without < 3; without++) {
            for (int j = 0; j < 2; j++) {
                int groups = without < 0 ? GROUPS : GROUPS - 1;
                double[] b = new double[groups * ROWS];
                double[] a = new double[groups * ROWS];
                int at = 0;
                for (int g = 0; g < GROUPS; g++) {
                    for (int i = 0; i < ROWS && g != without; i++) {
                        b[at] = codes.before()[g].toDense().get(i, j);
                        a[at++] = codes.after()[g].toDense().get(i, j);
                    }
                }
                assertEquals(
                        new PearsonsCorrelation().correlation(b, a),
                        codes.pairs().correlationWithout(without, j),
                        1e-12,
                        "feature %d without %d".formatted(j, without));
            }
        }
    }

    @Test
    void theSameCodesSurviveAlsoWhereTheyDoNotVaryAndASilentFeatureDoesNot() {
        SparseCodes constant = SparseCodes.fromDense(new Matrix(2, 2, new double[] {3.0, 1.0, 3.0, 2.0}));
        SparseCodes silent = SparseCodes.fromDense(new Matrix(2, 2, new double[] {3.0, 0.0, 3.0, 0.0}));
        SparseCodes[] before = {constant, constant, constant};
        Codes same = new Codes(before, before);
        assertEquals(2, same.features().surviving());
        assertEquals(new Estimate(1.0, 1.0, 1.0), same.share());
        Codes fallen = new Codes(before, new SparseCodes[] {silent, silent, silent});
        assertEquals(
                new FeatureSurvival.Change(1, 0.0, true, 1.0, 0.0),
                fallen.features().worst().get(0));
        assertEquals(1, fallen.features().below());
        assertEquals(0.5, fallen.share().value());
    }

    @Test
    void aFeatureOfFewerThanFiveRequestsIsNotCounted() {
        SparseCodes active = SparseCodes.fromDense(new Matrix(1, 1, new double[] {1.0}));
        SparseCodes silent = SparseCodes.fromDense(new Matrix(1, 1, new double[] {0.0}));
        SparseCodes[] four = {active, active, active, active, silent, silent};
        Codes none = new Codes(four, four);
        assertEquals(0, none.features().active());
        assertTrue(Double.isNaN(none.share().value()));
    }

    @Test
    void featuresAtTheLimitAreCountedAsBelowAtMostAsOftenAsTheRateSays() {
        int runs = 60;
        int any = 0;
        for (int run = 0; run < runs; run++) {
            any += draw(filled(100, Pairs.SURVIVES), run).features().below() > 0 ? 1 : 0;
        }
        // Three standard deviations above a tenth of 60.
        assertTrue(any <= 12, any + " of " + runs);
    }

    @Test
    void featuresFarBelowAreCountedAndListedTheLowestFirst() {
        double[] correlations = filled(100, 0.97);
        Arrays.fill(correlations, 0, 20, 0.5);
        FeatureSurvival found = draw(correlations, 7).features();
        assertTrue(found.active() >= 95, "active: " + found.active());
        assertTrue(found.below() >= 18 && found.below() <= 22, "below: " + found.below());
        assertTrue(found.worst().stream().allMatch(change -> change.feature() < 20), found.toString());
        assertTrue(
                found.worst().get(0).correlation() <= found.worst().get(1).correlation(),
                found.worst().toString());
    }

    @Test
    void anEndOfTheIntervalCountsFeaturesWhoseOwnIntervalSurvivesThere() {
        // Without any one group all of them survive, or none does, so that a count without it does not vary.
        Estimate above = draw(filled(4, 0.93), 3).share();
        assertEquals(1.0, above.value());
        assertTrue(above.low() < 1.0, above.toString());
        assertEquals(1.0, above.high());
        Estimate under = draw(filled(4, 0.86), 3).share();
        assertEquals(0.0, under.value());
        assertEquals(0.0, under.low());
        assertTrue(under.high() > 0.0, under.toString());
    }

    @Test
    void theIntervalHoldsTheShareOfFeaturesThatReallySurvive() {
        int runs = 40;
        double[] correlations = filled(20, 0.88);
        Arrays.fill(correlations, 0, 10, 0.92);
        for (int run = 0; run < runs; run++) {
            Estimate share = draw(correlations, 100 + run).share();
            assertTrue(share.low() <= 0.5 && share.high() >= 0.5, run + ": " + share);
        }
    }

    @Test
    void aRowOfZerosHasACosineOfZeroToAnyOtherAndOfOneToItself() {
        double[][] rows = {{0.0, 0.0}, {0.001, 0.0}, {0.0, 0.0}};
        assertEquals(0.0, cosine(rows[0], rows[1]));
        assertEquals(0.0, cosine(rows[1], rows[0]));
        assertEquals(1.0, cosine(rows[0], rows[2]));
    }

    private static double cosine(double[] before, double[] after) {
        Pairs pairs = new Pairs(1, 1);
        SparseCodes codes = SparseCodes.fromDense(Matrix.zeros(1, 1));
        pairs.add(
                0,
                new ActivationBatch(new Matrix(1, before.length, before), null, null),
                new ActivationBatch(new Matrix(1, after.length, after), null, null),
                codes,
                codes);
        return pairs.cosineWithout(Estimate.NONE);
    }
}
