package io.plumbline.topology.windows;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.requests.RequestProjection;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.ingest.IngestTask;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.RecordReader;
import io.plumbline.topology.ingest.RefusedRecords;
import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.panes.WindowSettings;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;

/**
 * Runs both levels of this stage for any number of source partitions: a test driver knows one, so each partition has a
 * driver of its own, and what it sends is given the partition it stands for before level 2 takes it. Wall clocks go
 * together.
 */
public final class WindowPipeline implements AutoCloseable {

    public static final String SITE = "blocks.7";

    /** Another site, which the pipelines have that are made for it. */
    static final String OTHER = "blocks.3";

    public static final int WIDTH = 5;
    static final long WALL_START = 1_800_000_000_000L;
    private static final int PARTITION_AT = 10;

    /** The projection, of integers, so that sums are exact. */
    static final RequestProjection PROJECTION = RequestProjection.of(ActivationRecords.integerRows(3, 2, WIDTH));

    /** The most records that a pane of a partition takes. */
    static final int MOST_RECORDS = 200;

    /** The number of requests whose totals are kept, in a pane and in a window. */
    static final int REQUESTS = 6;

    public final List<ClosedWindow> windows = new ArrayList<>();
    public final Map<LateReason, Long> late = new EnumMap<>(LateReason.class);
    final List<Integer> givenUp = new ArrayList<>();
    public long rowsAccepted;
    long deadLetters;
    public final List<DeadLetter.Reason> refusals = new ArrayList<>();
    long moments;
    long repeated;
    final List<Long> stalls = new ArrayList<>();

    /** The number of windows whose panes were added together. */
    final AtomicInteger composed = new AtomicInteger();

    /** The newest account, also where no window closed. */
    public RowAccount account = new RowAccount(0, 0, 0, Map.of(), Map.of(), 0);

    private long nowMs = WALL_START;

    private final List<TopologyTestDriver> readers = new ArrayList<>();
    private final List<Deque<TestRecord<byte[], byte[]>>> underWay = new ArrayList<>();
    private final TopologyTestDriver composer;

    public WindowPipeline(WindowSettings settings, int partitions, Path folder) {
        this(settings, partitions, folder, SourceWatch.ALWAYS_READ);
    }

    public WindowPipeline(WindowSettings settings, int partitions, Path folder, SourceWatch watch) {
        this(settings, partitions, folder, watch, RowMask.NONE);
    }

    public WindowPipeline(WindowSettings settings, int partitions, Path folder, SourceWatch watch, RowMask mask) {
        this(settings, partitions, folder, watch, mask, WindowWork.NONE, WindowWorkers.none());
    }

    public WindowPipeline(
            WindowSettings settings,
            int partitions,
            Path folder,
            SourceWatch watch,
            RowMask mask,
            WindowWork<ClosedWindow> work,
            Executor workers) {
        this(settings, partitions, folder, watch, mask, work, workers, List.of(SITE), Integer.MAX_VALUE);
    }

    /** Returns a pipeline that watches {@link #OTHER} beside {@link #SITE}. */
    static WindowPipeline ofTwoSites(
            WindowSettings settings, int partitions, Path folder, SourceWatch watch, int waitingPanes) {
        return new WindowPipeline(
                settings,
                partitions,
                folder,
                watch,
                RowMask.NONE,
                WindowWork.NONE,
                WindowWorkers.none(),
                List.of(SITE, OTHER),
                waitingPanes);
    }

