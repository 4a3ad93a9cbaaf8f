package io.plumbline.benchmarks;

import java.util.List;
import java.util.Set;

/**
 * Says what to measure.
 *
 * @param parts what is measured
 * @param rivals whether other ways of doing the same take turns with ours
 * @param largeRefit whether ingestion is watched beside a refit at 2,048 x 65,536 too, and swaps are timed at that
 *     size, which takes some 14 GB
 * @param quick small sizes and few rounds: shows that everything runs, and not how fast
 * @param widths of the rows: of the pipeline the first as often as it has shapes, the others in one
 * @param topicRows rows of a topic of the first width; topics of other widths have as many bytes
 * @param rounds of the pipeline
 */
public record BenchPlan(
        Set<Part> parts,
        boolean rivals,
        boolean largeRefit,
        boolean quick,
        List<Integer> widths,
        long topicRows,
        int rounds) {

    /** The parts of a run, of which one or several are measured. */
    public enum Part {
        /** Linear algebra. */
        KERNELS,
        /** Measures rows a second from a topic to the moments. */
        PIPELINE,
        /** Measures how costs grow with each size. */
        SCALING,
        /** Measures the way from the verdict that a site has drifted to the new decoder in a subscriber. */
        SWAP
    }

    public BenchPlan {
        parts = Set.copyOf(parts);
        widths = List.copyOf(widths);
    }

    boolean has(Part part) {
        return parts.contains(part);
    }

    /** Returns how many rows of so many floats fill a topic with so many rows of the first width. */
    long rowsOfWidth(int width) {
        return Math.max(1, topicRows * widths.get(0) / width);
    }

    List<KernelCase> kernelCases() {
        return quick ? KernelCases.quick(widths) : KernelCases.full(widths);
    }
}
