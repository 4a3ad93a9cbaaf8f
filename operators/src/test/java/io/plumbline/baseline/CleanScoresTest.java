package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.commons.math3.distribution.BetaDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CleanScoresTest {

    private static final long SEED = 14;

    @Test
    void aStatisticAloneIsAskedItsOwnCleanValues() {
        double[] values = new Random(SEED).doubles(9).toArray();
        values[4] = Double.NaN;
        double[] known =
                Arrays.stream(values).filter(value -> !Double.isNaN(value)).toArray();
        NullSample sample = new NullSample(1, 10, Map.of("eta", values));
        assertArrayEquals(
                known, CleanScores.of(sample, List.of("eta")).clean("eta").values());
        // Another that no window has is as if it were not there.
        assertArrayEquals(
                known,
                CleanScores.of(sample, List.of("eta", "residual_energy"))
                        .clean("eta")
                        .values());
    }

    /** Tests the level by scoring the new window among all K + 1 directly. */
    @Test
    void aWindowAboveAnyLevelHasOneOfTheLargestScoresAmongAllWindows() {
        Random random = new Random(SEED);
        int above = 0;
        int largest = 0;
        for (int trial = 0; trial < 20_000; trial++) {
            int windows = 4 + random.nextInt(20);
            double[][] values = draw(random, windows + 1, 3, 0.3, 0.5);
            for (double[] statistic : values) {
                statistic[windows] += random.nextInt(4);
            }
            int fromTop = 1 + random.nextInt(2);
            boolean isAbove = isAbove(levels(cleanOf(values, windows), fromTop), values, windows);
            boolean isLargest = rankFromTop(values, windows) <= fromTop;
            assertTrue(isLargest || !isAbove, "trial %d, seed %d".formatted(trial, SEED));
            above += isAbove ? 1 : 0;
            largest += isLargest ? 1 : 0;
        }
        assertTrue(above > 0.9 * largest, "little is given away: %d of %d".formatted(above, largest));
    }

    /**
     * Tests three statistics: the rate on average, that of two windows at once (which debounce needs), and the share of
     * baselines that break the confidence bound of one statistic. Levels at the largest clean score without regard to
     * the windows it comes from break all three.
     */
    @ParameterizedTest
    @CsvSource({"8, 1, 0, 0", "15, 1, 0, 0.6", "15, 1, 0.5, 0", "51, 1, 0.5, 0.6", "51, 3, 0, 0", "132, 6, 0, 0.6"})
    void severalStatisticsKeepTheLawOfOne(int windows, int fromTop, double skew, double correlation) {
        Random random = new Random(SEED);
        int baselines = 1_000;
        int later = 1_000;
        BetaDistribution law = new BetaDistribution(null, fromTop, windows + 1.0 - fromTop);
        double bound = law.inverseCumulativeProbability(0.95);
        double squares = law.getNumericalVariance() + law.getNumericalMean() * law.getNumericalMean();
        double[] kept = new double[3];
        double[] naive = new double[3];
        for (int baseline = 0; baseline < baselines; baseline++) {
            double[][] clean = draw(random, windows, 3, skew, correlation);
            double[][] windowsLater = draw(random, later, 3, skew, correlation);
            add(kept, levels(clean, fromTop), windowsLater, bound);
            add(naive, naiveLevels(clean, fromTop), windowsLater, bound);
        }
        double mean = law.getNumericalMean();
        assertTrue(kept[0] / baselines <= mean * 1.05, "rate %s of %s".formatted(kept[0] / baselines, mean));
        assertTrue(kept[0] / baselines >= mean * 0.6, "rate %s of %s".formatted(kept[0] / baselines, mean));
        assertTrue(
                kept[1] / baselines <= squares * 1.1, "two windows %s of %s".formatted(kept[1] / baselines, squares));
        assertTrue(kept[2] / baselines <= 0.065, "baselines above the bound: " + kept[2] / baselines);
        if (windows <= 15) {
            assertTrue(
                    naive[0] / baselines > mean * 1.15 && naive[1] / baselines > squares * 1.3,
                    "naive levels break it");
            assertTrue(naive[2] / baselines > 0.08, "naive levels break it");
        }
    }

    private static void add(double[] sums, double[] levels, double[][] later, double bound) {
        int windows = later[0].length;
        int above = 0;
        for (int window = 0; window < windows; window++) {
            above += isAbove(levels, later, window) ? 1 : 0;
        }
        double share = (double) above / windows;
        sums[0] += share;
        sums[1] += (double) above * (above - 1) / ((double) windows * (windows - 1));
        sums[2] += share > bound ? 1 : 0;
    }

    @Test
    void aFewWindowsThatShareNoScaleHaveNoLevelTogether() {
        NullSample two =
                new NullSample(1, 10, Map.of("eta", new double[] {1, 2}, "residual_energy", new double[] {0.1, 0.2}));
        Level level = CleanScores.of(two, List.of("eta", "residual_energy"))
                .level("eta", new Threshold.QuantileOfCleanWindows(0.5), 1, 2);
        assertEquals(
                "2 clean windows of 10 rows: too few to judge 2 statistics together",
                assertInstanceOf(Level.Unknown.class, level).reason());
    }

    @Test
    void aWindowInWhichAStatisticIsUndefinedAsksByTheOthers() {
        double[] gap = new Random(SEED).doubles(20).toArray();
        double[] energy = new Random(SEED + 1).doubles(20).toArray();
        gap[3] = Double.NaN;
        energy[3] = 2.0;
        CleanScores scores = CleanScores.of(
                new NullSample(1, 10, Map.of("faithfulness_gap", gap, "residual_energy", energy)),
                List.of("faithfulness_gap", "residual_energy"));
        assertEquals(20, scores.clean("faithfulness_gap").windows());
        assertEquals(2.0, scores.clean("residual_energy").fromTop(1));
        CleanScores.Spread spread = scores.spread("faithfulness_gap");
        double ofTheSame = (2.0 - scores.spread("residual_energy").mean())
                / scores.spread("residual_energy").deviation();
        assertTrue(
                scores.clean("faithfulness_gap").fromTop(1) > spread.mean() + ofTheSame * spread.deviation(),
                "at least as many deviations");
    }

    private static double[] levels(double[][] clean, int fromTop) {
        Map<String, double[]> statistics = new LinkedHashMap<>();
        List<String> names = new ArrayList<>();
        for (int j = 0; j < clean.length; j++) {
            statistics.put("s" + j, clean[j]);
            names.add("s" + j);
        }
        CleanScores scores = CleanScores.of(new NullSample(1, 10, statistics), names);
        return names.stream()
                .mapToDouble(name -> scores.clean(name).fromTop(fromTop))
                .toArray();
    }

    /** The largest scores of the clean windows by their own mean and deviation. */
    private static double[] naiveLevels(double[][] clean, int fromTop) {
        int windows = clean[0].length;
        double[] scores = new double[windows];
        Arrays.fill(scores, Double.NEGATIVE_INFINITY);
        double[][] spreads = new double[clean.length][];
        for (int j = 0; j < clean.length; j++) {
            spreads[j] = spread(clean[j]);
            for (int i = 0; i < windows; i++) {
                scores[i] = Math.max(scores[i], (clean[j][i] - spreads[j][0]) / spreads[j][1]);
            }
        }
        Arrays.sort(scores);
        double level = scores[windows - fromTop];
        return Arrays.stream(spreads)
                .mapToDouble(spread -> spread[0] + level * spread[1])
                .toArray();
    }

    private static double[] spread(double[] values) {
        double mean = Arrays.stream(values).average().orElseThrow();
        double squares = Arrays.stream(values)
                .map(value -> (value - mean) * (value - mean))
                .sum();
        return new double[] {mean, Math.sqrt(squares / (values.length - 1))};
    }

    private static boolean isAbove(double[] levels, double[][] values, int window) {
        for (int j = 0; j < levels.length; j++) {
            if (values[j][window] > levels[j]) {
                return true;
            }
        }
        return false;
    }

    private static int rankFromTop(double[][] values, int window) {
        double[] scores = new double[values[0].length];
        Arrays.fill(scores, Double.NEGATIVE_INFINITY);
        for (double[] statistic : values) {
            double[] spread = spread(statistic);
            for (int i = 0; i < scores.length; i++) {
                scores[i] = Math.max(scores[i], (statistic[i] - spread[0]) / spread[1]);
            }
        }
        double own = scores[window];
        return (int) Arrays.stream(scores).filter(score -> score >= own).count();
    }

    private static double[][] cleanOf(double[][] values, int windows) {
        return Arrays.stream(values)
                .map(statistic -> Arrays.copyOf(statistic, windows))
                .toArray(double[][]::new);
    }

    /** Draws normal values with a correlation, skewed as the exponential of so many times them. */
    private static double[][] draw(Random random, int windows, int statistics, double skew, double correlation) {
        double[][] values = new double[statistics][windows];
        for (int i = 0; i < windows; i++) {
            double common = random.nextGaussian();
            for (int j = 0; j < statistics; j++) {
                double normal = Math.sqrt(correlation) * common + Math.sqrt(1.0 - correlation) * random.nextGaussian();
                values[j][i] = skew == 0.0 ? normal : Math.exp(skew * normal);
            }
        }
        return values;
    }
}
