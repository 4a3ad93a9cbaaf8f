package io.plumbline.benchmarks;

import io.plumbline.wire.DType;
import java.util.List;

/**
 * Says what to measure.
 *
 * @param rivals whether other programs take turns with the monitor
 * @param largeRefit whether ingestion is watched beside a refit at 2,048 x 65,536 too, and swaps are timed at that
 *     size, which takes some 14 GB
 * @param quick small sizes and few shapes: shows that everything runs, and not how fast
 * @param type of the rows
 * @param widths of the rows: of the first in all shapes, of the others in one
 * @param topicRows rows of a topic of the first width; topics of other widths have as many bytes
 * @param rounds that count
 */
record BenchPlan(
        boolean rivals,
        boolean largeRefit,
        boolean quick,
        DType type,
        List<Integer> widths,
        long topicRows,
        int rounds) {}
