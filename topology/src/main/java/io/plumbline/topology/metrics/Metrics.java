package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.kafka.KafkaStreamsMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.plumbline.topology.progress.Standstills;
import io.plumbline.topology.windows.RowAccount;
import io.plumbline.topology.windows.StateSize;
import io.plumbline.topology.windows.WindowSettings;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.apache.kafka.streams.KafkaStreams;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All metrics of the process: one registry, one scrape.
 *
 * <p>Every method that records swallows its own failures and counts them in {@code plumbline_metrics_failures_total};
 * none throws, none blocks, all are thread-safe.
 *
 * <p><b>Sites.</b> The first {@code maximumSites} names get series of their own; what is said of any other is counted
 * under {@code site="_overflow"}, its per-window values are not exported, and {@code plumbline_site_overflow_total}
 * grows. Counters of a site are this process's own and stay until it ends: rows of one site are read by every instance,
 * so their sum over instances is the site's. Per-window values belong to the one instance that judges the site and go
 * with {@link #forget}.
 */
public final class Metrics implements AutoCloseable {

    /** The label that stands for all sites beyond the cap. */
    public static final String OVERFLOW_SITE = "_overflow";

    /** Topics of Plumbline's own, as labels of {@link #foreignRecord}. */
    public static final String MOMENTS = "moments";

    public static final String ADAPTATION_REQUESTS = "adaptation_requests";

    /** And the user's, as a label of {@link #observe(Standstills)}. */
    public static final String ACTIVATIONS = "activations";

    private static final Logger log = LoggerFactory.getLogger(Metrics.class);

    /**
     * How long and for how many sites values are exported.
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
         * Values outlive the wait between windows: a window is out {@code size + grace} after its start, the next one
         * an advance later, and two may stay away (too thin to be judged) before a site falls silent.
         *
         * @param sites how many the configuration may have; all of them become labels
         */
        public static Settings of(WindowSettings windows, int sites) {
            Duration wait =
                    windows.advance().multipliedBy(3).plus(windows.size()).plus(windows.grace());
            return new Settings(wait.compareTo(SHORTEST_STALENESS) > 0 ? wait : SHORTEST_STALENESS, sites);
        }
    }

    private final Settings settings;
    private final SiteWindows siteWindows;
    private final SiteAccounts siteAccounts = new SiteAccounts();
    private final SiteSwaps siteSwaps = new SiteSwaps();
    private final SitePools sitePools = new SitePools();
    private final HeldDecoders heldDecoders = new HeldDecoders();
    private final PipelineState pipelineState = new PipelineState();
    private final DriftedWindows driftedWindows;
    private final List<MultiCollector> collectors;
    private final PrometheusRegistry prometheus = new PrometheusRegistry();
    private final MeterRegistry meters;
    private final Counters counters;
    private final Map<String, Counters.OfSite> sites = new ConcurrentHashMap<>();
    private final Counters.OfSite overflowSite;
    private final StageTimers times;
    private final Counter failures;
    private final Counter overflows;
    private final List<AutoCloseable> bound = new CopyOnWriteArrayList<>();

    private Metrics(Settings settings, java.time.Clock wallClock) {
        this.settings = settings;
        siteWindows = new SiteWindows(wallClock, settings.staleness());
        driftedWindows = new DriftedWindows(wallClock);
        collectors =
                List.of(siteWindows, siteAccounts, siteSwaps, sitePools, heldDecoders, pipelineState, driftedWindows);
        collectors.forEach(prometheus::register);
        prometheus.register(ProcessMeters.BUILD);
        meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, prometheus, Clock.SYSTEM);
        meters.config()
                .meterFilter(new StreamsMeters())
                // Their names break Prometheus' conventions; process_cpu_usage and the node exporter have the same.
                .meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"))
                .meterFilter(MeterFilter.denyNameStartsWith("system.cpu.count"));
        counters = new Counters(meters);
        failures = counters.counter(
                "plumbline.metrics.failures", "Observations lost because recording them failed; the stream went on");
        overflows = counters.counter("plumbline.site.overflow", "Observations of sites beyond the cap on site labels");
        times = new StageTimers(meters);
        overflowSite = counters.ofSite(OVERFLOW_SITE);
        bound.add(ProcessMeters.bind(meters));
    }

    public static Metrics create(Settings settings) {
        return create(settings, java.time.Clock.systemUTC());
    }

    /** Creates as {@link #create(Settings)} does, with the clock that decides when a silent site vanishes. */
    public static Metrics create(Settings settings, java.time.Clock wallClock) {
        return new Metrics(settings, wallClock);
    }

    /**
     * Creates the counters of configured sites, reasons and outcomes at 0, so that the first event is an increase and
     * not a new series, which {@code increase()} does not see.
     */
    public void expect(
            Collection<String> siteNames,
            Collection<String> deadLetterReasons,
            Collection<String> lateReasons,
            Collection<String> adaptationOutcomes) {
        guarded(() -> {
            deadLetterReasons.forEach(counters::deadLetters);
            for (String site : siteNames) {
                String label = site(site).label();
                adaptationOutcomes.forEach(outcome -> counters.adaptations(label, outcome));
                lateReasons.forEach(reason -> counters.lateRows(label, reason));
                counters.partitionsGivenUp(label);
                counters.adaptationRows(label);
                driftedWindows.expect(label);
            }
            counters.foreignRecords(MOMENTS);
            counters.foreignRecords(ADAPTATION_REQUESTS);
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

    /** A record of {@code rows} rows was accepted. */
    public void recordAccepted(String site, long rows) {
        guarded(() -> {
            Counters.OfSite ofSite = site(site);
            ofSite.records().increment();
            ofSite.rows().increment((double) rows);
        });
    }

    /** An accepted record brought a moment instead of rows. */
    public void momentAccepted(String site) {
        guarded(() -> site(site).momentRecords().increment());
    }

    /** An accepted record came again under its id and was not added. */
    public void recordRepeated(String site) {
        guarded(() -> site(site).repeatedRecords().increment());
    }

    /** Rows came too late for their window; {@code reason} is one of a fixed set. */
    public void rowsLate(String site, long rows, String reason) {
        guarded(() -> counters.lateRows(site(site).label(), reason).increment((double) rows));
    }

    /** What became of all rows of the site: replaces what was said before. */
    public void rowsAccounted(String site, RowAccount account) {
        guarded(() -> {
            if (!site(site).label().equals(OVERFLOW_SITE)) {
                siteAccounts.put(site, account);
            }
        });
    }

    /** The site's rows are accounted for by another instance now. */
    public void forgetAccount(String site) {
        siteAccounts.forget(site);
    }

    /** Creates the counters of lost offsets at 0. */
    public void expectPartitions(int partitions) {
        guarded(() -> {
            for (int partition = 0; partition < partitions; partition++) {
                counters.lostOffsets(partition);
            }
        });
    }

    /** Offsets of a partition of the activations topic were deleted before they were read. */
    public void offsetsLost(int partition, long offsets) {
        guarded(() -> counters.lostOffsets(partition).increment((double) offsets));
    }

    /** Adds how many partitions of the activations topic nobody reads. */
    public void expectUnreadPartitions(IntSupplier unread) {
        guarded(() -> Gauge.builder("plumbline.unread.partitions", unread, IntSupplier::getAsInt)
                .description(
                        "Partitions of the activations topic that are not read, since they were added while the monitor ran")
                .strongReference(true)
                .register(meters));
    }

    /** A source partition held a site's windows back for too long and is no longer waited for. */
    public void partitionGivenUp(String site) {
        guarded(() -> counters.partitionsGivenUp(site(site).label()).increment());
    }

    /** A record was refused; {@code reason} is one of a fixed set. */
    public void deadLettered(String reason) {
        guarded(() -> counters.deadLetters(reason).increment());
    }

    /** A record of one of Plumbline's own topics was not its own; {@code topic} is one of a fixed set. */
    public void foreignRecord(String topic) {
        guarded(() -> counters.foreignRecords(topic).increment());
    }

    /** Counters of these topics start at 0, see {@link #outputLeftOut}. */
    public void expectOutputs(Collection<String> topics) {
        guarded(() -> topics.forEach(counters::outputsLeftOut));
    }

    /** A topic did not take an output, which was left out; {@code topic} is one of a fixed set. */
    public void outputLeftOut(String topic) {
        guarded(() -> counters.outputsLeftOut(topic).increment());
    }

    /** A window was closed. */
    public void windowClosed(String site) {
        guarded(() -> site(site).windows().increment());
    }

    /** Measured gaps broke {@code count} bounds that are proven. */
    public void boundsViolated(String site, int count) {
        guarded(() -> site(site).boundViolations().increment(count));
    }

    /** A window was judged: its values replace those of the site's last window, all at once. */
    public void windowAssessed(Supplier<SiteSnapshot> snapshot) {
        guarded(() -> {
            SiteSnapshot window = snapshot.get();
            if (!site(window.site()).label().equals(OVERFLOW_SITE)) {
                siteWindows.put(window);
            }
        });
    }

    /**
     * A window was judged while its site was drifted.
     *
     * @param request the request with most of the evidence; null where none was scored
     * @param share of the evidence, in [0, 1]
     */
    public void windowDrifted(String site, @Nullable String request, double share) {
        guarded(() -> driftedWindows.add(site(site).label(), request, share));
    }

    /** An adaptation ended; {@code outcome} is one of a fixed set. */
    public void adaptationEnded(String site, String outcome) {
        guarded(() -> counters.adaptations(site(site).label(), outcome).increment());
    }

    /** An adaptation began on so many rows. */
    public void rowsAdaptedOn(String site, long rows) {
        guarded(() -> counters.adaptationRows(site(site).label()).increment((double) rows));
    }

    /** The adapter holds so many rows of the site for its next refit. */
    public void rowsPooled(String site, int rows) {
        guarded(() -> {
            if (!site(site).label().equals(OVERFLOW_SITE)) {
                sitePools.put(site, rows);
            }
        });
    }

    /** The site is adapted by another instance now. */
    public void forgetPool(String site) {
        sitePools.forget(site);
    }

    /** An adapted decoder was published. */
    public void decoderPublished(String site) {
        guarded(() -> site(site).publications().increment());
    }

    /** The trained decoder was published again. */
    public void decoderReverted(String site) {
        guarded(() -> site(site).reverts().increment());
    }

    /** How a configured site's decoder may be changed: {@code observe}, {@code propose} or {@code auto}. */
    public void swapMode(String site, String mode) {
        guarded(() -> {
            if (!site(site).label().equals(OVERFLOW_SITE)) {
                siteSwaps.mode(site, mode);
            }
        });
    }

    /** What the adapter says of a site; {@code candidate} is the version that waits, 0 where none does. */
    public void swapsTold(String site, boolean pinned, long candidate) {
        guarded(() -> siteSwaps.told(site, pinned, candidate));
    }

    /**
     * A decoder is in service in this process.
     *
     * @param swapped whether it replaced another one while the process ran, and was not found at the start
     */
    public void decoderHeld(String site, long version, String kind, String sha256, boolean swapped) {
        guarded(() -> {
            Counters.OfSite ofSite = site(site);
            if (swapped) {
                ofSite.swaps().increment();
            }
            if (!ofSite.label().equals(OVERFLOW_SITE)) {
                heldDecoders.put(site, version, kind, sha256);
            }
        });
    }

    /** Whether the decoders topic cannot be read at the moment. */
    public void decodersInterrupted(boolean interrupted) {
        heldDecoders.interrupted(interrupted);
    }

    /** What a task of this instance holds open in a store now. */
    public void stateHeld(String store, String task, StateSize size) {
        pipelineState.put(store, task, size);
    }

    /** The task left this instance. */
    public void forgetState(String store, String task) {
        pipelineState.forget(store, task);
    }

    /** A published decoder was not taken into service. What names no known site does not become one. */
    public void decoderRefused(String site) {
        guarded(() -> sites.getOrDefault(site, overflowSite).decoderRefusals().increment());
    }

    /** One unit of work took {@code nanoseconds} in a stage. */
    public void took(Stage stage, long nanoseconds) {
        guarded(() -> times.took(stage, nanoseconds));
    }

    /** A stream thread took no records for {@code nanoseconds} because of windows. */
    public void stalled(long nanoseconds) {
        guarded(() -> times.stalled(nanoseconds));
    }

    /** The site was removed or is judged elsewhere now: its per-window values leave the scrape. */
    public void forget(String site) {
        siteWindows.forget(site);
    }

    /** Everything there is to export, now. */
    public MetricSnapshots scrape() {
        return prometheus.scrape();
    }

    /** Counts a failure that happened in another part of this package. */
    public void failed() {
        failures.increment();
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

    private Counters.OfSite site(String name) {
        Counters.OfSite known = sites.get(name);
        if (known != null) {
            return known;
        }
        synchronized (sites) {
            if (!sites.containsKey(name) && sites.size() >= settings.maximumSites()) {
                overflows.increment();
                return overflowSite;
            }
            return sites.computeIfAbsent(name, counters::ofSite);
        }
    }

    private void guarded(Runnable recording) {
        try {
            recording.run();
        } catch (RuntimeException e) {
            failures.increment();
            log.warn("metrics: an observation was lost, the stream goes on: {}", e.toString());
        }
    }
}
