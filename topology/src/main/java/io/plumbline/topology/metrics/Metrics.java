package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.kafka.KafkaStreamsMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.config.OtlpSettings;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.progress.Standstills;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.wire.Printable;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.apache.kafka.streams.KafkaStreams;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds all metrics of the process: one registry, one scrape. {@link PipelineMeters}, {@link AdaptationMeters} and
 * {@link DecoderMeters} listen to the stages and count; what no stage reports is counted here.
 *
 * <p>Failures to record are counted in {@code plumbline_metrics_failures_total} and go no further, those of the meters
 * where they are {@link #guarded}; nothing blocks, all is thread-safe.
 *
 * <p><b>Sites.</b> The first {@code maximumSites} names get series of their own; what is said of any other is counted
 * under {@code site="_overflow"}, its per-window values are not exported, and {@code plumbline_site_overflow_total}
 * grows. Counters of a site are this process's own and stay until it ends: rows of one site are read by every instance,
 * so their sum over instances is the site's. Per-window values belong to the one instance that judges the site and go
 * with it.
 */
public final class Metrics implements NextOffsets.Listener, AutoCloseable {

    /** The label that stands for all sites beyond the cap. */
    public static final String OVERFLOW_SITE = "_overflow";

    private static final Logger log = LoggerFactory.getLogger(Metrics.class);

    /**
     * Says how long and for how many sites values are exported.
     *
     * @param staleness wall-clock time after which the values of a site without a new window are no longer exported;
     *     several windows long
     * @param maximumSites how many distinct site names may become labels
     */
    public record Settings(Duration staleness, int maximumSites) {

        private static final Duration SHORTEST_STALENESS = Duration.ofMinutes(15);

        public Settings {
            if (staleness.isNegative() || staleness.isZero()) {
                throw new IllegalArgumentException("staleness of the exported values = " + staleness
                        + ": expected a positive duration, several windows long");
            }
            if (maximumSites < 1) {
                throw new IllegalArgumentException(
                        "sites that may become labels = " + maximumSites + ": expected at least 1");
            }
        }

        /**
         * Returns settings by which values outlive the wait between windows: a window is out {@code size + grace} after
         * its start, the next one an advance later, and two may stay away (too thin to be judged) before a site falls
         * silent.
         *
         * @param sites how many the configuration may have; all of them become labels
         */
        public static Settings of(WindowSettings windows, int sites) {
            Duration wait =
                    windows.advance().multipliedBy(3).plus(windows.size()).plus(windows.grace());
            return new Settings(wait.compareTo(SHORTEST_STALENESS) > 0 ? wait : SHORTEST_STALENESS, sites);
        }
    }

    private final PrometheusRegistry prometheus = new PrometheusRegistry();
    private final MeterRegistry meters;
    private final Counters counters;
    private final Counter failures;
    private final Counter failedPushes;
    private final PipelineMeters pipeline;
    private final AdaptationMeters adaptations;
    private final DecoderMeters decoders;
    private final ConfigMeters configuration;
    private final BaselineMeters baselines;
    private final List<MultiCollector> collectors;
    private final List<AutoCloseable> bound = new CopyOnWriteArrayList<>();

    private Metrics(Settings settings, java.time.Clock wallClock) {
        meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, prometheus, Clock.SYSTEM);
        meters.config()
                .meterFilter(new StreamsMeters())
                // Their names break Prometheus' conventions; process_cpu_usage and the node exporter have the same.
                .meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"))
                .meterFilter(MeterFilter.denyNameStartsWith("system.cpu.count"));
        counters = new Counters(meters);
        failures = counters.counter(
                "plumbline.metrics.failures", "Observations lost because recording them failed; the stream went on");
        failedPushes = counters.counter("plumbline.otlp.failures", "Pushes of metrics by OTLP that no receiver took");
        SiteCounters sites = new SiteCounters(counters, settings.maximumSites());
        StageTimers times = new StageTimers(prometheus, meters, System::nanoTime);
        pipeline = new PipelineMeters(counters, sites, times, wallClock, settings.staleness());
        adaptations = new AdaptationMeters(counters, sites, times);
        decoders = new DecoderMeters(sites, wallClock);
        configuration = new ConfigMeters(wallClock);
        baselines = new BaselineMeters(sites);
        collectors = Stream.of(
                        pipeline.collectors(),
                        adaptations.collectors(),
                        decoders.collectors(),
                        List.of(configuration, baselines))
                .flatMap(List::stream)
                .toList();
        collectors.forEach(prometheus::register);
        prometheus.register(ProcessMeters.BUILD);
        bound.add(ProcessMeters.bind(meters));
    }

    public static Metrics create(Settings settings) {
        return create(settings, java.time.Clock.systemUTC());
    }

    /** Creates as {@link #create(Settings)} does, with the clock by which a silent site and a candidate expire. */
    public static Metrics create(Settings settings, java.time.Clock wallClock) {
        return new Metrics(settings, wallClock);
    }

    /** Returns the meters of the monitor's stages. */
    public PipelineMeters pipeline() {
        return pipeline;
    }

    /** Returns the meters of the adapter's stages. */
    public AdaptationMeters adaptations() {
        return adaptations;
    }

    /** Returns the meters of the subscriber of decoders. */
    public DecoderMeters decoders() {
        return decoders;
    }

    /** Returns the meters of the configuration in force. */
    public ConfigMeters configuration() {
        return configuration;
    }

    /** Returns the meters of the sites' baselines. */
    public BaselineMeters baselines() {
        return baselines;
    }

    /**
     * Returns a listener whose exceptions are counted and go no further: a stage must not stop because a meter failed.
     *
     * @param type the interface by which the stage knows it
     */
    public <T> T guarded(Class<T> type, T listener) {
        return Listeners.guarded(type, listener, this::lost);
    }

    /** Returns a listener of the first stage that lets the meters count and then hands on to {@code next}. */
    public IngestListener countedIngest(IngestListener next) {
        return new RecordListeners.Ingest(pipeline, this::lost, next);
    }

    /** Returns a listener of the second stage that lets the meters count and then hands on to {@code next}. */
    public WindowListener countedWindows(WindowListener next) {
        return new RecordListeners.Windows(pipeline, this::lost, next);
    }

    /**
     * Creates the counters of configured sites, reasons and outcomes at 0, so that the first event is an increase and
     * not a new series, which {@code increase()} does not see.
     */
    public void expect(Collection<String> siteNames) {
        guarded(() -> {
            pipeline.expect(siteNames);
            adaptations.expect(siteNames);
        });
    }

    /**
     * Adds Kafka's own metrics of one application, those of {@link StreamsMeters#ALLOWED}; unbound by {@link #close}.
     */
    public void observe(KafkaStreams streams) {
        guarded(() -> {
            KafkaStreamsMetrics kafka = new KafkaStreamsMetrics(streams);
            bound.add(kafka);
            kafka.bindTo(meters);
        });
    }

    /** Adds where an application stands still. */
    public void observe(Standstills standstills) {
        guarded(() -> StandstillGauges.register(meters, standstills));
    }

    /** Creates the counters of lost offsets of a topic at 0. */
    public void expectPartitions(NextOffsets.Input input, int partitions) {
        guarded(() -> {
            for (int partition = 0; partition < partitions; partition++) {
                counters.lostOffsets(input.label(), partition);
            }
        });
    }

    @Override
    public void onBegun(NextOffsets.Input input, int partition) {
        guarded(() -> {
            counters.lostOffsets(input.label(), partition);
            counters.skippedRecords(input.label());
        });
    }

    @Override
    public void onSkipped(NextOffsets.Input input) {
        guarded(() -> counters.skippedRecords(input.label()).increment());
    }

    @Override
    public void onLost(NextOffsets.Input input, int partition, long offsets) {
        guarded(() -> counters.lostOffsets(input.label(), partition).increment((double) offsets));
    }

    /** Adds how many partitions of the topics of activations nobody reads. */
    public void expectUnreadPartitions(IntSupplier unread) {
        guarded(() -> Gauge.builder("plumbline.unread.partitions", unread, IntSupplier::getAsInt)
                .description("Partitions of topics of activations that are not read, since they were added while the"
                        + " monitor ran")
                .strongReference(true)
                .register(meters));
    }

    /** Adds how many of Plumbline's own topics do not exist any more. */
    public void expectMissingTopics(IntSupplier missing) {
        guarded(() -> Gauge.builder("plumbline.missing.topics", missing, IntSupplier::getAsInt)
                .description("Plumbline's own topics, change-logs included, that do not exist any more")
                .strongReference(true)
                .register(meters));
    }

    /** Adds for how long no broker has answered. */
    public void expectUnanswered(DoubleSupplier seconds) {
        guarded(() -> Gauge.builder("plumbline.broker.unanswered", seconds, DoubleSupplier::getAsDouble)
                .description("Time for which no broker has answered; 0 while one does")
                .baseUnit("seconds")
                .strongReference(true)
                .register(meters));
    }

    /** Adds how many change-logs had lost the state of an earlier run when this process started. */
    public void lostChangelogs(int lost) {
        guarded(() -> Gauge.builder("plumbline.lost.changelogs", () -> lost)
                .description("Change-logs that were gone or empty when this process started, although records had"
                        + " been read")
                .strongReference(true)
                .register(meters));
    }

    /** Starts the counters of these topics at 0, see {@link #outputLeftOut}. */
    public void expectOutputs(Collection<String> topics) {
        guarded(() -> topics.forEach(counters::outputsLeftOut));
    }

    /** Counts an output that a topic did not take and that was left out; {@code topic} is one of a fixed set. */
    public void outputLeftOut(String topic) {
        guarded(() -> counters.outputsLeftOut(topic).increment());
    }

    /** Returns everything there is to export, now. */
    public MetricSnapshots scrape() {
        return prometheus.scrape();
    }

    /** Counts a failure that happened in another part of this package. */
    public void failed() {
        failures.increment();
    }

    /**
     * Returns who sends the verdicts of windows as events, or nobody where none are asked for.
     *
     * @param started told of the push, which it closes at the end
     */
    public DriftListener events(OtlpSettings otlp, Map<String, String> resource, Consumer<OtlpPush> started) {
        URI endpoint = otlp.events();
        if (endpoint == null) {
            return new DriftListener() {};
        }
        OtlpEvents events = new OtlpEvents(resource, this::pushFailed);
        started.accept(OtlpPush.start(otlp, endpoint, events, this));
        return events;
    }

    /** Counts a push of metrics that no receiver took. */
    void pushFailed() {
        failedPushes.increment();
    }

    @Override
    public void close() {
        bound.forEach(binder -> guarded(() -> closeQuietly(binder)));
        meters.close();
        collectors.forEach(prometheus::unregister);
        prometheus.unregister(ProcessMeters.BUILD);
    }

    private static void closeQuietly(AutoCloseable binder) {
        try {
            binder.close();
        } catch (Exception e) {
            throw new IllegalStateException("a metrics binder did not close: " + e, e);
        }
    }

    private void guarded(Runnable recording) {
        try {
            recording.run();
        } catch (RuntimeException e) {
            lost(e);
        }
    }

    private void lost(RuntimeException failure) {
        failed();
        log.warn("metrics: an observation was lost, the stream goes on: reason={}", Printable.value(failure));
    }
}
