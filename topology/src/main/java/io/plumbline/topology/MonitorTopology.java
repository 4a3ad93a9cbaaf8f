package io.plumbline.topology;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.records.MomentRecord;
import io.plumbline.requests.RequestProjection;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WindowAssessor;
import io.plumbline.topology.assessment.WindowMeasurement;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.ingest.EventTimes;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.ingest.IngestTask;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.RecordReader;
import io.plumbline.topology.ingest.RefusedRecords;
import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.kafka.NextOffsets.Input;
import io.plumbline.topology.models.ModelStage;
import io.plumbline.topology.panes.EngineRequests;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.windows.GroupPartitioner;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.topology.windows.WindowStage;
import io.plumbline.topology.windows.WindowWorkers;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.TimestampExtractor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;

/**
 * Builds the monitor's topology: from activation records to window reports and adaptation requests.
 *
 * <pre>
 * activations ─► ingest ─► accumulate ─► (moments) ─► compose ─► assess ─► window-reports ◄─────────── models
 *                  │        [panes]                   [windows]  [decisions] ├► adaptation-requests     [models]
 *                  └► dead-letters                                           └► (model-windows) ──────────┘
 * </pre>
 *
 * <p>Two sub-topologies joined by the moments topic: the left one runs where records are, with any partitioning, once
 * for each topic of activations, so that neither clocks nor backlogs of a tenant reach another; the right one where a
 * site's panes come together, keyed by site. Where there are models, a third one runs where the sites of a model come
 * together. It relies on {@code exactly_once_v2}: the tiles of a pane, the progress that covers them and the offsets of
 * the rows in them are one transaction.
 */
public final class MonitorTopology {

    private MonitorTopology() {}

    /** The listeners of the stages. */
    public record Listeners(IngestListener ingest, WindowListener windows, DriftListener drift) {}

    /**
     * Builds the topology with windows measured on the stream thread.
     *
     * @param sites the configured sites with their explainers and baselines
     * @param prepared what the brokers hold
     */
    public static Topology build(
            MonitorConfig config,
            Map<String, WatchedSite> sites,
            Topics.Prepared prepared,
            ActiveDecoders activeDecoders,
            Listeners listeners) {
        return build(
                InForce.of(new Watched(config, sites)),
                prepared,
                activeDecoders,
                listeners,
                new Repeats(),
                NextOffsets.silent(),
                topic -> SourceWatch.ALWAYS_READ,
                WindowWorkers.none(),
                WatchedSite::projections,
                Map.of(),
                OutputGuard.silent(config.topics()));
    }

    /**
     * @param watched what is configured; topics, windows and whatever else is no setting of a site stay those of the
     *     first
     * @param repeats counts what is read again and again
     * @param offsets skips what was read before
     * @param watch tells silence of a site from a topic that cannot be read, by the topic
     * @param workers measures windows; {@link WindowWorkers#none} has the stream thread do it
     * @param projections under which the requests of sites are totalled, usually {@link WatchedSite#projections}
     * @param probes run the rest of the model of the sites that name it
     * @param outputs goes on where a topic does not take what is written
     */
    public static Topology build(
            InForce<Watched> watched,
            Topics.Prepared prepared,
            ActiveDecoders activeDecoders,
            Listeners listeners,
            Repeats repeats,
            NextOffsets offsets,
            Function<String, SourceWatch> watch,
            Executor workers,
            Function<Map<String, WatchedSite>, Map<String, RequestProjection>> projections,
            Map<String, BehaviourProbe> probes,
            OutputGuard outputs) {
        MonitorConfig config = watched.newest().config();
        InForce<Map<String, WatchedSite>> all = watched.map(Watched::sites);
        Map<String, WatchedSite> sites = all.newest();
        TopicNames topics = config.topics();
        Map<String, String> changelog = Topics.changelogSettings();
        WindowStage windows = new WindowStage(
                config.window(),
                config.store(),
                mapValues(sites, WatchedSite::summedWidth),
                config.sampleRows(),
                RequestTotalling.of(all.map(projections))
                        .keeping(requestsKept(sites, probes))
                        .comparing(enginesCompared(sites)),
                changelog,
                listeners.windows(),
                mapValues(sites, MonitorTopology::agreed));
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        ByteArraySerializer out = new ByteArraySerializer();
        Serializer<byte[]> guarded = outputs.values();

        Topology topology = new Topology();
        Map<String, SiteShape> shapes =
                mapValues(sites, site -> shape(site).keepingRequests(probes.containsKey(site.site())));
        for (ActivationTopic topic : config.activationTopics()) {
            String accumulate = topic.named("accumulate");
            String ingest = topic.named("ingest");
            String letters = topic.named("dead-letters");
            WindowStage.Source source = new WindowStage.Source(
                    topic.named(WindowStage.PANES_STORE),
                    topic.sites(),
                    prepared.partitionsOf(topic.topic()),
                    watch.apply(topic.topic()));
            Limits limits = config.limits();
            ProcessorSupplier<byte[], byte[], Object, Object> reading = IngestTask.supplier(
                    reader(topic, shapes, limits),
                    limits,
                    windows.admission(source, limits.requestsPerWindow()),
                    listeners.ingest(),
                    accumulate,
                    new RefusedRecords(letters, prepared.largestDeadLetter(), listeners.ingest()));
            Input input = activations(topic);
            TimestampExtractor times = new EventTimes(eventTime(), limits.ahead(), System::currentTimeMillis);
            topology.addSource(AutoOffsetReset.earliest(), input.label(), times, in, in, topic.topic());
            topology.addProcessor(ingest, repeats.counting(offsets.guarding(input, reading, changelog)), input.label());
            topology.addProcessor(accumulate, windows.accumulator(source, limits.ahead()), ingest);
            topology.connectProcessorAndStateStores(ingest, source.store());
            topology.addSink(letters, topics.deadLetters(), out, guarded, ingest);
            topology.addSink(
                    topic.named("closed-panes"), topics.moments(), out, out, new GroupPartitioner(), accumulate);
        }

        topology.addSource(AutoOffsetReset.earliest(), "moments", eventTime(), in, in, topics.moments());
        WindowMeasurement measurement = new WindowMeasurement(all, probes, activeDecoders);
        topology.addProcessor(
                "compose",
                repeats.counting(offsets.guarding(
                        Input.MOMENTS, windows.composer(measurement, workers, waitingPanes(config)), changelog)),
                "moments");
        topology.addProcessor(
                "assess",
                WindowAssessor.supplier(
                        measurement,
                        listeners.drift(),
                        "window-reports",
                        "adaptation-requests",
                        "model-windows",
                        changelog),
                "compose");
        topology.addSink("window-reports", topics.windowReports(), out, guarded, "assess");
        topology.addSink(
                "adaptation-requests", topics.adaptationRequests(), out, guarded, new GroupPartitioner(), "assess");
        if (!config.models().isEmpty()) {
            topology.addSink("model-windows", topics.modelWindows(), out, out, "assess");
            topology.addSource(AutoOffsetReset.earliest(), "standings", eventTime(), in, in, topics.modelWindows());
            ProcessorSupplier<byte[], byte[], byte[], byte[]> models =
                    ModelStage.supplier(watched.map(now -> now.config().models()), listeners.drift(), changelog);
            topology.addProcessor(
                    "models", repeats.counting(offsets.guarding(Input.MODEL_WINDOWS, models, changelog)), "standings");
            topology.addSink("model-reports", topics.windowReports(), out, guarded, "models");
        }
        return topology;
    }

