package io.plumbline.topology.operate;

import io.plumbline.topology.baselines.BaselineComparison;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.BaselineVersion;
import io.plumbline.topology.cli.Answer;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.Nearest;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline baselines}: by what each site was judged, since when, and what is proposed. */
@Command(
        name = "baselines",
        mixinStandardHelpOptions = true,
        description =
                "Lists the baselines that each site took into service, oldest first, and the one that is proposed: hash"
                        + " of the file, when it was made, of how many rows, who approved it, and the event time from"
                        + " which windows are judged by it. gap and shift are those to the one before.",
        footer = {
            "  plumbline baselines --config plumbline.yaml",
            "What would change, in the words of `baseline --replaces`:",
            "  plumbline baselines --config plumbline.yaml --site encoder.layer.2 --verbose"
        })
final class BaselinesCommand implements Callable<Integer> {

    private static final String ROW = "%-24s  %-12s  %3s  %-20s  %9s  %-12s  %-20s  %8s  %8s%n";

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The monitor's configuration.")
    Path config;

    @Option(names = "--site", paramLabel = "SITE", description = "Only this site.")
    @Nullable
    String site;

    @Option(names = "--json", description = "Print one JSON array, an object a site.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        MonitorConfig monitor = MonitorConfig.load(config);
        Set<String> configured = monitor.sites().keySet();
        if (site != null && !configured.contains(site)) {
            throw new UsageException("--site = %s: did you mean %s? %s configures %s"
                    .formatted(site, Nearest.to(site, configured), config, String.join(", ", configured)));
        }
        ReportHistory<BaselineVersion> versions =
                new ReportHistory<>(monitor, monitor.topics().baselines(), BaselineVersion.class);
        Map<String, BaselineHistory> sites = new TreeMap<>();
        versions.forEachKey(version -> {
            if (site == null ? configured.contains(version.site()) : site.equals(version.site())) {
                sites.put(
                        version.site(),
                        sites.getOrDefault(version.site(), BaselineHistory.of(version.site()))
                                .with(version));
            }
        });
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.text(List.copyOf(sites.values())));
        } else if (sites.isEmpty()) {
            out.println("no baselines on topic " + monitor.topics().baselines());
        } else {
            out.printf(ROW, "site", "sha256", "rev", "made", "rows", "approved by", "in service from", "gap", "shift");
            sites.values().forEach(history -> print(out, history));
        }
        out.flush();
        String problem = versions.problem();
        if (problem != null) {
            spec.commandLine().getErr().println(Failures.PREFIX + problem);
        }
        return problem == null ? ExitCodes.FINE : ExitCodes.FAILURE;
    }

    private void print(PrintWriter out, BaselineHistory history) {
        List<BaselineVersion> shown = new ArrayList<>(history.taken());
        if (history.proposed() != null) {
            shown.add(history.proposed());
        }
        for (BaselineVersion one : shown) {
            BaselineComparison comparison = one.comparison();
            BaselineComparison.Gap gap = comparison == null ? null : comparison.gap(one.rank());
            out.printf(
                    ROW,
                    Printable.of(one.site()),
                    one.sha256().substring(0, 12),
                    one.revision(),
                    instant(one.createdMs(), "-"),
                    one.rows(),
                    one.approver() == null ? "-" : Printable.of(one.approver().name()),
                    one.taken() == null ? "proposed" : instant(one.taken().fromMs(), "the first window"),
                    gap == null ? "-" : "%.4f".formatted(gap.gapToOld()),
                    comparison == null ? "-" : "%.4f".formatted(comparison.shiftRatioOfOld()));
            if (comparison != null && Options.isVerbose(spec)) {
                Answer answer = new Answer();
                comparison.words().forEach((key, value) -> answer.put(Printable.of(key), printable(value)));
                answer.print(out, false);
            }
        }
    }

    private static @Nullable Object printable(@Nullable Object value) {
        return value instanceof String text ? Printable.of(text) : value;
    }

    private static String instant(@Nullable Long ms, String otherwise) {
        return ms == null ? otherwise : Instant.ofEpochMilli(ms / 1_000 * 1_000).toString();
    }
}
