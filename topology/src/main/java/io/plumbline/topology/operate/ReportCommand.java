package io.plumbline.topology.operate;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.console.IncidentReport;
import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.topology.evidence.EvidenceSources;
import io.plumbline.topology.evidence.EvidenceWriter;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.models.ModelSettings;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.wire.AtomicFile;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline report}: what happened at a site or to a model, as one file for an incident. */
@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        description = {
            "Writes one HTML file about one site, or one model, and period: the console's page with its data inside."
                    + " It needs a browser but no network, and can be attached to an incident or printed. That of a"
                    + " model has its map, and the pages of the eight sites that were above their thresholds most"
                    + " often.",
            "",
            "--evidence writes a file of lines for an audit: the configuration with its secrets hidden, hashes of"
                    + " explainers and baselines, windows with verdict and statistics, commands, what the adapter"
                    + " answered, decoders. Each line names the hash of the line before, and a key signs the last."
                    + " plumbline verify-evidence checks it."
        },
        footer = {
            "  plumbline report --config plumbline.yaml --site encoder.layer.2 --from 6h --out incident.html",
            "  plumbline report --config plumbline.yaml --model llama --from 6h --out incident.html",
            "  plumbline report --config plumbline.yaml --evidence --from 30d --out evidence.jsonl"
        })
final class ReportCommand implements Callable<Integer> {

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
    Path config;

    @ArgGroup(multiplicity = "1")
    Subject subject = new Subject();

    /** The subject of the file. */
    static final class Subject {

        @Option(names = "--site", required = true, paramLabel = "SITE", description = "The site.")
        @Nullable
        String site;

        @Option(names = "--model", required = true, paramLabel = "MODEL", description = "The model.")
        @Nullable
        String model;

        @Option(names = "--evidence", required = true, description = "All sites and models, as chained lines.")
        boolean evidence;
    }

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "With --evidence: the private key that signs, Ed25519 in PEM. Default: signing.key of the"
                    + " configuration; without one the file is not signed.")
    @Nullable
    Path key;

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
        if (subject.evidence) {
            return evidence(monitor);
        }
        if (key != null) {
            throw new UsageException("--key goes with --evidence");
        }
        ModelSettings model = model(monitor);
        List<String> sites = model == null ? List.of(Objects.requireNonNull(subject.site)) : model.sites();
        Period within = period.period();
        List<WindowReport> windows = new ArrayList<>();
        List<ModelReport> ofModel = new ArrayList<>();
        ReportHistory<WindowReport> reports = new ReportHistory<>(
                monitor, monitor.topics().windowReports(), WindowReport.class, targets -> {}, report -> {
                    if (report.model().equals(subject.model) && within.holds(report.windowEndMs())) {
                        ofModel.add(report);
                    }
                });
        ReportHistory.forEachWindow(reports, within, sites, out, windows::add);
        List<AdaptationReport> adaptations = new ArrayList<>();
        ReportHistory<AdaptationReport> answers =
                new ReportHistory<>(monitor, monitor.topics().adaptationReports(), AdaptationReport.class);
        boolean adapterReported = answers.isThere();
        if (adapterReported) {
            answers.forEach(report -> {
                if (isAbout(sites, report.site()) && within.holds(report.windowEndMs())) {
                    adaptations.add(report);
                }
            });
        }
        String page = model == null
                ? IncidentReport.html(monitor, sites.get(0), windows, adaptations)
                : IncidentReport.html(monitor, model, ofModel, windows, adaptations);
        AtomicFile.write(out, page.getBytes(StandardCharsets.UTF_8));
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

    private int evidence(MonitorConfig monitor) throws IOException {
        DecoderSigner signer = signer(monitor);
        if (!Brokers.topics(monitor.adminProperties()).contains(monitor.topics().windowReports())) {
            throw new UsageException("topic %s does not exist at %s: nothing was ever reported there"
                    .formatted(monitor.topics().windowReports(), monitor.bootstrapServers()));
        }
        Period within = period.period();
        Map<String, Integer> lines = new TreeMap<>();
        AtomicFile.write(out, channel -> {
            OutputStream stream = new BufferedOutputStream(Channels.newOutputStream(channel));
            EvidenceWriter writer = new EvidenceWriter(stream);
            EvidenceSources sources = new EvidenceSources(monitor, within::holds, writer);
            sources.addConfiguration(config);
            sources.addTopics();
            Map<String, Object> scope = new LinkedHashMap<>();
            scope.put("from", time(within.begin(), Instant.MIN));
            scope.put("to", time(within.end(), Instant.MAX));
            scope.put("read", sources.read());
            lines.putAll(writer.finish(scope, signer));
            stream.flush();
        });
        spec.commandLine()
                .getOut()
                .println("wrote %s: %s; %s"
                        .formatted(
                                out,
                                lines.entrySet().stream()
                                        .map(kind -> kind.getKey() + " " + kind.getValue())
                                        .collect(Collectors.joining(", ")),
                                signer == null
                                        ? "not signed, for there is no key: name one by --key or signing.key"
                                        : "signed by " + signer.keyId()));
        return ExitCodes.FINE;
    }

    /** Returns an end of the period; null where it has none. */
    private static @Nullable String time(Instant end, Instant open) {
        return end.equals(open) ? null : end.toString();
    }

    private @Nullable DecoderSigner signer(MonitorConfig monitor) {
        try {
            return key == null ? monitor.signing().signer() : DecoderSigner.read(key);
        } catch (IllegalArgumentException e) {
            throw new UsageException(key == null ? String.valueOf(e.getMessage()) : "--key = " + e.getMessage());
        }
    }

    private @Nullable ModelSettings model(MonitorConfig monitor) {
        if (subject.model == null) {
            return null;
        }
        ModelSettings model = monitor.models().get(subject.model);
        if (model == null) {
            throw new UsageException("--model = %s: expected a model of %s, which has %s"
                    .formatted(
                            subject.model,
                            config,
                            monitor.models().isEmpty()
                                    ? "none"
                                    : String.join(", ", monitor.models().keySet())));
        }
        return model;
    }

    /** Returns whether a report is about one of these, or about all target layers that are swapped together with it. */
    private static boolean isAbout(List<String> sites, String reported) {
        return sites.stream()
                .anyMatch(site -> reported.equals(site)
                        || reported.equals(SiteId.parse(site).group()));
    }

    private boolean complain(@Nullable String problem) {
        if (problem != null) {
            spec.commandLine().getErr().println(Failures.PREFIX + problem);
        }
        return problem == null;
    }
}
