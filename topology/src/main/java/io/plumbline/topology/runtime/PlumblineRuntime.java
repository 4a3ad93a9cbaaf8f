package io.plumbline.topology.runtime;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.topology.AdapterTopology;
import io.plumbline.topology.MonitorTopology;
import io.plumbline.topology.Watched;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WatchedTargets;
import io.plumbline.topology.baselines.BaselineListener;
import io.plumbline.topology.baselines.BaselineVersions;
import io.plumbline.topology.broker.Application;
import io.plumbline.topology.broker.BrokerRefusal;
import io.plumbline.topology.broker.DecidedCommits;
import io.plumbline.topology.broker.HeldBackTopics;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.StartException;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.LogSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.OtlpSettings;
import io.plumbline.topology.console.Console;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.topology.emission.TrustedKeys;
import io.plumbline.topology.http.MonitorServer;
import io.plumbline.topology.http.WebConfig;
import io.plumbline.topology.http.WebPages;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.metrics.Listeners;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.metrics.OtlpPush;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.progress.LateProbe;
import io.plumbline.topology.progress.Probe;
import io.plumbline.topology.progress.ProgressWatch;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.progress.Standstills;
import io.plumbline.topology.progress.StreamsProbes;
import io.plumbline.topology.reload.ConfigFollower;
import io.plumbline.topology.reload.ConfigReload;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.reload.FirstRead;
import io.plumbline.topology.reload.HostName;
import io.plumbline.topology.reload.ReloadListener;
import io.plumbline.topology.windows.WindowWorkers;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs everything of one process: monitor, adapter or both, a subscriber of published decoders, and the HTTP server.
 *
 * <p>It starts whole or not at all: what was started before a failure is closed again.
 */
