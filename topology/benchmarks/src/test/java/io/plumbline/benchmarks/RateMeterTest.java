package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class RateMeterTest {

    private static final long SECOND = 1_000_000_000L;

    @Test
    void slowBeginningDoesNotCount() {
        RateMeter meter = new RateMeter();
        meter.at(0, 0);
        for (int second = 1; second <= 3; second++) {
            meter.at(second * SECOND, second);
        }
        for (int second = 4; second <= 10; second++) {
            meter.at(second * SECOND, 3 + (second - 3) * 100.0);
        }
        assertEquals(100.0, meter.hotRate(), 1e-9);
    }

    @Test
    void timeBeforeTheFirstRowDoesNotCount() {
        RateMeter meter = new RateMeter();
        for (int second = 0; second <= 50; second++) {
            meter.at(second * SECOND, 0);
        }
        meter.at(51 * SECOND, 70);
        assertEquals(1.0, meter.seconds(), 1e-9);
        assertEquals(70.0, meter.hotRate(), 1e-9);
    }

    @Test
    void timeThatAnotherProcessHadOfTheCoresCanBeTakenOut() {
        RateMeter meter = new RateMeter();
        meter.at(0, 0, 5 * SECOND);
        meter.at(3 * SECOND, 1, 7 * SECOND);
        // Of the 14 seconds that two cores have from the third on, the other process takes 4.
        meter.at(10 * SECOND, 701, 11 * SECOND);
        assertEquals(100.0, meter.hotRate(), 1e-9);
        assertEquals(140.0, meter.hotRateWithoutOthers(2), 1e-9);
    }

    @Test
    void oneLookTellsNoRate() {
        RateMeter meter = new RateMeter();
        meter.at(SECOND, 5);
        assertThrows(IllegalStateException.class, meter::hotRate);
    }
}
