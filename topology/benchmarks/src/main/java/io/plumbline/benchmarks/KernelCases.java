package io.plumbline.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** Chooses which pieces of linear algebra are measured. */
final class KernelCases {

    private static final int MOST_WEIGHTS = 1 << 25;

    private KernelCases() {}

    /** Returns the cases that the program meets at the sizes of published dictionaries; at least one width. */
    static List<KernelCase> full(List<Integer> widths) {
        List<KernelCase> cases = new ArrayList<>();
        for (int d : withNeighbours(widths)) {
            for (int n : new int[] {1, 32, 128, 256, 2048}) {
                cases.add(KernelCase.update(d, n, 1));
            }
        }
        for (int d : widths) {
            cases.add(KernelCase.update(d, 2048, 2));
        }
        for (int d : widths) {
            cases.add(KernelCase.product(d, 256, features(d)));
            cases.add(KernelCase.topK(d, 256, features(d), 1));
            cases.add(KernelCase.topK(d, 256, features(d), 2));
        }
        cases.add(KernelCase.cholesky(1024));
        cases.add(KernelCase.cholesky(2048));
        for (int d : widths) {
            cases.add(KernelCase.eigenspace(d, rank(d)));
        }
        return cases;
    }

    static List<KernelCase> quick(List<Integer> widths) {
        int d = widths.get(0);
        return List.of(
                KernelCase.update(d, 128, 1),
                KernelCase.update(d, 512, 2),
                KernelCase.product(d, 128, 4 * d),
                KernelCase.topK(d, 128, 4 * d, 1),
                KernelCase.cholesky(d),
                KernelCase.eigenspace(d, rank(d)));
    }

    /** Returns the rank that the paper's two models have: 32 of 768, 64 of 2,048. */
    private static int rank(int d) {
        return d < 1024 ? Math.min(32, d) : 64;
    }

    /**
     * Returns the number of features: GPT-2's 24,576 of 768; of wider rows as many as make weights of the same size.
     */
    private static int features(int d) {
        return Math.max(d, Math.min(32 * d, MOST_WEIGHTS / d));
    }

    /** Adds a third of the smallest and twice the largest too: where a kernel's caches and edges show. */
    private static List<Integer> withNeighbours(List<Integer> widths) {
        int smallest = widths.stream().mapToInt(d -> d).min().orElseThrow();
        int largest = widths.stream().mapToInt(d -> d).max().orElseThrow();
        List<Integer> all = new ArrayList<>();
        all.add(Math.max(1, smallest / 3));
        all.addAll(widths);
        all.add(2 * largest);
        return all;
    }
}
