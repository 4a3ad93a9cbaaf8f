package io.plumbline.topology.operate;

import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.Explainer;
import io.plumbline.judgement.Amounts;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.topology.broker.BrokerRefusal;
import io.plumbline.topology.broker.Standbys;
import io.plumbline.topology.broker.StartException;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.TopicReview;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.Memory;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.ConfigException;
import io.plumbline.topology.config.ModelCheck;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.topology.emission.TrustedKeys;
import io.plumbline.topology.http.WebConfig;
import io.plumbline.topology.runtime.CapacityEstimate;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline check}: everything that would stop {@code run}, found before it. */
@Command(
        name = "check",
        mixinStandardHelpOptions = true,
        description = {
            "Checks a configuration: the file, the explainers and baselines it names, and whether the broker answers.",
            "Says what memory a monitor needs and what it writes to Kafka, and refuses what cannot fit the heap.",
            "",
            "Every mistake is reported, not only the first; the last line counts them. Exits with 2 if there is any."
        },
        footer = {
            "  plumbline check --config plumbline.yaml --offline",
            "For another machine, with rows of a site in all 8 partitions and 2 instances:",
            "  plumbline check --config plumbline.yaml --offline --heap 4g --partitions 8 --instances 2 --spread"
        })
final class CheckCommand implements Callable<Integer> {

    private static final String ROW = "%-24s  %-12s  %-11s  %8s  %5s  %13s  %s%n";

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
    Path config;

    @Option(names = "--offline", description = "Do not ask the broker.")
    boolean offline;

