package io.plumbline.topology.operate;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.metrics.MetricHistory;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.wire.AtomicFile;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline export}: window reports of the past for other tools, at their event times. */
@Command(
        name = "export",
        mixinStandardHelpOptions = true,
        description =
                "Writes the windows reported so far as OpenMetrics text, each value at the end of its window in event"
                        + " time, under the"
                        + " names /metrics has. A scrape knows only when it looked; this is what a replay of last month"
                        + " needs to be"
                        + " looked at in Grafana.",
        footer = {
            "  plumbline export --config plumbline.yaml --from 2026-01-01T00:00:00Z --openmetrics january.om",
            "  promtool tsdb create-blocks-from openmetrics january.om data/   # data/ is Prometheus' storage.tsdb.path"
        })
final class ExportCommand implements Callable<Integer> {

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
    Path config;

    @Option(names = "--openmetrics", required = true, paramLabel = "FILE", description = "The file to write.")
    Path openmetrics;

    @Option(
            names = "--site",
            paramLabel = "SITE",
            description = "Only this one, with its target layers where it has several; may be repeated. Default: all.")
    List<String> sites = List.of();

    @Mixin
    PeriodOptions period = new PeriodOptions();

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        MonitorConfig monitor = MonitorConfig.load(config);
        Options.requireParent("--openmetrics", openmetrics);
        MetricHistory history = new MetricHistory(monitor.applicationId());
        Period within = period.period();
        List<String> chosen = withTargets(monitor);
        ReportHistory<WindowReport> reports = new ReportHistory<>(
                monitor,
                monitor.topics().windowReports(),
                WindowReport.class,
                targets -> {
                    if ((chosen.isEmpty() || chosen.contains(targets.site())) && within.holds(targets.windowEndMs())) {
                        history.add(targets);
                    }
                },
                model -> {});
        long windows = ReportHistory.forEachWindow(reports, within, chosen, openmetrics, history::add);
        AtomicFile.write(openmetrics, channel -> {
            Writer writer = Channels.newWriter(channel, StandardCharsets.UTF_8);
            history.writeTo(writer);
            writer.flush();
        });
        spec.commandLine().getOut().println("wrote %s: %s".formatted(openmetrics, Amounts.count(windows, "window")));
        String problem = reports.problem();
        if (problem != null) {
            spec.commandLine().getErr().println(Failures.PREFIX + problem);
        }
        return problem == null ? ExitCodes.FINE : ExitCodes.FAILURE;
    }

    /** Returns the sites that were asked for, and the target layers of those with several. */
    private List<String> withTargets(MonitorConfig monitor) {
        List<String> chosen = new ArrayList<>(sites);
        monitor.sites().forEach((name, site) -> {
            if (!sites.contains(name) && sites.contains(site.id().group())) {
                chosen.add(name);
            }
        });
        return chosen;
    }
}
