package io.plumbline.topology.metrics;

import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.Repository;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.Described;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.StateSize;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.progress.Standstills;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.SiteStanding;
import io.plumbline.topology.report.WindowMetric;
import io.plumbline.topology.report.WindowReports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/**
 * Reads the table of {@code docs/operate/metrics.md}, and fills a {@link Metrics} in which everything has happened
 * once.
 */
final class ExportedMetrics {

    private static final Pattern ROW = Pattern.compile("^\\| `([a-z0-9_]+)` \\| ([^|]*) \\| ([^|]*) \\|(.*)\\|$");
    private static final Pattern METRIC =
            Pattern.compile("(?<![\\w:])(?:plumbline|kafka|jvm|process|system)_[a-z0-9_]+");

    static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    static final String SPAN = "00f067aa0ba902b7";

    private ExportedMetrics() {}

    /** A row of the table: the metric's type, its labels, and what it says. */
    record Documented(String type, Set<String> labels, String meaning) {
        boolean always() {
            return !meaning.contains("*once it happened*");
        }
    }

    static Map<String, Documented> table() {
        Map<String, Documented> rows = new TreeMap<>();
        read("docs/operate/metrics.md")
                .lines()
                .map(ROW::matcher)
                .filter(Matcher::matches)
                .forEach(row -> {
                    Set<String> labels = new TreeSet<>();
                    Matcher label = Pattern.compile("`([a-z_]+)`").matcher(row.group(3));
                    while (label.find()) {
                        labels.add(label.group(1));
                    }
                    if (rows.put(row.group(1), new Documented(row.group(2).strip(), labels, row.group(4))) != null) {
                        throw new AssertionError("docs/operate/metrics.md lists " + row.group(1) + " twice");
                    }
                });
        return rows;
    }

    /** Every name a query may use: the table's, and the series of its histograms and summaries. */
    static Set<String> queryable() {
        Set<String> names = new TreeSet<>();
        table().forEach((name, row) -> {
            if (row.type().equals("histogram") || row.type().equals("summary")) {
                names.addAll(Set.of(name + "_count", name + "_sum"));
            }
            if (row.type().equals("histogram")) {
                names.add(name + "_bucket");
            }
            if (!row.type().equals("histogram") && !row.type().equals("summary")) {
                names.add(name);
            }
        });
        return names;
    }

    /** The metric names in a query or a rules file. */
    static Set<String> namesIn(String text) {
        Set<String> names = new TreeSet<>();
        Matcher matcher = METRIC.matcher(text);
        while (matcher.find()) {
            names.add(matcher.group());
        }
        return names;
    }

