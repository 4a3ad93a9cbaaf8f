package io.plumbline.calibration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class ThresholdTest {

    private static double known(Threshold threshold, double... clean) {
        return assertInstanceOf(Threshold.Level.Known.class, threshold.level(32, 384, clean))
                .value();
    }

    @Test
    void fixedThresholdsNeedNoBaseline() {
        assertEquals(4.0, known(new Threshold.Fixed(4.0)));
        assertEquals(0.5 * 8.0, known(new Threshold.ShareOfLargestGap(0.5)));
    }

    @Test
    void quantileIsTheOrderStatisticThatKeepsItsPromise() {
        double[] nineteen = new double[19];
        for (int i = 0; i < 19; i++) {
            nineteen[i] = (i * 7) % 19 + 1;
        }
        assertEquals(19.0, known(new Threshold.QuantileOfCleanWindows(0.95), nineteen));
        assertEquals(18.0, known(new Threshold.QuantileOfCleanWindows(0.9), nineteen));
        assertEquals(10.0, known(new Threshold.QuantileOfCleanWindows(0.5), nineteen));
        assertEquals(1.0, known(new Threshold.QuantileOfCleanWindows(0.01), nineteen));
    }

    @Test
    void quantileRefusesTooFewWindowsAndSaysHowManyItNeeds() {
        Threshold.QuantileOfCleanWindows threshold = new Threshold.QuantileOfCleanWindows(0.95);
        assertEquals(19, threshold.windowsNeeded());
        String reason = assertInstanceOf(Threshold.Level.Unknown.class, threshold.level(32, 384, new double[18]))
                .reason();
        assertTrue(reason.contains("at least 19 clean windows, the baseline has 18"), reason);
        assertInstanceOf(Threshold.Level.Known.class, threshold.level(32, 384, new double[19]));
    }

    @Test
    void falseAlarmsStayBelowWhatTheQuantilePromises() {
        Threshold threshold = new Threshold.QuantileOfCleanWindows(0.9);
        long seed = 5;
        Random random = new Random(seed);
        int trials = 20_000;
        int alarms = 0;
        for (int trial = 0; trial < trials; trial++) {
            double level = known(threshold, random.doubles(19).toArray());
            if (random.nextDouble() > level) {
                alarms++;
            }
        }
        // Exactly 2/20 on average; four standard deviations of 20,000 trials.
        assertEquals(0.1, (double) alarms / trials, 0.0085, "seed " + seed);
    }

    @Test
    void nonsenseIsRefusedWithAnExample() {
        assertThrows(IllegalArgumentException.class, () -> new Threshold.Fixed(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> new Threshold.Fixed(-1.0));
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> new Threshold.ShareOfLargestGap(3.0));
        assertTrue(String.valueOf(refusal.getMessage()).contains("0.3 alerts at 30 %"), refusal::toString);
        assertThrows(IllegalArgumentException.class, () -> new Threshold.QuantileOfCleanWindows(1.0));
    }
}
