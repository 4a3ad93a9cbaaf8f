package io.plumbline.demo;

import io.plumbline.topology.cli.AddedCommand;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.UsageException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline demo}: the whole job on this machine. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description = {
            "Shows the whole job on recorded hidden states of a real transformer, through a real Kafka broker"
                    + " started for it:"
                    + " English traffic, then German, then English again.",
            "",
            "The gap rises, the site is declared drifted, a decoder is fitted, checked and published, a subscriber"
                    + " swaps it in,"
                    + " and when English returns the trained decoder is restored. Ports are on loopback; nothing is"
                    + " left behind."
                    + " Exit code 3 when something of that did not happen."
        },
        footerHeading = "Examples:%n",
        footer = {
            "  plumbline demo",
            "  plumbline demo --keep-running    then: open the address it prints",
            "  plumbline demo --live",
            "  plumbline demo --live --text my-notes.txt",
            "  plumbline demo --toy"
        })
public final class DemoCommand implements AddedCommand {

    @Option(names = "--keep-running", description = "Leave the console and /metrics up until Ctrl-C.")
    boolean keepRunning;

    @Option(
            names = "--toy",
            description = "Instead, run the paper's controlled severity sweep and print it beside a float64 reference.")
    boolean toy;

    @Option(
            names = "--live",
            description = "Instead, run a small language model (ONNX Runtime), and show the next tokens it predicts"
                    + " after the swap: as it is, through the trained explainer and through the adapted one.")
    boolean live;

    @Option(
            names = "--text",
            arity = "1..*",
            paramLabel = "FILE",
            description = "With --live: texts of your own (UTF-8, 15 KB or more each) in the place of Spanish.")
    List<Path> texts = List.of();

    @Option(
            names = "--sentence",
            paramLabel = "TEXT",
            description = "With --live: the words whose next tokens are shown. Default: some of the last text.")
    @Nullable
    String sentence;

    @Option(
            names = "--model",
            paramLabel = "DIR",
            description = "With --live: a folder with a model of your own (model/body.onnx, model/head.onnx,"
                    + " model/tokenizer.json,"
                    + " explainer/, texts/normal.txt, texts/english.txt). A model is a program: load only"
                    + " files you would run.")
    @Nullable
    Path model;

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
        if (!live && (!texts.isEmpty() || sentence != null || model != null)) {
            throw new UsageException("--text, --sentence and --model go with --live");
        }
        for (Path text : texts) {
            if (!Files.isRegularFile(text)) {
                throw new UsageException("--text = %s: no such file".formatted(text));
            }
        }
        try (KafkaLog kafka = KafkaLog.keptBack();
                Stage demo = live
                        ? new LiveDemo(out, timeoutSeconds, new LiveDemo.Asked(model, texts, sentence))
                        : new Demo(out, timeoutSeconds, Desktops::open)) {
            // Ctrl-C: what was started must not outlive the process.
            Runtime.getRuntime().addShutdownHook(new Thread(demo::stop, "stop-demo"));
            try {
                int code = play(demo, out);
                if (code != ExitCodes.FINE) {
                    kafka.print(out);
                }
                return code;
            } catch (Throwable e) {
                if (demo.isStopping()) {
                    // What it was in the middle of fails in many ways, and none is news.
                    return ExitCodes.FAILURE;
                }
                kafka.print(out);
                throw e;
            }
        }
    }

    private int play(Stage demo, PrintWriter out) throws Exception {
        Stage.Result result = demo.run();
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
