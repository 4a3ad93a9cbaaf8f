package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchPlan.Part;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs a {@link BenchPlan}. What it starts and writes is gone when it is closed, whatever happened. */
public final class Bench implements AutoCloseable {

    private final BenchPlan plan;
    private final Findings findings;
    private @Nullable PipelineBench pipeline;

    /** @param progress hears what is measured next, in a few words */
    public Bench(BenchPlan plan, Consumer<String> progress) {
        this.plan = plan;
        this.findings = new Findings(progress);
    }

    /** Runs kernels first: the pipeline leaves a JVM with many threads behind. */
    public BenchReport run() throws IOException, InterruptedException {
        findings.next("choosing a kernel");
        Machine machine = Machine.here();
        if (plan.has(Part.KERNELS)) {
            new KernelBench(plan, findings).run();
        }
        if (plan.has(Part.SCALING)) {
            new Scaling(plan, findings).kernels();
        }
        if (plan.has(Part.PIPELINE) || plan.has(Part.SCALING) || plan.has(Part.SWAP)) {
            PipelineBench started = pipeline();
            started.start();
            if (plan.has(Part.PIPELINE)) {
                started.run();
            }
            if (plan.has(Part.SCALING)) {
                new Scaling(plan, findings).pipeline(started);
            }
            if (plan.has(Part.SWAP)) {
                swaps(new SwapBench(started, findings, plan.rounds()));
            }
        }
        return new BenchReport(
                machine, findings.measurements, findings.pauses, findings.ratios, findings.curves, findings.notes);
    }

    private void swaps(SwapBench swaps) throws IOException, InterruptedException {
        swaps.run(plan.quick() ? SwapSite.Size.SMALL : SwapSite.Size.GPT2);
        if (plan.largeRefit()) {
            swaps.run(SwapSite.Size.PYTHIA);
        }
    }

    private synchronized PipelineBench pipeline() {
        PipelineBench made = new PipelineBench(plan, findings);
        pipeline = made;
        return made;
    }

    @Override
    public synchronized void close() {
        PipelineBench started = pipeline;
        if (started != null) {
            started.close();
        }
    }
}
