package io.plumbline.topology.cli;

import io.plumbline.calibration.Baseline;
import io.plumbline.explainer.Explainer;
import io.plumbline.topology.BrokerRefusal;
import io.plumbline.topology.ConfigCheck;
import io.plumbline.topology.MonitorConfig;
import io.plumbline.topology.StreamsSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline check}: everything that would stop {@code run}, found before it. */
@Command(
        name = "check",
        mixinStandardHelpOptions = true,
        description = {
            "Checks a configuration: the file, the explainers and baselines it names, and whether the broker answers.",
            "",
            "Every mistake is reported, not only the first. Exits with 2 if there is any.",
            ""
        },
        footer = {"", "Example:", "  plumbline check --config plumbline.yaml --offline"})
final class CheckCommand implements Callable<Integer> {

    private static final String ROW = "%-24s  %-12s  %-11s  %8s  %5s  %13s  %s%n";

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
    Path config;

    @Option(names = "--offline", description = "Do not ask the broker.")
    boolean offline;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        MonitorConfig monitor = MonitorConfig.load(config);
        List<ConfigCheck.Site> sites = ConfigCheck.sites(monitor);
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        out.printf(ROW, "site", "explainer", "width", "features", "rank", "baseline rows", "result");
        int problems = 0;
        for (ConfigCheck.Site site : sites) {
            print(out, site);
            for (String problem : site.problems()) {
                err.println("site %s: %s".formatted(site.settings().site(), problem));
            }
            problems += site.problems().size();
        }
        for (ConfigCheck.Site site : sites) {
            for (String size : site.calibration()) {
                out.println("%s: %s".formatted(site.settings().site(), size));
            }
        }
        for (String problem : StreamsSettings.problems(monitor)) {
            err.println(problem);
            problems++;
        }
        if (!offline) {
            problems += checkBroker(monitor, out, err);
        }
        out.flush();
        err.flush();
        return problems == 0 ? ExitCodes.FINE : ExitCodes.USAGE;
    }

    private static void print(PrintWriter out, ConfigCheck.Site site) {
        Explainer explainer = site.explainer();
        Baseline baseline = site.baseline();
        int problems = site.problems().size();
        out.printf(
                ROW,
                site.settings().site(),
                explainer == null ? "-" : explainer.architecture(),
                explainer == null ? "-" : explainer.inputWidth() + ">" + explainer.targetWidth(),
                explainer == null ? "-" : Integer.toString(explainer.features()),
                site.settings().rank(),
                baseline == null ? "-" : Long.toString(baseline.rows()),
                problems == 0 ? "fine" : problems == 1 ? "1 problem" : problems + " problems");
    }

    private static int checkBroker(MonitorConfig monitor, PrintWriter out, PrintWriter err) {
        try {
            return checkTopics(monitor, Brokers.topics(monitor.adminProperties()), out, err);
        } catch (UsageException unreachable) {
            String refusal = BrokerRefusal.connection(monitor, unreachable);
            err.println(refusal == null ? unreachable.getMessage() : refusal);
            return 1;
        }
    }

    /** Missing topics of Plumbline's own are made at start; the activations topic is the user's and must be there. */
    static int checkTopics(MonitorConfig monitor, Set<String> existing, PrintWriter out, PrintWriter err) {
        Set<String> missing = new TreeSet<>(monitor.topics().byKey().values());
        missing.removeAll(existing);
        boolean hasActivations = !missing.remove(monitor.topics().activations());
        out.println("broker %s answers; topics `run` will make: %s"
                .formatted(monitor.bootstrapServers(), missing.isEmpty() ? "none" : String.join(", ", missing)));
        if (hasActivations) {
            return 0;
        }
        err.println("topic \"%s\" does not exist at %s: create it, or name another under topics.activations"
                .formatted(monitor.topics().activations(), monitor.bootstrapServers()));
        return 1;
    }
}
