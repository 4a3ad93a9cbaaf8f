package io.plumbline.topology.wire;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.faults.FaultCase;
import io.plumbline.topology.faults.FaultMatrix;
import io.plumbline.topology.faults.MonitorSetup;
import io.plumbline.topology.faults.Traffic;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs a monitor behind a proxy, under one fault after the other. */
final class WireCases {

    private static final long PATIENCE_SECONDS = 90;

    private final WireProxy.Pair pair;
    private final Path folder;
    private final FaultMatrix matrix;
    private final AtomicInteger number = new AtomicInteger();

    WireCases(WireProxy.Pair pair, Path folder, FaultMatrix matrix) {
        this.pair = pair;
        this.folder = folder;
        this.matrix = matrix;
    }

    /**
     * Returns a client that gives up soon: {@code max.block.ms} and {@code delivery.timeout.ms} are 120 s by default.
     */
    static MonitorSetup impatient(MonitorSetup setup) {
        return setup.with("producer.max.block.ms", "3000")
                .with("producer.delivery.timeout.ms", "3000")
                .with("producer.request.timeout.ms", "2000")
                .with("producer.linger.ms", "0");
    }

    /** Arms each fault in turn, with a window sent while it is armed; then every window is compared with the truth. */
    void run(String name, MonitorSetup setup, List<WireFault> faults) throws Exception {
        try (FaultCase run = FaultCase.open(
                name,
                Traffic.Shape.small(),
                setup,
                pair.broker().bootstrapServers(),
                pair.proxy().bootstrapServers(),
                folder.resolve("wire-" + number.incrementAndGet()),
                1)) {
            ChildJvm monitor = run.start(0);
            int sites = run.traffic().shape().sites();
            run.traffic().send(2);
            run.awaitWindows(sites);
            for (WireFault fault : faults) {
                System.out.printf("%tT.%1$tL %s, %s%n", System.currentTimeMillis(), name, fault);
                pair.proxy().arm(fault);
                run.traffic().send(1);
                assertTrue(fault.awaitDone(PATIENCE_SECONDS), () -> "%s did not come to pass: %s"
                        .formatted(fault, pair.proxy().requests()));
                run.awaitWindows(sites * (run.traffic().windowsSent() - 1));
                assertTrue(monitor.isAlive(), () -> "the monitor ended after " + fault);
            }
            run.traffic().send(1);
            matrix.add(run.finish());
        }
    }
}
