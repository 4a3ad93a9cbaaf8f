package io.plumbline.topology.bench;

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

    /** Kernels first: the pipeline leaves a JVM with many threads behind. */
    public BenchReport run() throws IOException, InterruptedException {
        findings.next("choosing a kernel");
        Machine machine = Machine.here();
        if (plan.kernels()) {
            new KernelBench(plan, findings).run();
        }
        if (plan.scaling()) {
            new Scaling(plan, findings).kernels();
        }
        if (plan.pipeline() || plan.scaling()) {
            PipelineBench started = pipeline();
            started.start();
            if (plan.pipeline()) {
                started.run();
            }
            if (plan.scaling()) {
                new Scaling(plan, findings).pipeline(started);
            }
        }
        return new BenchReport(
                machine, findings.measurements, findings.pauses, findings.claims, findings.curves, findings.notes);
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
