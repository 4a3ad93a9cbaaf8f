package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.benchmarks.MonitorRun.Stalls;
import org.junit.jupiter.api.Test;

class StallsTest {

    private static final String PAGE = """
            # TYPE plumbline_ingestion_stall_seconds histogram
            plumbline_ingestion_stall_seconds_bucket{site="a",le="0.005"} 40
            plumbline_ingestion_stall_seconds_bucket{site="a",le="0.001"} 10
            plumbline_ingestion_stall_seconds_bucket{site="a",le="0.25"} 99
            plumbline_ingestion_stall_seconds_bucket{site="a",le="0.5"} 100
            plumbline_ingestion_stall_seconds_bucket{site="a",le="+Inf"} 100
            plumbline_ingestion_stall_seconds_count{site="a"} 100
            plumbline_ingestion_stall_seconds_sum{site="a"} 7.5
            plumbline_ingestion_stall_seconds_max{site="a"} 0.31
            plumbline_rows_total{site="a"} 5
            """;

    /** The true percentile is at most the upper end of its bucket, and at most the longest. */
    @Test
    void percentileOfAHistogramIsAnUpperBound() {
        assertEquals(new Stalls(100, 250.0, 310.0), Stalls.read(PAGE));
        assertEquals(new Stalls(100, 310.0, 310.0), Stalls.read(PAGE.replace("\"0.25\"} 99", "\"0.25\"} 98")));
    }

    @Test
    void aPageWithoutTheHistogramIsRefused() {
        assertThrows(IllegalStateException.class, () -> Stalls.read("plumbline_rows_total 5"));
    }
}