    private WindowPipeline(
            WindowSettings settings,
            int partitions,
            Path folder,
            SourceWatch watch,
            RowMask mask,
            WindowWork<ClosedWindow> work,
            Executor workers,
            List<String> sites,
            int waitingPanes) {
        Watcher watcher = new Watcher();
        Map<String, SiteShape> shapes = new HashMap<>();
        Map<String, Integer> widths = new HashMap<>();
        for (String site : sites) {
            shapes.put(site, new SiteShape(site, WIDTH, WIDTH, false, mask));
            widths.put(site, WIDTH);
        }
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        ByteArraySerializer out = new ByteArraySerializer();
        WindowStage stage = null;
        for (int partition = 0; partition < partitions; partition++) {
            int own = partition;
            stage = new WindowStage(
                    settings,
                    StoreKind.MEMORY,
                    widths,
                    16,
                    new RequestTotalling(Map.of(SITE, PROJECTION), REQUESTS),
                    Map.of(),
                    watcher,
                    Map.of());
            WindowStage.Source source = new WindowStage.Source(
                    WindowStage.PANES_STORE, widths.keySet(), partitions, ofDriver -> watch.sight(own));
            Topology topology = new Topology();
            topology.addSource("activations-source", in, in, "activations");
            topology.addProcessor(
                    "ingest",
                    IngestTask.supplier(
                            new RecordReader(shapes, Limits.DEFAULT),
                            Limits.DEFAULT,
                            stage.admission(source, MOST_RECORDS),
                            watcher,
                            "accumulate",
                            new RefusedRecords("refused", 1_000_000, watcher)),
                    "activations-source");
            topology.addProcessor("accumulate", stage.accumulator(source, Limits.DEFAULT.ahead()), "ingest");
            topology.connectProcessorAndStateStores("ingest", WindowStage.PANES_STORE);
            topology.addSink("refused", "dead-letters", out, out, "ingest");
            topology.addSink("closed-panes", "moments", out, out, "accumulate");
            readers.add(driver(topology, folder.resolve("reader-" + partition)));
            underWay.add(new ArrayDeque<>());
        }
        Topology topology = new Topology();
        topology.addSource("moments-source", in, in, "moments");
        topology.addProcessor("compose", stage.composer(work, workers, waitingPanes), "moments-source");
        topology.addProcessor("collect", () -> new Collector(windows), "compose");
        composer = driver(topology, folder.resolve("composer"));
    }

