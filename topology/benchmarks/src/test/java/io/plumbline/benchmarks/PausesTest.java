package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

class PausesTest {

    private static final String PAGE = """
            # TYPE plumbline_ingestion_stall_seconds histogram
            plumbline_ingestion_stall_seconds_bucket{site="a",le="0.005"} 40
            plumbline_ingestion_stall_seconds_bucket{site="a",le="0.001"} 10
            plumbline_ingestion_stall_seconds_bucket{site="a",le="0.25"} 98
            plumbline_ingestion_stall_seconds_bucket{site="a",le="0.5"} 100
            plumbline_ingestion_stall_seconds_bucket{site="a",le="+Inf"} 100
            plumbline_ingestion_stall_seconds_count{site="a"} 100
            plumbline_ingestion_stall_seconds_sum{site="a"} 7.5
            plumbline_ingestion_stall_seconds_max{site="a"} 0.31
            plumbline_rows_total{site="a"} 5
            """;

    /** The true percentile is at most the upper end of its bucket, and at most the longest. */
    @Test
    void percentilesOfAHistogramAreUpperBounds() {
        Pauses stalls = StallHistogram.read("stalls", PAGE);
        assertEquals("stalls", stalls.what());
        assertEquals(100, stalls.number());
        assertEquals(250.0, stalls.median(), 1e-9);
        assertEquals(310.0, stalls.ninetyNinth(), 1e-9);
        assertEquals(310.0, stalls.longest(), 1e-9);
        assertEquals(7_500.0, stalls.total(), 1e-9);
    }

    @Test
    void aPageWithoutTheHistogramIsRefused() {
        assertThrows(IllegalStateException.class, () -> StallHistogram.read("stalls", "plumbline_rows_total 5"));
    }

    @Test
    void percentilesOfKnownPausesAreSomeOfThem() {
        double[] milliseconds = new double[200];
        for (int i = 0; i < milliseconds.length; i++) {
            milliseconds[i] = milliseconds.length - i;
        }
        assertEquals(new Pauses("", 200, 100, 198, 200, 20_100), Pauses.of("", milliseconds));
        assertEquals(Pauses.none(""), Pauses.of("", new double[0]));
        assertEquals(new Pauses("", 1, 3, 3, 3, 3), Pauses.of("", new double[] {3}));
    }

    @Test
    void collectionsAreHeardOf() {
        try (CollectorWatch watch = new CollectorWatch()) {
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (watch.pauses("").number() == 0 && System.nanoTime() - deadline < 0) {
                WeakReference<byte[]> garbage = new WeakReference<>(new byte[1 << 20]);
                System.gc();
                Thread.onSpinWait();
                garbage.clear();
            }
            Pauses pauses = watch.pauses("collector");
            assertTrue(pauses.number() > 0 && pauses.total() >= pauses.longest(), pauses.toString());
        }
    }

    @Test
    void whatACollectorDoesBesideTheProgramIsNoPause() {
        assertTrue(CollectorWatch.stopsTheWorld("G1 Young Generation"));
        assertTrue(CollectorWatch.stopsTheWorld("ZGC Pauses"));
        assertTrue(!CollectorWatch.stopsTheWorld("ZGC Cycles"));
        assertTrue(!CollectorWatch.stopsTheWorld("G1 Concurrent GC"));
    }
}