    @Option(
            names = "--heap",
            paramLabel = "SIZE",
            description = "Heap the monitor will have, such as 4g. Default: that of this Java.")
    @Nullable
    String heap;

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "Partitions of the activations topic. Default: as the broker says, with --offline 1.")
    @Nullable
    Integer partitions;

    @Option(
            names = "--instances",
            defaultValue = "1",
            paramLabel = "N",
            description = "Monitors that share the work. Default: ${DEFAULT-VALUE}.")
    int instances;

    @Option(names = "--spread", description = "The rows of a site come through all partitions, not through one.")
    boolean spread;

    @Spec
    CommandSpec spec;

    /** The number of mistakes, which each stop {@code run}, and of warnings, which stop nothing. */
    private record Found(int mistakes, int warnings) {

        @Override
        public String toString() {
            String many = mistakes == 0 ? "ok" : Amounts.count(mistakes, "mistake");
            return warnings == 0 ? many : many + ", " + Amounts.count(warnings, "warning");
        }
    }

    @Override
    public Integer call() throws IOException {
        // What fails is printed when it is found, and what was found to be fine after all of it.
        StringWriter fine = new StringWriter();
        PrintWriter err = spec.commandLine().getErr();
        try (PrintWriter out = new PrintWriter(fine)) {
            Found found = check(out, err);
            // At the end too, where it is seen: what fails went before, to the error stream.
            out.println(found);
            return found.mistakes() == 0 ? ExitCodes.FINE : ExitCodes.USAGE;
        } catch (ConfigException refused) {
            new PrintWriter(fine).println(new Found(refused.problems().size(), 0));
            return Failures.explain(refused, err, Options.isVerbose(spec));
        } finally {
            err.flush();
            spec.commandLine().getOut().print(fine);
            spec.commandLine().getOut().flush();
        }
    }

    private Found check(PrintWriter out, PrintWriter err) throws IOException {
        MonitorConfig monitor = MonitorConfig.load(config);
        // Before the explainers are read: they may be what does not fit.
        int memory = checkMemory(monitor, out, err);
        if (memory > 0 && heap == null) {
            return new Found(memory, 0);
        }
        List<ConfigCheck.Site> sites = ConfigCheck.sites(monitor);
        out.printf(ROW, "site", "explainer", "width", "features", "rank", "baseline rows", "result");
        int problems = memory;
        int warnings = 0;
        for (ConfigCheck.Site site : sites) {
            print(out, site);
            for (String problem : site.problems()) {
                err.println("site %s: %s".formatted(site.settings().site(), problem));
            }
            problems += site.problems().size();
            for (String warning : site.warnings()) {
                err.println("WARNING: site %s: %s".formatted(site.settings().site(), warning));
                warnings++;
            }
        }
        for (ConfigCheck.Site site : sites) {
            for (String size : site.calibration()) {
                out.println("%s: %s".formatted(site.settings().site(), size));
            }
            site.shadow()
                    .ifPresent(line ->
                            out.println("%s: %s".formatted(site.settings().site(), line)));
            site.encoder()
                    .ifPresent(cost ->
                            out.println("%s: %s".formatted(site.settings().site(), cost)));
        }
        ModelCheck.promise(monitor).ifPresent(out::println);
        for (String problem : StreamsSettings.problems(monitor)) {
            err.println(problem);
            problems++;
        }
        problems += checkWeb(monitor.http().webConfig(), err);
        try {
            TrustedKeys trusted = monitor.signing().keys();
            if (trusted != null) {
                out.println("decoders are taken that are signed by the key " + trusted);
            }
            DecoderSigner signer = monitor.signing().signer();
            if (signer != null) {
                out.println("decoders are signed by the key " + signer.keyId());
            }
            Map<String, TrustedKeys> approvers = monitor.signing().approverKeys();
            if (!approvers.isEmpty()) {
                out.println("about decoders decide, each by a key: " + String.join(", ", approvers.keySet()));
            }
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            problems++;
        }
        problems += checkKernel(out, err);
        if (!offline) {
            problems += checkBroker(monitor, out, err);
        }
        return new Found(problems, warnings);
    }

    private static int checkWeb(@Nullable Path web, PrintWriter err) {
        try {
            WebConfig unused = web == null ? WebConfig.NONE : WebConfig.read(web);
            return 0;
        } catch (ConfigException refused) {
            err.println(refused.getMessage());
            return refused.problems().size();
        }
    }

    /** Says which library multiplies rows, where one is asked for. */
    private static int checkKernel(PrintWriter out, PrintWriter err) {
        try {
            UpdateKernels.library().ifPresent(out::println);
            return 0;
        } catch (IllegalStateException e) {
            err.println(e.getMessage());
            return 1;
        }
    }

    private int checkMemory(MonitorConfig monitor, PrintWriter out, PrintWriter err) {
        long bytes = heap == null ? Runtime.getRuntime().maxMemory() : Memory.size("--heap", heap);
        if (!StreamsSettings.problems(monitor).isEmpty()) {
            return 0; // reported below, and without threads and intervals there is nothing to reckon with
        }
        CapacityEstimate estimate = CapacityEstimate.of(
                monitor, Memory.deployment(partitionsOr1(monitor), instances, spread, standbys(monitor, out)), bytes);
        Memory.print(out, monitor, estimate, bytes);
        Optional<String> refusal = Memory.refusal(monitor, estimate, bytes);
        refusal.ifPresent(err::println);
        return refusal.isPresent() ? 1 : 0;
    }

    private int standbys(MonitorConfig monitor, PrintWriter out) {
        if (!Standbys.areOfTheGroup(monitor)) {
            return Standbys.configured(monitor);
        }
        OptionalInt asked = offline ? OptionalInt.empty() : Standbys.ofTheGroup(monitor);
        if (asked.isEmpty()) {
            out.println(("standby replicas: under group.protocol: streams they are a setting of the group %s, and %s; "
                            + "reckoned with none")
                    .formatted(
                            monitor.monitorApplicationId(),
                            offline ? "no broker is asked (--offline)" : "the broker does not tell it"));
        }
        return asked.orElse(0);
    }

    /** Returns the number of partitions; a broker that does not answer is reported by its own check. */
    private int partitionsOr1(MonitorConfig monitor) {
        if (partitions != null) {
            return partitions;
        }
        try {
            return offline ? monitor.activationTopics().size() : allPartitions(monitor);
        } catch (StartException noClient) {
            return 1; // reported with the broker
        }
    }

    /** Returns the partitions of all topics of activations; one that is not there counts as one. */
    private static int allPartitions(MonitorConfig monitor) {
        int all = 0;
        for (ActivationTopic topic : monitor.activationTopics()) {
            all += Brokers.partitions(monitor.adminProperties(), topic.topic()).orElse(1);
        }
        return all;
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
                site.settings().explained().rank(),
                baseline == null ? "-" : Long.toString(baseline.rowCount()),
                new Found(problems, site.warnings().size()));
    }

    private static int checkBroker(MonitorConfig monitor, PrintWriter out, PrintWriter err) {
        try {
            return checkTopics(monitor, Brokers.topics(monitor.adminProperties()), out, err)
                    + checkSettings(monitor, out, err);
        } catch (NoBrokerException unreachable) {
            String refusal = BrokerRefusal.connection(monitor, unreachable);
            err.println(refusal == null ? monitor.withoutSecrets(String.valueOf(unreachable.getMessage())) : refusal);
            return 1;
        } catch (StartException noClient) {
            err.println(monitor.withoutSecrets(String.valueOf(noClient.getMessage())));
            return 1;
        }
    }

    /** Prints every setting of the topics there are that can lose something. */
    private static int checkSettings(MonitorConfig monitor, PrintWriter out, PrintWriter err) {
        List<TopicReview.Line> lines;
        try {
            lines = TopicReview.of(monitor, null, null);
        } catch (StartException refused) {
            out.println("the settings of the topics were not checked: " + refused.getMessage());
            return 0;
        }
        List<String> problems = lines.stream()
                .filter(TopicReview.Line::exists)
                .flatMap(line -> line.problems().stream())
                .toList();
        problems.forEach(err::println);
        return problems.size();
    }

    /**
     * Checks the topics: missing ones of Plumbline's own are made at start; those of activations are the user's and
     * must be there.
     */
    static int checkTopics(MonitorConfig monitor, Set<String> existing, PrintWriter out, PrintWriter err) {
        Set<String> missing = new TreeSet<>(monitor.topics().byKey().values());
        missing.remove(monitor.topics().activations());
        missing.removeAll(existing);
        if (monitor.models().isEmpty()) {
            missing.remove(monitor.topics().modelWindows());
        }
        out.println("broker %s answers; topics `run` will make: %s"
                .formatted(monitor.bootstrapServers(), missing.isEmpty() ? "none" : String.join(", ", missing)));
        int problems = 0;
        for (ActivationTopic topic : monitor.activationTopics()) {
            if (!existing.contains(topic.topic())) {
                err.println(("topic \"%s\" does not exist at %s: `plumbline topics --config FILE --create` makes it, "
                                + "or name another under topics.activations")
                        .formatted(topic.topic(), monitor.bootstrapServers()));
                problems++;
            }
        }
        return problems;
    }
}
