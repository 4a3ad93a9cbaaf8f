package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.NullSample.OtherSite;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Clean windows of several sites that the same requests pass. */
class JointWindowsTest {

    private static final String GAP = DriftJudge.DEFAULT_TRIGGER;
    private static final Threshold ONE_IN_TWENTY = new Threshold.FalseAlarms(
            new AlarmBudget.PerWindow(0.05), AlarmLaw.tumbling(DriftPolicy.immediate(), Duration.ofMinutes(1)));

    @Test
    void windowsAreThoseThatEverySiteHasByTheirIdentity() {
        NullSample own = sample(new double[] {7, 8, 9}, new double[] {1, 2, 3});
        NullSample other = sample(new double[] {9, 5, 7}, new double[] {30, 20, 10});
        NullSample joint =
                own.with(List.of(new OtherSite(List.of(other), List.of(GAP)))).orElseThrow();

        assertEquals(List.of(1.0, 3.0), boxed(joint.series(GAP)));
        assertEquals(boxed(CleanScores.largestScores(new double[] {10, 30})), boxed(joint.scoreOfOthers()));
        assertEquals(2, joint.sites());
        assertEquals(1, joint.statisticsOfOthers());
        assertEquals(List.of(1.0, 3.0), boxed(joint.byItself().series(GAP)));
        assertEquals(1, joint.byItself().sites());
    }

    @Test
    void recordingsOfOtherRequestsHaveNoWindowInCommon() {
        NullSample own = sample(new double[] {7, 8}, new double[] {1, 2});
        NullSample other = sample(new double[] {1, 2}, new double[] {3, 4});
        OtherSite site = new OtherSite(List.of(other), List.of(GAP));
        assertTrue(own.with(List.of(site)).isEmpty());

        Baseline baseline = BaselineTest.build(12);
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> baseline.judgedWith(BaselineTest.RANK, List.of(site)));
        assertTrue(String.valueOf(refused.getMessage()).contains("plumbline baseline --model"), refused.getMessage());
    }

    @Test
    void baselinesOfTheSameRequestsAreJudgedAsOne() {
        Baseline baseline = BaselineTest.build(12);
        Baseline joint = baseline.judgedWith(
                BaselineTest.RANK, List.of(new OtherSite(baseline.samplesOf(BaselineTest.RANK), List.of(GAP, "eta"))));

        assertEquals(
                baseline.samples().stream().map(NullSample::meanRows).toList(),
                joint.samples().stream().map(NullSample::meanRows).toList());
        assertEquals(1, joint.byItself().sitesTogether());
        assertEquals(2, joint.sitesTogether());
    }

    /** Each site follows the traffic to a share and its own noise for the rest. */
    @Test
    void aCleanWindowIsAboveAtAnySiteAsSeldomAsPromised() {
        Random random = new Random(3);
        int sites = 32;
        int clean = 39;
        for (double shared : new double[] {0.0, 0.7, 1.0}) {
            int joint = 0;
            int single = 0;
            int windows = 0;
            for (int draw = 0; draw < 60; draw++) {
                double[][] series = drawn(random, sites, clean + 4, shared);
                double[] levels = IntStream.range(0, sites)
                        .mapToDouble(site -> level(jointly(series, site, clean)))
                        .toArray();
                double[] alone = Arrays.stream(series)
                        .mapToDouble(of -> level(sample(identities(clean), Arrays.copyOf(of, clean))))
                        .toArray();
                for (int fresh = clean; fresh < clean + 4; fresh++) {
                    boolean above = false;
                    boolean aboveAlone = false;
                    for (int site = 0; site < sites; site++) {
                        above |= series[site][fresh] > levels[site];
                        aboveAlone |= series[site][fresh] > alone[site];
                    }
                    joint += above ? 1 : 0;
                    single += aboveAlone ? 1 : 0;
                    windows++;
                }
            }
            // 240 windows at 5 %: 12 expected, 24 with a probability below .001 for independent ones.
            assertTrue(joint <= 24, "%d of %d with a shared part of %s".formatted(joint, windows, shared));
            if (shared < 1.0) {
                assertTrue(single > 4 * joint, "%d by single promises, %d by one".formatted(single, joint));
            }
        }
    }

    private static double[][] drawn(Random random, int sites, int windows, double shared) {
        double[][] series = new double[sites][windows];
        for (int window = 0; window < windows; window++) {
            double traffic = random.nextGaussian();
            for (int site = 0; site < sites; site++) {
                series[site][window] = shared * traffic + Math.sqrt(1 - shared * shared) * random.nextGaussian();
            }
        }
        return series;
    }

    private static NullSample jointly(double[][] series, int site, int clean) {
        List<OtherSite> others = new ArrayList<>();
        for (int other = 0; other < series.length; other++) {
            if (other != site) {
                NullSample of = sample(identities(clean), Arrays.copyOf(series[other], clean));
                others.add(new OtherSite(List.of(of), List.of(GAP)));
            }
        }
        return sample(identities(clean), Arrays.copyOf(series[site], clean))
                .with(others)
                .orElseThrow();
    }

    private static double level(NullSample sample) {
        return assertInstanceOf(Level.Known.class, sample.level(List.of(GAP), GAP, ONE_IN_TWENTY, 6))
                .value();
    }

    private static double[] identities(int windows) {
        return IntStream.range(0, windows).asDoubleStream().toArray();
    }

    private static NullSample sample(double[] identities, double[] gaps) {
        Map<String, double[]> statistics = new LinkedHashMap<>();
        statistics.put(GAP, gaps);
        statistics.put(NullSample.IDENTITY, identities);
        return new NullSample(BaselineTest.RANK, 20, statistics);
    }

    private static List<Double> boxed(double[] values) {
        return Arrays.stream(values).boxed().toList();
    }
}
