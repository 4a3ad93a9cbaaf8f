package io.plumbline.topology.faults;

import io.plumbline.topology.MonitorTopology;
import io.plumbline.topology.Watched;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.MeasuredWindow;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.DecidedCommits;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.runtime.LostThread;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.topology.windows.WindowWorkers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.ThreadMetadata;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;

/**
 * Runs the monitor as it runs, its topology and its settings, as a program to be killed. Beside the assessor a second
 * child of the composer writes the {@link WindowPrint} of every closed window, in the same transaction.
 *
 * <p>Arguments: configuration file, topic of the prints. Where it kills itself: {@link KillPoint}.
 */
final class FaultedMonitor {

    private FaultedMonitor() {}

    public static void main(String[] arguments) throws Exception {
        MonitorConfig config = MonitorConfig.load(Path.of(arguments[0]));
        Map<String, WatchedSite> sites = new LinkedHashMap<>();
        for (SiteSettings settings : config.sites().values()) {
            sites.put(settings.site(), WatchedSite.read(settings));
        }
        Teller teller = new Teller();
        OutputGuard outputs = OutputGuard.silent(config.topics());
        Topology topology = MonitorTopology.build(
                InForce.of(new Watched(config, sites)),
                Topics.prepare(config),
                site -> null,
                new MonitorTopology.Listeners(teller, teller, teller),
                new Repeats(),
                NextOffsets.silent(),
                topic -> SourceWatch.ALWAYS_READ,
                WindowWorkers.of(2),
                MonitorFolder::projections,
                Map.of(),
                outputs);
        topology.addProcessor("print", Printer::new, "compose");
        topology.addSink("prints", arguments[1], new ByteArraySerializer(), new ByteArraySerializer(), "print");
        run(topology, StreamsSettings.guarded(StreamsSettings.monitor(config), outputs));
    }

    private static void run(Topology topology, Properties properties) throws InterruptedException {
        properties.put(
                StreamsConfig.producerPrefix(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG),
                KillPoint.Sends.class.getName());
        KafkaStreams streams = new KafkaStreams(topology, properties, new DecidedCommits(() -> {}));
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            if (LostThread.response("monitor", error) == StreamThreadExceptionResponse.REPLACE_THREAD) {
                tell("thread replaced: " + error.getMessage());
                return StreamThreadExceptionResponse.REPLACE_THREAD;
            }
            Runtime.getRuntime().halt(3);
            throw new IllegalStateException(error);
        });
        AtomicBoolean ran = new AtomicBoolean();
        streams.setStateListener((now, before) -> {
            tell("state " + now);
            if (now == KafkaStreams.State.RUNNING) {
                ran.set(true);
            }
            if (now == KafkaStreams.State.REBALANCING && ran.get()) {
                KillPoint.passed("rebalancing");
            }
        });
        streams.setGlobalStateRestoreListener(new Restores());
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            clock.shutdownNow();
            boolean closed = streams.close(
                    CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
                            .withTimeout(Duration.ofSeconds(60)));
            tell(closed ? "left" : "did not close in time");
        }));
        streams.start();
        AtomicReference<String> last = new AtomicReference<>("");
        ScheduledFuture<?> unused = clock.scheduleWithFixedDelay(
                () -> {
                    String tasks = tasks(streams);
                    if (!tasks.equals(last.getAndSet(tasks))) {
                        tell(tasks);
                    }
                },
                100,
                100,
                TimeUnit.MILLISECONDS);
        new CountDownLatch(1).await();
    }

    private static String tasks(KafkaStreams streams) {
        TreeSet<String> active = new TreeSet<>();
        TreeSet<String> standby = new TreeSet<>();
        for (ThreadMetadata thread : streams.metadataForLocalThreads()) {
            thread.activeTasks().forEach(task -> active.add(task.taskId().toString()));
            thread.standbyTasks().forEach(task -> standby.add(task.taskId().toString()));
        }
        return "tasks active %s standby %s".formatted(active, standby);
    }

    /** Tells the parent one line. */
    static void tell(String event) {
        // One write, so that lines of several threads do not mix.
        byte[] line = (ChildJvm.EVENT + event + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(line, 0, line.length);
        System.out.flush();
    }

    private static final class Printer extends ContextualProcessor<String, MeasuredWindow, byte[], byte[]> {
        @Override
        public void process(Record<String, MeasuredWindow> record) {
            KillPoint.passed("print");
            ClosedWindow window = record.value().window();
            WindowPrint print = WindowPrint.of(
                    window.startMs(),
                    window.moment().rows(),
                    window.moment().state(),
                    Objects.requireNonNull(window.requestTotals(), "a window without request totals"),
                    window.notes().coverage().served(),
                    window.complete());
            context()
                    .forward(new Record<>(
                            window.site().getBytes(StandardCharsets.UTF_8),
                            AccountPrint.append(print.encode(), window.account()),
                            record.timestamp()));
        }
    }

    /** Tells how much was restored. */
    private static final class Restores implements StateRestoreListener {
        @Override
        public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
            tell("restoring %s-%d: %d".formatted(store, partition.partition(), to - from));
        }

        @Override
        public void onBatchRestored(TopicPartition partition, String store, long offset, long restored) {
            KillPoint.passed("restore-" + store);
        }

        @Override
        public void onRestoreEnd(TopicPartition partition, String store, long restored) {
            tell("restored %s-%d: %d".formatted(store, partition.partition(), restored));
        }
    }

    private record Teller() implements IngestListener, WindowListener, DriftListener {
        @Override
        public void onAccepted(String site, int rows) {}

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {}

        @Override
        public void onLate(String site, long rows, LateReason reason) {
            tell("late %s %s %d".formatted(reason, site, rows));
        }

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {
            KillPoint.passed("accumulated");
        }

        @Override
        public void onWindowClosed(String site, long rows) {}

        @Override
        public void onReport(WindowReport report, long nanoseconds) {}

        @Override
        public void onSiteReleased(String site) {}
    }
}