    private static TopologyTestDriver driver(Topology topology, Path state) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "windows");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:9092");
        properties.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        properties.put("processing.exception.handler.global.enabled", true);
        return new TopologyTestDriver(topology, properties, Instant.ofEpochMilli(WALL_START));
    }

    /** Gives a record to level 1; what that sends stays under way until {@link #deliver}. */
    public Matrix read(int partition, long seed, int rows, long timestampMs) {
        Matrix values = ActivationRecords.integerRows(seed, rows, WIDTH);
        read(SITE, partition, ActivationRecords.blob(values), timestampMs);
        return values;
    }

    public void read(String site, int partition, byte[] value, long timestampMs) {
        read(site, (String) null, partition, value, timestampMs);
    }

    /** Reads a record of a request of this name. */
    public void read(String site, @Nullable String request, int partition, byte[] value, long timestampMs) {
        RecordHeaders headers = new RecordHeaders();
        if (request != null) {
            headers.add("request", request.getBytes(StandardCharsets.UTF_8));
        }
        read(site, headers, partition, value, timestampMs);
    }

    /** Reads a record that counts once, however often it comes. */
    void readOnce(String id, int partition, byte[] value, long timestampMs) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("record_id", id.getBytes(StandardCharsets.UTF_8));
        read(SITE, headers, partition, value, timestampMs);
    }

    /** Reads a record with further headers. */
    public void readWith(Map<String, String> said, int partition, byte @Nullable [] value, long timestampMs) {
        RecordHeaders headers = new RecordHeaders();
        said.forEach((name, text) -> headers.add(name, text.getBytes(StandardCharsets.UTF_8)));
        read(SITE, headers, partition, value, timestampMs);
    }

    private void read(String site, RecordHeaders headers, int partition, byte @Nullable [] value, long timestampMs) {
        headers.add("site", site.getBytes(StandardCharsets.UTF_8));
        readers.get(partition)
                .createInputTopic("activations", new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(new TestRecord<>(new byte[] {7}, value, headers, Instant.ofEpochMilli(timestampMs)));
        collect(partition);
    }

    private void collect(int partition) {
        underWay.get(partition)
                .addAll(readers.get(partition)
                        .createOutputTopic("moments", new ByteArrayDeserializer(), new ByteArrayDeserializer())
                        .readRecordsToList());
    }

    /** Lets level 2 take everything of one partition that is under way. */
    public void deliver(int partition) {
        deliver(partition, underWay.get(partition).size());
    }

    /** Lets level 2 take the first messages of one partition that are under way. */
    public void deliver(int partition, int messages) {
        for (int i = 0; i < messages; i++) {
            TestRecord<byte[], byte[]> sent = underWay.get(partition).remove();
            byte[] message = sent.value().clone();
            ByteBuffer.wrap(message).putInt(PARTITION_AT, partition);
            composer.createInputTopic("moments", new ByteArraySerializer(), new ByteArraySerializer())
                    .pipeInput(sent.key(), message);
        }
    }

    /** Loses the first {@code messages} of a partition that are under way. */
    public void lose(int partition, int messages) {
        for (int i = 0; i < messages; i++) {
            underWay.get(partition).remove();
        }
    }

    /** Gives level 2 a message that no partition of this pipeline sent. */
    public void compose(String site, PaneMessage message) {
        composer.createInputTopic("moments", new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(site.getBytes(StandardCharsets.UTF_8), message.encode(PaneMessage.application("windows")));
    }

    public void deliverAll() {
        for (int partition = 0; partition < readers.size(); partition++) {
            deliver(partition);
        }
    }

    /** Lets wall-clock time pass second by second, delivering all the while. */
    public void passSeconds(int seconds) {
        for (int second = 0; second < seconds; second++) {
            for (int partition = 0; partition < readers.size(); partition++) {
                readers.get(partition).advanceWallClockTime(Duration.ofSeconds(1));
                collect(partition);
            }
            nowMs += 1_000;
            deliverAll();
            composer.advanceWallClockTime(Duration.ofSeconds(1));
        }
    }

    /** Lets time pass at level 2 alone: nothing is heard of any partition. */
    void passSecondsWithout(int seconds) {
        for (int second = 0; second < seconds; second++) {
            composer.advanceWallClockTime(Duration.ofSeconds(1));
        }
    }

    long nowMs() {
        return nowMs;
    }

    /** Lets hours pass at level 2, each in one step. */
    public void passHours(int hours) {
        for (int hour = 0; hour < hours; hour++) {
            composer.advanceWallClockTime(Duration.ofHours(1));
        }
    }

    /** Passes the time like {@link #passSeconds} for level 1 alone; what it sends stays under way. */
    public List<PaneMessage> passSecondsAtLevelOne(int partition, int seconds) {
        for (int second = 0; second < seconds; second++) {
            readers.get(partition).advanceWallClockTime(Duration.ofSeconds(1));
        }
        collect(partition);
        return underWay.get(partition).stream()
                .map(sent -> PaneMessage.decode(sent.value(), PaneMessage.application("windows")))
                .toList();
    }

    /** Returns the late rows by what the listeners were told. */
    long lateRows() {
        return late.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the state of level 2. */
    PaneStore<SiteProgress> state() {
        @SuppressWarnings("unchecked")
        PaneStore<SiteProgress> store = (PaneStore<SiteProgress>) composer.getStateStore(WindowStage.WINDOWS_STORE);
        return store;
    }

    public RowAccount lastAccount() {
        return windows.get(windows.size() - 1).account();
    }

    @Override
    public void close() {
        readers.forEach(TopologyTestDriver::close);
        composer.close();
    }

    private final class Watcher implements IngestListener, WindowListener {
        @Override
        public void onAccepted(String site, int rows) {
            rowsAccepted += rows;
        }

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {
            deadLetters++;
            refusals.add(reason);
        }

        @Override
        public void onMoment(String site) {
            moments++;
        }

        @Override
        public void onRepeated(String site) {
            repeated++;
        }

        @Override
        public void onLate(String site, long rows, LateReason reason) {
            late.merge(reason, rows, Long::sum);
        }

        @Override
        public void onAccount(String site, RowAccount newest) {
            account = newest;
        }

        @Override
        public void onStall(long nanoseconds) {
            stalls.add(nanoseconds);
        }

        @Override
        public void onComposed(long nanoseconds) {
            composed.incrementAndGet();
        }

        @Override
        public void onGivenUp(String site, int partition) {
            givenUp.add(partition);
        }

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {}

        @Override
        public void onWindowClosed(String site, long rows) {}
    }

    private record Collector(List<ClosedWindow> windows) implements Processor<String, ClosedWindow, Void, Void> {
        @Override
        public void process(Record<String, ClosedWindow> record) {
            windows.add(record.value());
        }
    }
}