    /** Returns a topic of activations as what is read of it is called in metrics and stores. */
    public static Input activations(ActivationTopic topic) {
        return new Input(topic.named(Input.ACTIVATIONS.label()));
    }

    private static RecordReader reader(ActivationTopic topic, Map<String, SiteShape> shapes, Limits limits) {
        Map<String, SiteShape> own = new TreeMap<>(shapes);
        own.keySet().retainAll(topic.sites());
        Set<String> elsewhere = new TreeSet<>();
        shapes.forEach((site, shape) -> {
            if (!topic.sites().contains(site)) {
                elsewhere.add(site);
                elsewhere.add(shape.id().group());
            }
        });
        return new RecordReader(own, elsewhere, limits);
    }

    /** The latest event time, the end of the year 9999: sums of such a time and a window do not overflow. */
    static final long LATEST_EVENT_MS = 253_402_300_799_999L;

    /**
     * Returns an extractor by which a record without a timestamp counts as of 1970, and so as late: the default would
     * stop the application.
     */
    static TimestampExtractor eventTime() {
        return (record, partitionTime) -> Math.min(Math.max(0, record.timestamp()), LATEST_EVENT_MS);
    }

    private static int waitingPanes(MonitorConfig config) {
        Integer panes = config.waitingPanes();
        return panes == null ? Integer.MAX_VALUE : panes;
    }

    private static Map<String, Integer> requestsKept(
            Map<String, WatchedSite> sites, Map<String, BehaviourProbe> probes) {
        Map<String, Integer> kept = new TreeMap<>();
        probes.keySet().forEach(name -> {
            WatchedSite site = sites.get(name);
            DownstreamSettings downstream =
                    site == null ? null : site.settings().downstream();
            if (downstream != null) {
                kept.put(name, downstream.requests());
            }
        });
        return kept;
    }

    /** Returns the headers that tell engines apart, of the sites that compare them. */
    private static Map<String, String> enginesCompared(Map<String, WatchedSite> sites) {
        Map<String, String> headers = new TreeMap<>();
        sites.forEach((name, site) -> {
            String by = EngineRequests.header(
                    site.settings().breakdownBy(), site.settings().explained().hasExplainer());
            if (by != null) {
                headers.put(name, by);
            }
        });
        return headers;
    }

    /** Returns what of a site decides which rows are summed, and how: what is open must end under the same. */
    public static Map<String, String> agreed(WatchedSite site) {
        SiteShape shape = shape(site);
        MomentRecord.Mask mask = shape.mask().applied();
        Map<String, String> agreed = new TreeMap<>();
        agreed.put(
                "mask of the baseline",
                "%d token ids %08x, rows up to %s long"
                        .formatted(mask.tokenIds().length, Arrays.hashCode(mask.tokenIds()), mask.largestNorm()));
        agreed.put("width of the rows read", Integer.toString(shape.inputWidth()));
        agreed.put("hidden_states", String.valueOf(shape.layers()));
        agreed.put("targets", String.valueOf(shape.block()));
        agreed.put(
                "what is taken from the targets",
                shape.space().isPlain() ? "nothing" : site.explainer().decoder().sha256());
        return agreed;
    }

    private static SiteShape shape(WatchedSite site) {
        return SiteShape.of(
                        site.id(), site.explainer(), site.baseline().masking().mask())
                .with(site.settings().explained().hiddenStates());
    }

    private static <V> Map<String, V> mapValues(Map<String, WatchedSite> sites, Function<WatchedSite, V> value) {
        return sites.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, entry -> value.apply(entry.getValue())));
    }
}
