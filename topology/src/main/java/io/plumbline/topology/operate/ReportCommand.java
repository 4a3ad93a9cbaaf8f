package io.plumbline.topology.operate;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.console.IncidentReport;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.wire.AtomicFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline report}: what happened at a site, as one file for an incident. */
@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        description = {
            "Writes one HTML file about one site and period: the console's page with its data inside. It needs a"
                    + " browser but no network, and can be attached to an incident or printed.",
            ""
        },
        footer = {
            "",
            "Example:",
            "  plumbline report --config plumbline.yaml --site encoder.layer.2 --from 6h --out incident.html"
        })
final class ReportCommand implements Callable<Integer> {

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The monitor's configuration.")
    Path config;

    @Option(names = "--site", required = true, paramLabel = "SITE", description = "The site.")
    String site;

    @Option(names = "--out", required = true, paramLabel = "FILE", description = "The file to write.")
    Path out;

    @Mixin
    PeriodOptions period = new PeriodOptions();

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        MonitorConfig monitor = MonitorConfig.load(config);
        Options.requireParent("--out", out);
        Period within = period.period();
        List<WindowReport> windows = new ArrayList<>();
        ReportHistory<WindowReport> reports =
                new ReportHistory<>(monitor, monitor.topics().windowReports(), WindowReport.class);
        ReportHistory.forEachWindow(reports, within, List.of(site), out, windows::add);
        List<AdaptationReport> adaptations = new ArrayList<>();
        ReportHistory<AdaptationReport> answers =
                new ReportHistory<>(monitor, monitor.topics().adaptationReports(), AdaptationReport.class);
        boolean adapterReported = answers.isThere();
        if (adapterReported) {
            answers.forEach(report -> {
                if (isAbout(report.site()) && within.holds(report.windowEndMs())) {
                    adaptations.add(report);
                }
            });
        }
        byte[] html = IncidentReport.html(monitor, site, windows, adaptations).getBytes(StandardCharsets.UTF_8);
        AtomicFile.write(out, channel -> {
            ByteBuffer bytes = ByteBuffer.wrap(html);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        });
        boolean wholeWindows = complain(reports.problem());
        boolean wholeAnswers = complain(answers.problem());
        spec.commandLine()
                .getOut()
                .println("wrote %s: %s, %s"
                        .formatted(
                                out,
                                Amounts.count(windows.size(), "window"),
                                adapterReported
                                        ? Amounts.count(adaptations.size(), "report") + " of the adapter"
                                        : "no adapter has run: topic %s does not exist"
                                                .formatted(monitor.topics().adaptationReports())));
        return wholeWindows && wholeAnswers ? ExitCodes.FINE : ExitCodes.FAILURE;
    }

    /** Returns whether a report is about the site, or about all target layers that are swapped together with it. */
    private boolean isAbout(String reported) {
        return reported.equals(site) || reported.equals(SiteId.parse(site).group());
    }

    private boolean complain(@Nullable String problem) {
        if (problem != null) {
            spec.commandLine().getErr().println(Failures.PREFIX + problem);
        }
        return problem == null;
    }
}
