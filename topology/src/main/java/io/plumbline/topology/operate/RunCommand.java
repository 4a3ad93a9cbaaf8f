package io.plumbline.topology.operate;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.Standbys;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.Memory;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.http.WebConfig;
import io.plumbline.topology.reload.FirstRead;
import io.plumbline.topology.runtime.CapacityEstimate;
import io.plumbline.topology.runtime.LogOutput;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline run}: the monitor, the adapter, or both, until interrupted. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        description = {
            "Watches the sites of a configuration and repairs their decoders, until it is interrupted.",
            "",
            "Configuration, files and broker are checked before anything starts."
        },
        footerHeading = "Example, both applications in one process:%n",
        footer = {
            "  plumbline run --config plumbline.yaml",
            "The heavy part on a machine of its own:",
            "  plumbline run --config plumbline.yaml --role adapter"
        })
final class RunCommand implements Callable<Integer> {

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
    Path config;

    @Option(names = "--role", defaultValue = "all", description = "all, monitor or adapter. Default: ${DEFAULT-VALUE}.")
    Role role;

    @Option(
            names = "--instances",
            defaultValue = "1",
            paramLabel = "N",
            description = "Monitors that share the work, for the check of memory. Default: ${DEFAULT-VALUE}.")
    int instances;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        LogOutput log = new LogOutput();
        FirstRead first = FirstRead.of(config, log::begin);
        MonitorConfig monitor = first.config();
        requireMemory(monitor);
        FutureTask<Map<String, WatchedSite>> sites = sites(monitor);
        // Beside what waits for the brokers.
        Thread computing = new Thread(sites, "sites");
        computing.setDaemon(true);
        computing.start();
        PlumblineRuntime runtime = PlumblineRuntime.start(monitor, sites, role);
        Thread stop = new Thread(runtime::close, "stop");
        Runtime.getRuntime().addShutdownHook(stop);
        spec.commandLine()
                .getOut()
                .println("watching %s; %s at %s://%s:%d%s%s"
                        .formatted(
                                Amounts.count(monitor.sites().size(), "site"),
                                monitor.http().console() ? "console and /metrics" : "metrics",
                                isTls(monitor) ? "https" : "http",
                                runtime.httpAddress().getHostString(),
                                runtime.httpAddress().getPort(),
                                monitor.http().basePath(),
                                monitor.http().console() ? "/" : "/metrics"));
        spec.commandLine().getOut().flush();
        runtime.follow(first, log::change);
        String failure = runtime.awaitFailure(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        if (runtime.isBrokenByError()) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("%s%s; this process ends at once, what was not committed is read again by the next"
                    .formatted(Failures.PREFIX, failure));
            err.flush();
            Runtime.getRuntime().halt(ExitCodes.FAILURE);
        }
        // The hook closes the runtime on the way out.
        throw new IllegalStateException(String.valueOf(failure));
    }

    /** Refuses at once what would end in an out-of-memory error hours later. */
    private void requireMemory(MonitorConfig monitor) {
        if (!role.monitors() || !StreamsSettings.problems(monitor).isEmpty()) {
            return;
        }
        long heap = Runtime.getRuntime().maxMemory();
        // What must fit does not depend on the partitions: the rows of a site may all come through one.
        CapacityEstimate estimate =
                CapacityEstimate.of(monitor, Memory.deployment(1, instances, false, standbys(monitor)), heap);
        Memory.refusal(monitor, estimate, heap).ifPresent(refusal -> {
            throw new UsageException(config + " cannot run: " + refusal);
        });
    }

    /**
     * Returns the number of standbys; a broker that does not tell is reckoned with none; one that is not there is
     * reported when the process starts.
     */
    private static int standbys(MonitorConfig monitor) {
        return Standbys.areOfTheGroup(monitor) ? Standbys.ofTheGroup(monitor).orElse(0) : Standbys.configured(monitor);
    }

    private static boolean isTls(MonitorConfig monitor) {
        Path file = monitor.http().webConfig();
        return file != null && WebConfig.read(file).tls() != null;
    }

    private void sayWhereNoPromiseHolds(List<ConfigCheck.Site> checked) {
        List<String> without = checked.stream()
                .filter(ConfigCheck.Site::lacksPromise)
                .map(site -> site.settings().site())
                .toList();
        if (!without.isEmpty()) {
            PrintWriter out = spec.commandLine().getOut();
            out.println(("the promise about false alarms that is asked for does not hold yet at %s of %d (%s): "
                            + "the baseline has too few clean windows; `plumbline check` says how many more")
                    .formatted(Amounts.count(without.size(), "site"), checked.size(), String.join(", ", without)));
            out.flush();
        }
    }

    /** Reads every file once and refuses with all that is wrong; what is returned computes the rest. */
    private FutureTask<Map<String, WatchedSite>> sites(MonitorConfig monitor) {
        List<String> problems = new ArrayList<>(StreamsSettings.problems(monitor));
        List<ConfigCheck.Site> checked = ConfigCheck.sites(monitor);
        for (ConfigCheck.Site site : checked) {
            site.problems()
                    .forEach(problem ->
                            problems.add("site %s: %s".formatted(site.settings().site(), problem)));
        }
        if (!problems.isEmpty()) {
            throw new UsageException(
                    "%s cannot run:%n  %s".formatted(config, String.join(System.lineSeparator() + "  ", problems)));
        }
        if (role.monitors()) {
            sayWhereNoPromiseHolds(checked);
        }
        return new FutureTask<>(() -> {
            Map<String, WatchedSite> sites = new LinkedHashMap<>();
            checked.forEach(site -> sites.put(site.settings().site(), site.watched()));
            return sites;
        });
    }
}
