package io.plumbline.topology.operate;

import io.plumbline.explainer.Explainer;
import io.plumbline.moments.MaskRules;
import io.plumbline.moments.RowMask;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.cli.ActivationStream;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.SiteShape;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options that say where the clean requests of a baseline come from: dumps, or the activations topic of a configured
 * site.
 */
final class BaselineSource {

    @Option(
            names = "--activations",
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of clean rows; several are one stream.")
    List<Path> activations = List.of();

    @Option(
            names = "--from-topic",
            description = "Read the activations topic of --config instead: the requests of --site, in event time.")
    boolean fromTopic;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "With --from-topic: the configuration file, for broker, topic, and what no option says of"
                    + " the site.")
    @Nullable
    Path config;

    @Option(names = "--site", paramLabel = "SITE", description = "With --from-topic: a site of the configuration.")
    @Nullable
    String site;

    @Option(
            names = "--model",
            paramLabel = "MODEL",
            description = "With --from-topic, instead of --site: all sites of a model, from the requests that every"
                    + " one of them has. Each baseline goes to the file that the configuration names.")
    @Nullable
    String model;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description =
                    "With --from-topic: event time of the first request, 2026-01-01T00:00:00Z, or how long ago, 7d."
                            + " Default: the oldest there is.")
    @Nullable
    String from;

    @Option(
            names = "--to",
            paramLabel = "TIME",
            description = "With --from-topic: event time before which the last one lies. Default: the newest there is.")
    @Nullable
    String to;

    @Option(
            names = "--from-window",
            paramLabel = "START[/END]",
            description = "With --from-topic, instead of --from and --to: the requests of a window, by its start,"
                    + " 2026-01-01T00:00:00Z or milliseconds; with /END of any stretch. May be repeated; a request in"
                    + " several counts once.")
    List<String> windows = List.of();

    @Option(
            names = "--aligned",
            paramLabel = "N",
            description = "With --from-topic, instead of --from and --to: the requests of the last N windows that were"
                    + " aligned, at every site of --model.")
    @Nullable
    Integer aligned;

    /** Gives every request in turn, as often as asked. */
    interface Requests {
        void forEach(String task, ActivationStream.RequestReader reader) throws IOException;
    }

    /** Reads the explainer of a site. */
    interface Reader {
        Explainer of(SiteSettings site) throws IOException;
    }

    /** Makes something of opened requests. */
    interface Use<T> {
        T of(Requests requests) throws IOException;
    }

    private @Nullable MonitorConfig monitor;
    private Predicate<String> wanted = request -> true;
    private String described = "";
    private Map<String, Long> leftOut = Map.of();
    private long apart;

    /**
     * Reads the configuration, where there is one.
     *
     * @throws UsageException when the options do not fit together
     */
    void check() throws IOException {
        if (fromTopic == !activations.isEmpty()) {
            throw new UsageException(
                    "expected either --activations FILE... or --from-topic --config FILE with --site SITE"
                            + " or --model MODEL");
        }
        if (!fromTopic
                && (config != null
                        || site != null
                        || model != null
                        || from != null
                        || to != null
                        || aligned != null
                        || !windows.isEmpty())) {
            throw new UsageException(
                    "--config, --site, --model, --from, --to, --from-window and --aligned are for --from-topic");
        }
        if (fromTopic) {
            if (config == null || (site == null) == (model == null)) {
                throw new UsageException("--from-topic needs --config FILE and either --site SITE or --model MODEL");
            }
            if ((windows.isEmpty() ? 0 : 1) + (aligned == null ? 0 : 1) + (from == null && to == null ? 0 : 1) > 1) {
                throw new UsageException("expected --from-window, --aligned, or --from and --to");
            }
            if (aligned != null && aligned < 1) {
                throw new UsageException("--aligned = %d: expected at least 1 window".formatted(aligned));
            }
            monitor = MonitorConfig.load(config);
            if (model != null && !monitor.models().containsKey(model)) {
                throw new UsageException("--model = %s: %s configures %s"
                        .formatted(
                                model,
                                config,
                                monitor.models().isEmpty()
                                        ? "no model"
                                        : String.join(", ", monitor.models().keySet())));
            }
            if (site != null && settings() == null) {
                throw new UsageException("--site = %s: %s configures %s"
                        .formatted(
                                site, config, String.join(", ", monitor.sites().keySet())));
            }
            if (aligned != null) {
                windows = AlignedWindows.last(monitor, watched(monitor), aligned).stream()
                        .map(String::valueOf)
                        .toList();
            }
        }
    }

    private Set<String> watched(MonitorConfig configured) {
        return model == null
                ? Set.of(String.valueOf(site))
                : Set.copyOf(
                        Objects.requireNonNull(configured.models().get(model)).sites());
    }

    /** Returns the configuration; null where dumps are read. */
    @Nullable
    MonitorConfig config() {
        return monitor;
    }

    /** Returns the settings of the sites of the model; empty where none is named. */
    List<SiteSettings> ofModel() {
        MonitorConfig from = monitor;
        return from == null || model == null
                ? List.of()
                : Objects.requireNonNull(from.models().get(model)).sites().stream()
                        .map(name -> Objects.requireNonNull(from.sites().get(name)))
                        .toList();
    }

    /** Reads from here on a site of the model. */
    void at(SiteSettings settings) {
        site = settings.site();
    }

    /** Reads from here on those requests alone that every site of the model has, which it finds by reading them. */
    void commonTo(List<SiteSettings> sites, Reader explainers) throws IOException {
        Set<String> common = new LinkedHashSet<>();
        for (SiteSettings one : sites) {
            at(one);
            Set<String> own = new LinkedHashSet<>();
            Set<String> before = common;
            wanted = request -> {
                own.add(request);
                return true;
            };
            read(explainers.of(one), MaskRules.NONE, requests -> {
                requests.forEach("requests of " + site, request -> {});
                return own;
            });
            if (!before.isEmpty()) {
                own.retainAll(before);
            }
            if (own.isEmpty()) {
                throw new UsageException(("site %s: no request in the range that the sites before it have, too: "
                                + "requests are the same by time, number of rows and header request")
                        .formatted(site));
            }
            common = own;
        }
        Set<String> all = common;
        wanted = all::contains;
    }

    /** Returns the settings of the site; null for dumps. */
    @Nullable
    SiteSettings settings() {
        return monitor == null || site == null ? null : monitor.sites().get(site);
    }

    /** Returns the files; empty for a topic. */
    List<Path> dumps() {
        return activations;
    }

    /** Opens it, hands it over and closes it. */
    <T> T read(Explainer explainer, MaskRules rules, Use<T> use) throws IOException {
        RowMask tokens = RowMask.of(rules.withoutNormCap(), null);
        MonitorConfig from = monitor;
        return from == null ? readDumps(explainer, tokens, use) : readTopic(from, explainer, tokens, use);
    }

    private <T> T readDumps(Explainer explainer, RowMask tokens, Use<T> use) throws IOException {
        try (ActivationStream stream = ActivationStream.open(activations, explainer)) {
            stream.requireTokenIds(tokens);
            described = activations.stream()
                    .map(file -> String.valueOf(file.getFileName()))
                    .collect(Collectors.joining(", "));
            return use.of(stream::forEach);
        }
    }

    private <T> T readTopic(MonitorConfig monitorConfig, Explainer explainer, RowMask tokens, Use<T> use)
            throws IOException {
        SiteSettings settings = monitorConfig.sites().get(String.valueOf(site));
        SiteShape shape = new SiteShape(
                        String.valueOf(site),
                        explainer.inputWidth(),
                        explainer.targetWidth(),
                        explainer.isTranscoder(),
                        RowMask.NONE)
                .with(settings == null ? null : settings.explained().hiddenStates())
                .ofBlock(explainer.block());
        try (TopicRecording recording =
                TopicRecording.open(monitorConfig, shape, tokens, periods(monitorConfig), wanted)) {
            T made = use.of((task, reader) -> recording.forEach(
                    task, request -> reader.read(explainer.space().of(request))));
            described = recording.describe();
            leftOut = recording.leftOut();
            apart = recording.apart();
            return made;
        }
    }

    /** Returns what is read: the windows, or one period. */
    private List<Period> periods(MonitorConfig monitorConfig) {
        return windows.isEmpty()
                ? List.of(Period.of(from, to))
                : windows.stream()
                        .map(window -> Period.window(
                                "--from-window",
                                window,
                                monitorConfig.window().size(),
                                monitorConfig.window().advance()))
                        .distinct()
                        .toList();
    }

    /** Returns a description for people, once the source was read. */
    String describe() {
        return described;
    }

    /** Returns how many records of the topic gave no request, by reason; once it was read. */
    Map<String, Long> leftOut() {
        return leftOut;
    }

    /** Returns how many requests of the topic have the name of an earlier one; once it was read. */
    long apart() {
        return apart;
    }
}
