package io.plumbline.benchmarks;

import io.plumbline.parallel.Cores;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/** Times kernels beside other libraries' on the same numbers. */
final class KernelBench {

    private static final long SECOND = 1_000_000_000L;

    private final BenchPlan plan;
    private final Findings findings;
    private final List<KernelRivals> rivals;

    KernelBench(BenchPlan plan, Findings findings) {
        this.plan = plan;
        this.findings = findings;
        this.rivals = plan.rivals() ? List.of(JavaRivals.onOneThread(), new OpenBlasRivals()) : List.of();
    }

    void run() {
        List<KernelCase> cases = plan.kernelCases();
        rivals.forEach(one -> findings.notes.addAll(one.notes()));
        Stopwatch stopwatch =
                plan.quick() ? new Stopwatch(SECOND / 4, SECOND / 5) : new Stopwatch(3 * SECOND / 2, 3 * SECOND / 2);
        for (KernelCase work : cases) {
            findings.next(work.title());
            System.setProperty(Cores.PROPERTY, Integer.toString(work.threads()));
            findings.add(measure(work, variants(work), stopwatch));
        }
        System.clearProperty(Cores.PROPERTY);
        ratios(cases);
    }

    private List<Variant> variants(KernelCase work) {
        List<Variant> variants = new ArrayList<>(OwnKernels.variants(work));
        rivals.forEach(one -> variants.addAll(one.variants(work)));
        return variants;
    }

    /**
     * Times all variants, once they agree.
     *
     * @throws IllegalStateException when one computes something else
     */
    static List<Measurement> measure(KernelCase work, List<Variant> variants, Stopwatch stopwatch) {
        double[] expected = work.expected();
        for (Variant variant : variants) {
            requireEqual(work, variant.name(), expected, variant.answer().get());
        }
        double[][] nanos = stopwatch.time(work.code(), variants);
        List<Measurement> measurements = new ArrayList<>();
        double flops = work.flops();
        for (int v = 0; v < variants.size(); v++) {
            double[] figures = nanos[v].clone();
            for (int i = 0; i < figures.length; i++) {
                figures[i] = flops > 0.0 ? flops / figures[i] : 1e9 / figures[i];
            }
            String unit = flops > 0.0 ? "GFLOP/s" : "per second";
            measurements.add(Measurement.of(work.title(), variants.get(v).name(), unit, figures));
        }
        return measurements;
    }

    static void requireEqual(KernelCase work, String variant, double[] expected, double[] found) {
        if (found.length != expected.length) {
            throw new IllegalStateException("%s: %s answers with %d numbers instead of %d; nothing was timed"
                    .formatted(work.title(), variant, found.length, expected.length));
        }
        for (int i = 0; i < expected.length; i++) {
            // Written so that NaN fails it.
            if (!(Math.abs(found[i] - expected[i]) <= work.tolerance())) {
                throw new IllegalStateException(
                        "%s: %s gives %s instead of %s (number %d, tolerance %s); nothing was timed"
                                .formatted(work.title(), variant, found[i], expected[i], i, work.tolerance()));
            }
        }
    }

    private void ratios(List<KernelCase> cases) {
        Predicate<KernelCase> large = work -> work.kind() == KernelCase.Kind.UPDATE
                && work.threads() == 1
                && work.n() >= 128
                && plan.widths().contains(work.d());
        leastOf(cases, large, KernelRivals.DSYRK, "update of 128 and more rows, beside OpenBLAS dsyrk");
        leastOf(cases, large, KernelRivals.SSYRK, "update of 128 and more rows, beside OpenBLAS ssyrk");
        leastOf(cases, large, KernelRivals.OJALGO, "update of 128 and more rows, beside ojAlgo");
        leastOf(cases, large, KernelRivals.COMMONS_MATH, "update of 128 and more rows, beside Commons Math");
        leastOf(cases, of(KernelCase.Kind.PRODUCT), KernelRivals.SGEMM, "encoder product, beside OpenBLAS sgemm");
        leastOf(cases, of(KernelCase.Kind.TOP_K), KernelRivals.SGEMM, "encoder with TopK, beside OpenBLAS sgemm");
        leastOf(
                cases,
                work -> work.kind() == KernelCase.Kind.UPDATE && work.threads() == 2,
                OwnKernels.ONE,
                "update by two threads, beside one");
        for (KernelCase work : cases) {
            if (work.kind() == KernelCase.Kind.EIGENSPACE) {
                leastOf(List.of(work), any -> true, KernelRivals.DSYEVR, work.title() + ", beside dsyevr");
            }
        }
    }

    private static Predicate<KernelCase> of(KernelCase.Kind kind) {
        return work -> work.kind() == kind;
    }

    private void leastOf(List<KernelCase> cases, Predicate<KernelCase> which, String rival, String what) {
        List<OptionalDouble> ratios = cases.stream()
                .filter(which)
                .map(work -> findings.ahead(work.title(), rival))
                .toList();
        findings.leastOf(what, ratios);
    }
}
