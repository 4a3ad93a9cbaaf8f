package io.plumbline.topology.scale;

import io.plumbline.topology.MonitorTopology;
import io.plumbline.topology.Watched;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
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
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.topology.windows.WindowWorkers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/** One monitor with a state folder of its own; several in one JVM are several instances of one application. */
final class MonitorInstance implements AutoCloseable {

    final AtomicLong accumulatedRows = new AtomicLong();
    final AtomicLong lateRows = new AtomicLong();
    final AtomicLong deadLetters = new AtomicLong();
    final AtomicInteger reports = new AtomicInteger();
    final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private final KafkaStreams streams;

    private MonitorInstance(MonitorConfig config, Map<String, WatchedSite> sites, Path state) {
        Watcher watcher = new Watcher();
        Properties properties = StreamsSettings.monitor(config);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        streams = new KafkaStreams(
                MonitorTopology.build(
                        InForce.of(new Watched(config, sites)),
                        Topics.prepare(config),
                        site -> null,
                        new MonitorTopology.Listeners(watcher, watcher, watcher),
                        new Repeats(),
                        NextOffsets.silent(),
                        topic -> SourceWatch.ALWAYS_READ,
                        WindowWorkers.of(2),
                        WatchedSite::projections,
                        Map.of(),
                        OutputGuard.silent(config.topics())),
                properties);
        streams.setUncaughtExceptionHandler(error -> {
            failures.add(error);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
    }

    static MonitorInstance start(MonitorConfig config, Map<String, WatchedSite> sites, Path state) {
        MonitorInstance instance = new MonitorInstance(config, sites, state);
        instance.streams.start();
        return instance;
    }

    /** Returns whether it has tasks of its own and works on them. */
    boolean works() {
        return streams.state() == KafkaStreams.State.RUNNING
                && streams.metadataForLocalThreads().stream()
                        .anyMatch(thread -> !thread.activeTasks().isEmpty());
    }

    @Override
    public void close() {
        streams.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
                .withTimeout(Duration.ofSeconds(60)));
    }

    private final class Watcher implements IngestListener, WindowListener, DriftListener {
        @Override
        public void onAccepted(String site, int rows) {}

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {
            deadLetters.incrementAndGet();
        }

        @Override
        public void onLate(String site, long rows, LateReason reason) {
            lateRows.addAndGet(rows);
        }

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {
            accumulatedRows.addAndGet(rows);
        }

        @Override
        public void onWindowClosed(String site, long rows) {}

        @Override
        public void onReport(WindowReport report, long nanoseconds) {
            reports.incrementAndGet();
        }

        @Override
        public void onSiteReleased(String site) {}
    }
}
