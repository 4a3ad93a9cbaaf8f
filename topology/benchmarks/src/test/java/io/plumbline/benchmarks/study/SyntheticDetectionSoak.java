package io.plumbline.benchmarks.study;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The table of a benchmark with a known truth, in docs/data: 16,384 features in 768 dimensions. */
class SyntheticDetectionSoak {

    @Test
    void cleanWindowsStayBelowAndTurnedFeaturesAreFound() {
        SyntheticBench bench = new SyntheticBench(
                new SyntheticBench.Size(SyntheticWorld.FEATURES, SyntheticWorld.DIMENSION, 32, 32, 32, 32, 256, 59, 20),
                1);
        bench.table(new int[] {100, 25, 10, 5, 1}, System.out::println);
        System.out.println("| drift | listed | precision | recall | most active: listed | precision | recall |");
        for (SyntheticDrift drift : bench.drifts(7)) {
            for (double share : new double[] {1.0, 0.25, 0.0}) {
                SyntheticBench.Attribution[] found = bench.attribution(drift, share, 128);
                System.out.println("| " + drift.name() + ", " + share + " | " + found[0] + " | " + found[1] + " |");
                if (share == 0.0) {
                    assertTrue(found[0].listed() <= 10, "clean rows: " + found[0]);
                } else if (!drift.wrong().isEmpty() && share == 1.0) {
                    assertTrue(found[0].precision() >= 0.3, drift.name() + ": " + found[0]);
                }
            }
        }
    }
}