public final class PlumblineRuntime implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PlumblineRuntime.class);
    private static final long DECODERS_WAIT_SECONDS = 60;
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(20);

    /**
     * The close option of a member that leaves: one that does not say good-bye keeps its partitions until its session
     * expires, 45 s: as long as a restart would wait.
     */
    private static final CloseOptions GOOD_BYE = CloseOptions.groupMembershipOperation(
                    CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
            .withTimeout(CLOSE_TIMEOUT);

    /** The close option of a static member: it keeps its tasks until its session ends. */
    private static final CloseOptions BACK_SOON = CloseOptions.groupMembershipOperation(
                    CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP)
            .withTimeout(CLOSE_TIMEOUT);

    private final Deque<AutoCloseable> started = new ArrayDeque<>();
    private final CountDownLatch failed = new CountDownLatch(1);
    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
    private @Nullable MonitorServer server;

    /** Takes other configurations over; null until everything is started. */
    private @Nullable Configured configured;

    private volatile boolean brokenByError;

    /**
     * Takes another configuration over.
     *
     * @param monitors whether this process says from which window on one holds
     * @param newestEventMs latest event time that was read, by whatever instance
     */
    private record Configured(
            InForce<Watched> inForce, boolean monitors, LongSupplier newestEventMs, ReloadListener listener) {}

    private PlumblineRuntime() {}

    /**
     * Reads every file, then starts.
     *
     * @throws IOException when a file cannot be read
     * @throws IllegalArgumentException when files do not fit each other
     * @throws StartException as {@link #start(MonitorConfig, Map, Role)}
     */
    public static PlumblineRuntime start(MonitorConfig config, Role role) throws IOException, InterruptedException {
        return start(config, WatchedSite.readAll(config.sites().values()), role);
    }

    /**
     * Starts as {@link #start(MonitorConfig, Future, Role)}.
     *
     * @param sites the sites of the configuration, read and computed
     */
    public static PlumblineRuntime start(MonitorConfig config, Map<String, WatchedSite> sites, Role role)
            throws InterruptedException {
        return start(config, CompletableFuture.completedFuture(sites), role);
    }

    /**
     * Binds the port, prepares the topics and starts.
     *
     * @param sites the sites of the configuration, which may still be computed: they are waited for when the brokers
     *     have answered. What their computation throws is thrown here
     * @throws StartException when the properties do not fit Kafka Streams, a key is none, the kernel asked for is not
     *     there, the port cannot be bound or the broker cannot be reached; nothing was started then
     */
    public static PlumblineRuntime start(MonitorConfig config, Future<Map<String, WatchedSite>> sites, Role role)
            throws InterruptedException {
        List<String> problems = StreamsSettings.problems(config);
        if (!problems.isEmpty()) {
            throw new StartException(String.join("; ", problems));
        }
        requireKeys(config, role);
        PlumblineRuntime runtime = new PlumblineRuntime();
        try {
            runtime.startAll(config, sites, role);
            return runtime;
        } catch (RetriableException e) {
            runtime.close();
            throw e;
        } catch (KafkaException e) {
            runtime.close();
            String connection = BrokerRefusal.connection(config, e);
            throw new StartException(
                    connection == null
                            ? "Kafka's clients cannot be made of the properties under kafka: %s; nothing was started"
                                    .formatted(config.withoutSecrets(BrokerRefusal.root(e)))
                            : connection);
        } catch (InterruptedException | RuntimeException | Error e) {
            runtime.close();
            throw e;
        }
    }

    /** Refuses a key that cannot be read before anything is touched; a monitor need not hold the private one. */
    private static void requireKeys(MonitorConfig config, Role role) {
        try {
            TrustedKeys unusedKeys = config.signing().keys();
            DecoderSigner unused = role.adapts() ? config.signing().signer() : null;
            Map<String, TrustedKeys> unusedApprovers = config.signing().approverKeys();
        } catch (IllegalArgumentException e) {
            throw new StartException(String.valueOf(e.getMessage()));
        }
    }

    private static <T> T computed(Future<T> sites) throws InterruptedException {
        try {
            return sites.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException refused) {
                throw refused;
            }
            if (e.getCause() instanceof Error broken) {
                throw broken;
            }
            throw new IllegalStateException("the sites cannot be read", e.getCause());
        }
    }

    /** Refuses a kernel that cannot be had, and logs which one sums the rows. */
    private static void chooseKernel() {
        UpdateKernels.Choice choice;
        try {
            choice = UpdateKernels.chosen();
        } catch (IllegalStateException e) {
            throw new StartException(String.valueOf(e.getMessage()));
        }
        if (choice.lost()) {
            LOG.warn(
                    "moments are summed slowly: kernel={} reason={}",
                    choice.kernel().name(),
                    Printable.value(choice.reason()));
        } else {
            LOG.info(
                    "the kernel that sums moments is chosen: kernel={} reason={}",
                    choice.kernel().name(),
                    Printable.value(choice.reason()));
        }
    }

    private void startAll(MonitorConfig config, Future<Map<String, WatchedSite>> computing, Role role)
            throws InterruptedException {
        Metrics metrics = own(Metrics.create(
                Metrics.Settings.of(config.window(), config.limits().sites())));
        // A process that starts lives, and is not ready: nobody should restart it for that.
        LateProbe alive = new LateProbe(Optional::empty);
        LateProbe ready = new LateProbe(() -> Optional.of("starting"));
        Console console = own(Console.of(config, ready));
        server = own(listen(config, metrics, alive, ready, config.http().console() ? console : WebPages.NONE));
        DriftListener events = push(config, server.address(), metrics);
        metrics.expectOutputs(OutputGuard.topics());
        Topics.Prepared prepared = Topics.prepare(config, role.applications());
        metrics.lostChangelogs(prepared.lostChangelogs());
        TopicsWatch topicsThere = own(TopicsWatch.start(
                config.adminProperties(),
                config.applicationId() + "-topics-watch",
                Topics.used(config, role.applications()),
                this::stop));
        metrics.expectMissingTopics(topicsThere::missing);
        metrics.expectUnanswered(topicsThere::unansweredSeconds);
        if (role.monitors()) {
            chooseKernel();
        }
        Map<String, WatchedSite> sites = computed(computing);
        metrics.expect(sites.keySet());
        Map<String, WatchedTargets> swapped = WatchedTargets.of(sites);
        metrics.expect(swapped.keySet());
        showModes(config, metrics);
        swapped.forEach((site, blocks) ->
                metrics.decoders().trained(site, blocks.trained().sha256()));
        PublishedDecoders decoders = own(PublishedDecoders.follow(
                config, sites, heard(DecoderListener.class, metrics, metrics.decoders(), console)));
        if (!decoders.awaitCaughtUp(DECODERS_WAIT_SECONDS)) {
            throw new IllegalArgumentException("the decoders topic \"%s\" could not be read to its end within %d s"
                    .formatted(config.topics().decoders(), DECODERS_WAIT_SECONDS));
        }
        if (config.http().console()) {
            console.readReports();
        }
        Probe allAlive = Optional::empty;
        Probe allReady = topicsThere.whole();
        Map<String, BehaviourProbe> probes = own(BehaviourProbes.open(sites)).bySite();
        int waitingPanes = role.monitors()
                ? CapacityEstimate.waitingPanes(
                        config, prepared.allPartitions(), Runtime.getRuntime().maxMemory())
                : 0;
        InForce<Watched> inForce =
                InForce.of(new Watched(role.monitors() ? config.withWaitingPanes(waitingPanes) : config, sites));
        Sources sources = role.monitors()
                ? own(Sources.start(
                        config, prepared, waitingPanes, metrics, sentence -> stop(Application.MONITOR, sentence)))
                : Sources.NONE;
        ReloadListener reloads = heard(
                ReloadListener.class,
                metrics,
                Listeners.both(ReloadListener.class, metrics.configuration(), swapModes(metrics)),
                console);
        configured = new Configured(
                inForce,
                role.monitors(),
                sources::newestMs,
                role.monitors()
                        ? Listeners.both(
                                ReloadListener.class,
                                reloads,
                                own(BaselineVersions.follow(
                                        config, heard(BaselineListener.class, metrics, metrics.baselines(), console))))
                        : reloads);
        if (role.monitors()) {
            Repeats repeats = new Repeats();
            OutputGuard outputs = OutputGuard.of(config.topics(), metrics::outputLeftOut);
            Properties properties = StreamsSettings.monitor(config);
            Topology topology = MonitorTopology.build(
                    inForce,
                    prepared,
                    decoders,
                    new MonitorTopology.Listeners(
                            metrics.countedIngest(console),
                            metrics.countedWindows(console),
                            heard(
                                    DriftListener.class,
                                    metrics,
                                    Listeners.both(DriftListener.class, metrics.pipeline(), events),
                                    console)),
                    repeats,
                    nextOffsets(config, config.monitorApplicationId(), metrics),
                    sources::watch,
                    WindowWorkers.of(threads(properties)),
                    WatchedSite::projections,
                    probes,
                    outputs);
            HeldBackTopics heldBack = sources.heldBack();
            DecidedCommits clients = new DecidedCommits(sources::requireSame).holdingBack(heldBack);
            StreamsSettings.holdBack(properties, heldBack);
            KafkaStreams streams =
                    streams(Application.MONITOR, topology, properties, clients, outputs, config, metrics, topicsThere);
            Map<String, String> topics = new HashMap<>();
            for (ActivationTopic topic : config.activationTopics()) {
                topics.put(MonitorTopology.activations(topic).label(), topic.topic());
            }
            topics.put(NextOffsets.Input.MOMENTS.label(), config.topics().moments());
            if (!config.models().isEmpty()) {
                topics.put(
                        NextOffsets.Input.MODEL_WINDOWS.label(), config.topics().modelWindows());
            }
            Probe moving = watch("monitor", topics, properties, repeats, config, metrics);
            allAlive = allAlive.and(StreamsProbes.alive("monitor", streams, threads(properties)));
            allReady = allReady.and(sources.readable())
                    .and(StreamsProbes.ready("monitor", streams))
                    .and(moving);
        }
        if (role.adapts()) {
            Repeats repeats = new Repeats();
            OutputGuard outputs = OutputGuard.of(config.topics(), metrics::outputLeftOut);
            AdaptationListener listener = heard(AdaptationListener.class, metrics, metrics.adaptations(), console);
            Topology topology = AdapterTopology.build(
                    inForce,
                    decoders,
                    probes,
                    decoders,
                    listener,
                    CommandsAhead.of(config),
                    repeats,
                    nextOffsets(config, config.adapterApplicationId(), metrics),
                    outputs);
            Properties properties = StreamsSettings.adapter(config);
            DecidedCommits clients = new DecidedCommits(() -> {});
            KafkaStreams streams =
                    streams(Application.ADAPTER, topology, properties, clients, outputs, config, metrics, topicsThere);
            Map<String, String> topics = Map.of(
                    NextOffsets.Input.ADAPTATION_REQUESTS.label(),
                    config.topics().adaptationRequests());
            Probe moving = watch("adapter", topics, properties, repeats, config, metrics);
            allAlive = allAlive.and(StreamsProbes.alive("adapter", streams, threads(properties)));
            allReady = allReady.and(StreamsProbes.ready("adapter", streams)).and(moving);
        }
        alive.become(allAlive);
        ready.become(allReady);
    }

    private static void showModes(MonitorConfig config, Metrics metrics) {
        config.swapRules().forEach((site, rules) -> metrics.decoders().configured(site, rules.mode()));
    }

    private static ReloadListener swapModes(Metrics metrics) {
        return new ReloadListener() {
            @Override
            public void onConfiguration(MonitorConfig config, String sha256, @Nullable ConfigVersion version) {
                showModes(config, metrics);
            }
        };
    }

    /** Returns a listener that lets the meters count first and the page show then. */
    private static <T> T heard(Class<T> type, Metrics metrics, T meters, T console) {
        return Listeners.both(type, metrics.guarded(type, meters), console);
    }

    private NextOffsets nextOffsets(MonitorConfig config, String group, Metrics metrics) {
        return new NextOffsets(own(BrokerOffsets.of(config, group)), metrics);
    }

    /** Watches whether the application's committed offsets move. */
    private Probe watch(
            String name,
            Map<String, String> topics,
            Properties properties,
            Repeats repeats,
            MonitorConfig config,
            Metrics metrics) {
        Standstills standstills =
                Standstills.of(name, topics, StreamsSettings.longestBetweenCommits(properties), repeats);
        metrics.observe(standstills);
        String group = properties.getProperty(StreamsConfig.APPLICATION_ID_CONFIG);
        own(ProgressWatch.start(config.subscriberProperties(), group, standstills));
        return standstills.moving();
    }

    /**
     * Pushes what /metrics shows, where somebody asks for that, under the name by which this process can be asked;
     * returns who sends verdicts.
     */
    private DriftListener push(MonitorConfig config, InetSocketAddress served, Metrics metrics) {
        OtlpSettings otlp = config.otlp();
        if (otlp == null) {
            return new DriftListener() {};
        }
        String instance = "%s:%d".formatted(HostName.local(), served.getPort());
        Map<String, String> resource = OtlpPush.resource(config.applicationId(), instance);
        own(OtlpPush.start(otlp, resource, metrics));
        return metrics.events(otlp, resource, this::own);
    }

    /** Listens first of all, so that a port in use is found before anything runs. */
    private static MonitorServer listen(
            MonitorConfig config, Metrics metrics, Probe alive, Probe ready, WebPages pages) {
        try {
            Path file = config.http().webConfig();
            WebConfig web = file == null ? WebConfig.NONE : WebConfig.read(file);
            return MonitorServer.start(config.http(), web, metrics, alive, ready, pages);
        } catch (IOException e) {
            throw new StartException(
                    ("http.bind = %s, http.port = %d: %s; expected an address of this machine and a port that is free "
                                    + "(0: any free one); nothing was started")
                            .formatted(config.http().bind(), config.http().port(), e.getMessage()));
        }
    }

    private KafkaStreams streams(
            Application name,
            Topology topology,
            Properties properties,
            KafkaClientSupplier clients,
            OutputGuard outputs,
            MonitorConfig config,
            Metrics metrics,
            TopicsWatch topics) {
        Properties guarded = StreamsSettings.guarded(properties, outputs);
        KafkaStreams streams =
                inStateDirectory(config.stateDirectory(), () -> new KafkaStreams(topology, guarded, clients));
        keepPrivate(config.stateDirectory());
        streams.setUncaughtExceptionHandler(error -> {
            if (outputs.willLeaveOut(error)) {
                return StreamThreadExceptionResponse.REPLACE_THREAD;
            }
            StreamThreadExceptionResponse response = LostThread.response(name.toString(), error);
            if (response == StreamThreadExceptionResponse.REPLACE_THREAD) {
                return response;
            }
            if (LostThread.isError(error)) {
                brokenByError = true;
            }
            String refusal = BrokerRefusal.sentence(config, name, error);
            stop(name, refusal == null ? LostThread.reason(error, topics::missingNow) : refusal);
            return response;
        });
        streams.setGlobalStateRestoreListener(new RestoreRoom());
        metrics.observe(streams);
        started.push(() -> streams.close(StreamsSettings.isStaticMember(properties) ? BACK_SOON : GOOD_BYE));
        return inStateDirectory(config.stateDirectory(), () -> {
            streams.start();
            return streams;
        });
    }

    /** Ends the wait for a failure with the first reason there was. */
    private void stop(Application name, String reason) {
        failure.compareAndSet(null, "the %s stopped: %s".formatted(name, reason));
        failed.countDown();
    }

    /**
     * Constructs the application in its state directory: Kafka Streams makes the folder when it is constructed and
     * locks it when it is started.
     */
    private static KafkaStreams inStateDirectory(Path directory, Supplier<KafkaStreams> step) {
        try {
            return step.get();
        } catch (StreamsException e) {
            throw new StartException("state.directory = %s cannot be used: %s; %s"
                    .formatted(
                            directory,
                            LostThread.rootMessage(e),
                            BrokerRefusal.innermost(e) instanceof RocksDBException
                                    ? "delete it, the state is read again from the change-logs"
                                    : "name a folder this user may write to, one for each instance"));
        }
    }

    /**
     * Makes a folder private: Kafka Streams lets the group read it; what is in it are sums and samples of activations.
     */
    private static void keepPrivate(Path directory) {
        PosixFileAttributeView view = Files.getFileAttributeView(directory, PosixFileAttributeView.class);
        if (view == null || !Files.isDirectory(directory)) {
            return; // a file system without permissions, or a store that needs no folder
        }
        try {
            view.setPermissions(PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            LOG.warn(
                    "the state folder belongs to another user and keeps its permissions; "
                            + "others may be able to read the state: file={} reason={}",
                    Printable.value(directory),
                    Printable.value(e.getMessage()));
        }
    }

    private static int threads(Properties properties) {
        return Integer.parseInt(String.valueOf(properties.get(StreamsConfig.NUM_STREAM_THREADS_CONFIG)));
    }

    /** Returns the address at which the page, /metrics, /healthz and /readyz are served. */
    public InetSocketAddress httpAddress() {
        return Objects.requireNonNull(server, "started").address();
    }

    /**
     * Takes over what changes of the configuration from here on.
     *
     * @param first what the file said before the sites were read
     * @param log hears what it says of the log
     */
    public void follow(FirstRead first, Consumer<LogSettings> log) throws InterruptedException {
        Configured now = Objects.requireNonNull(configured, "started");
        ConfigReload reload =
                own(ConfigReload.start(first, now.inForce(), now.monitors(), now.newestEventMs(), now.listener(), log));
        own(ConfigFollower.start(first, reload));
    }

    /** Waits until an application stops by itself; returns why, or null when the time is up first. */
    public @Nullable String awaitFailure(long time, TimeUnit unit) throws InterruptedException {
        return failed.await(time, unit) ? failure.get() : null;
    }

    /**
     * Returns whether an application stopped by an {@link Error}, such as no memory left. An orderly stop may then
     * never end; ending at once loses nothing, since what was not committed is read again.
     */
    public boolean isBrokenByError() {
        return brokenByError;
    }

    /** Stops everything, last started first. */
    @Override
    public void close() {
        while (!started.isEmpty()) {
            AutoCloseable one = started.pop();
            try {
                one.close();
            } catch (Exception e) {
                LOG.warn("an error while stopping: reason={}", Printable.value(e.getMessage()), e);
            }
        }
    }

    private <T extends AutoCloseable> T own(T closeable) {
        started.push(closeable);
        return closeable;
    }
}
