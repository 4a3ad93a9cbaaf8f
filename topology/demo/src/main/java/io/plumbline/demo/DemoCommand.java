package io.plumbline.demo;

import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline demo}: the whole job on this machine. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description = {
            "Shows the whole job on recorded hidden states of a real transformer, through a real Kafka broker started for it:"
                    + " English traffic, then German, then English again.",
            "",
            "The gap rises, the site is declared drifted, a decoder is fitted, checked and published, a subscriber swaps it in,"
                    + " and when English returns the trained decoder is restored. Ports are on loopback; nothing is left behind."
                    + " Exit code 3 when something of that did not happen.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  plumbline demo",
            "  plumbline demo --keep-running    then: open the address it prints",
            "  plumbline demo --toy"
        })
final class DemoCommand implements Callable<Integer> {

    @Option(names = "--keep-running", description = "Leave the console and /metrics up until Ctrl-C.")
    boolean keepRunning;

    @Option(
            names = "--toy",
            description = "Instead, run the paper's controlled severity sweep and print it beside a float64 reference.")
    boolean toy;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "180",
            description = "Give up after so many seconds (default: ${DEFAULT-VALUE}).")
    long timeoutSeconds;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        if (toy) {
            return ToySweep.print(out) ? ExitCodes.FINE : ExitCodes.FAILURE;
        }
        if (timeoutSeconds < 1) {
            throw new UsageException("--timeout = %d: expected 1 or more seconds".formatted(timeoutSeconds));
        }
        try (Demo demo = new Demo(out, timeoutSeconds, Desktops::open)) {
            // Ctrl-C: what was started must not outlive the process.
            Runtime.getRuntime().addShutdownHook(new Thread(demo::stop, "stop-demo"));
            try {
                return play(demo, out);
            } catch (Throwable e) {
                if (demo.isStopping()) {
                    // What it was in the middle of fails in many ways, and none is news.
                    return ExitCodes.FAILURE;
                }
                throw e;
            }
        }
    }

    private int play(Demo demo, PrintWriter out) throws IOException, InterruptedException {
        Demo.Result result = demo.run();
        result.missing().forEach(line -> out.println("NOT SHOWN: " + line));
        out.flush();
        if (keepRunning) {
            out.printf(
                    "%nStill running: http://%s:%d/ and /metrics there, broker at %s   (Ctrl-C stops and cleans up)%n",
                    result.httpAddress().getHostString(), result.httpAddress().getPort(), result.bootstrapServers());
            out.flush();
            new CountDownLatch(1).await();
        }
        return result.missing().isEmpty() ? ExitCodes.FINE : ExitCodes.FAILURE;
    }
}
