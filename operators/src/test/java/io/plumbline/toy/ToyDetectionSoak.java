package io.plumbline.toy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** The toy's table of docs/concepts/detection.md. */
class ToyDetectionSoak {

    @Test
    void noValidBoundIsBrokenWhateverTheShift() {
        ToyDetection toy = new ToyDetection(99, 60, System.out::println);
        for (int severity : new int[] {ToyDetection.WORST, 5, 3, 2, 1}) {
            toy.table().shift("all requests at severity %.1f".formatted(severity / 10.0), toy.wholly(severity));
        }
        for (int percent : new int[] {50, 25, 10, 5}) {
            toy.table().shift(percent + " % of requests at severity 1", toy.partly(percent / 100.0));
        }
        toy.table().ramp("severity 0 to 1 in 11 windows", toy.ramps(5));
        System.out.println(toy.bench().bounds());
        assertEquals(
                0, toy.bench().bounds().violations(), () -> toy.bench().bounds().toString());
    }
}