    static String read(String file) {
        try {
            return Files.readString(Repository.ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A snapshot with every family, all values equal to {@code value}. */
    static SiteSnapshot everything(String site, double value) {
        SiteSnapshot.Builder snapshot = SiteSnapshot.of(site).verdict(Verdict.DRIFTED);
        Set<WindowMetric> ofStatistics = new HashSet<>();
        for (Statistic statistic : Statistic.shown()) {
            snapshot.set(statistic, value);
            ofStatistics.add(WindowMetric.of(statistic));
        }
        for (WindowMetric metric : WindowMetric.all()) {
            if (metric.label() == null && !ofStatistics.contains(metric)) {
                snapshot.set(metric, value);
            } else if (metric.label() != null && !metric.equals(WindowMetric.VERDICT)) {
                valuesOf(metric).forEach(label -> snapshot.set(metric, label, value));
            }
        }
        return snapshot.build();
    }

    /** Returns the header of a record of a trace that is kept. */
    static byte[] traceparent() {
        return "00-%s-%s-01".formatted(TRACE, SPAN).getBytes(StandardCharsets.US_ASCII);
    }

    /** Lets everything happen once, for two sites. */
    static void exercise(Metrics metrics) {
        metrics.expect(List.of("blocks.7", "blocks.11"));
        PipelineMeters pipeline = metrics.pipeline();
        AdaptationMeters adaptations = metrics.adaptations();
        DecoderMeters decoders = metrics.decoders();
        metrics.configuration()
                .onConfiguration(
                        MonitorConfig.parse(MonitorConfig.defaultFile(), "default", Path.of("/conf")), "00ff", null);
        List<String> sites = List.of("blocks.7", "blocks.11");
        pipeline.onReport(WindowReports.of(WindowReports.distinctNumbers()), 36_000_000);
        pipeline.onRead(1_500_000, traceparent());
        for (String site : sites) {
            pipeline.onAccepted(site, 128);
            pipeline.onLate(site, 3, LateReason.AFTER_GRACE);
            pipeline.onGivenUp(site, 0);
            pipeline.onAccount(site, new RowAccount(9, 5, 2, Map.of("after_grace", 1L), Map.of("norm", 1L), 0));
            pipeline.onWindowClosed(site, 128);
            pipeline.show(everything(site, 0.5));
            adaptations.onAdaptation(published(site));
            adaptations.onPooled(site, 1_234);
            decoders.onRefused(site, 2, "torn");
            decoders.configured(site, SwapRules.Mode.PROPOSE);
            decoders.onSwapState(site, SwapState.INITIAL);
            decoders.trained(site, "00ff00ff00ff00ff");
            metrics.baselines().onBaselines(BaselineHistory.of(site).with(Described.replacing(site, "b", 2, "a")));
        }
        pipeline.onModelReport(new ModelReport(
                "model",
                0,
                1,
                Verdict.ALIGNED,
                "",
                0.5,
                "blocks.7",
                null,
                List.of(),
                List.of(),
                List.of("blocks.11"),
                List.of(new SiteStanding("blocks.7", Verdict.ALIGNED, "faithfulness_gap", 1.0, 2.0, false, null))));
        pipeline.onLateSite("model");
        decoders.onCaughtUp();
        sites.forEach(site -> decoders.held(site, 2, DecoderKind.ADAPTED, "a1b2c3d4e5f60718"));
        pipeline.onState("panes", "0_0", new StateSize(3, 12_000));
        pipeline.onDeadLetter(DeadLetter.Reason.NON_FINITE);
        metrics.expectPartitions(NextOffsets.Input.ACTIVATIONS, 2);
        metrics.expectUnreadPartitions(() -> 1);
        metrics.onLost(NextOffsets.Input.ACTIVATIONS, 1, 5);
        metrics.onSkipped(NextOffsets.Input.MOMENTS);
        metrics.expectMissingTopics(() -> 1);
        metrics.expectUnanswered(() -> 12);
        metrics.lostChangelogs(1);
        metrics.outputLeftOut("dead_letters");
        metrics.observe(Standstills.of(
                "adapter",
                Map.of(NextOffsets.Input.ADAPTATION_REQUESTS.label(), "adaptation-requests"),
                Duration.ofSeconds(901),
                new Repeats()));
    }

    private static AdaptationReport published(String site) {
        return new AdaptationReport(
                site, 0, 0, Outcome.PUBLISHED, "", 2, 0, 0, 0, 0, 0, null, null, null, null, null, List.of(), null, 1);
    }

    /** A Kafka Streams client that was never started; it never reaches a broker and has most of its metrics already. */
    static KafkaStreams idleStreams(String application) {
        Properties properties = new Properties();
        properties.put("application.id", application);
        properties.put("bootstrap.servers", "127.0.0.1:1");
        properties.put("num.stream.threads", "2");
        properties.put("state.dir", Path.of("target", "idle-streams").toString());
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("activations").to("elsewhere");
        return new KafkaStreams(builder.build(), properties);
    }

    /** Returns the values of the label, beside those of statistics. */
    private static List<String> valuesOf(WindowMetric metric) {
        return switch (String.valueOf(metric.label())) {
            case "decoder" -> List.of("active");
            case "statistic" -> List.of(Statistic.FAITHFULNESS_GAP.label());
            case "angle" -> List.of("smallest", "median", "largest");
            case "reason" -> List.of("token_id", "norm");
            case "bound" -> metric.equals(WindowMetric.GAP_BOUND) ? List.of() : List.of("upper");
            case "direction" -> List.of("less_active", "more_active");
            case "moment" -> List.of();
            case "group" -> List.of("1");
            case "clean" -> List.of("windows", "requests");
            case "value" -> List.of("acme");
            case "block" -> List.of("targets.3");
            case "change" -> List.of("engine_version=0.20");
            case "tokens" -> List.of("delivered", "cached", "not_sampled", "dropped");
            case "harm" -> List.of("none", "watched", "behaviour", "unknown");
            case "name" -> List.of("feature 7", "refusal");
            default -> throw new AssertionError("no values known of the label of " + metric);
        };
    }
}
