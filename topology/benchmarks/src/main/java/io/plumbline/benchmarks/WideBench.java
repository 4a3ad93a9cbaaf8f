package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchSite.Size;
import io.plumbline.benchmarks.operators.Figures;
import io.plumbline.benchmarks.operators.Figures.Unit;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.MomentRecord;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Measures one wide site of 24,576 features from its rows, or moments, to a new decoder and through a kill, with the
 * monitor and its adapter in a process of their own.
 *
 * <p>Three windows, each of rows in other directions than the one before: a large one, read as fast as it can be; one
 * of as many rows as a refit takes; and one that the process is killed in the middle of.
 */
final class WideBench {

    private static final int FEATURES = 24_576;
    private static final int RANK = 64;
    private static final int QUICK_FEATURES = 1_024;
    private static final int QUICK_RANK = 4;

    /** The bytes of the large window as rows of BF16. */
    private static final int LARGE_BYTES = 256 << 20;

    private static final int QUICK_BYTES = 1 << 20;
    private static final int ROWS_A_MOMENT = 2_048;
    private static final int SAMPLED_OF_A_MOMENT = 512;
    /** The setting for one partition: each more thread would be one more window that is assessed at a time. */
    private static final String ONE_THREAD = "monitor.num.stream.threads: 1";

    private static final long PATIENCE_SECONDS = 1_800;
    private static final Duration POLL = Duration.ofMillis(20);
    private static final double MEGABYTE = 1e6;

    private final BenchPlan plan;
    private final Bench bench;
    private final @Nullable Path csv;
    private final PrintWriter out;

    /** @param csv takes the figures of each site once it is measured, and says which were; null: nothing is kept */
    WideBench(BenchPlan plan, Bench bench, @Nullable Path csv, PrintWriter out) {
        this.plan = plan;
        this.bench = bench;
        this.csv = csv;
        this.out = out;
    }

    /** How a site's rows arrive. */
    private enum Road {
        ROWS,
        MOMENTS;

        @Override
        public String toString() {
            return this == ROWS ? "rows" : "moments";
        }
    }

    void run() throws IOException, InterruptedException {
        for (int d : plan.widths()) {
            Size size = plan.quick()
                    ? new Size(d, QUICK_FEATURES, QUICK_RANK)
                    : new Size(d, FEATURES, Math.min(RANK, d / 8));
            Path folder = bench.folder("wide-" + d);
            boolean written = false;
            for (Road road : Road.values()) {
                String what = "site of %s, r = %d, by %s".formatted(size, size.rank(), road);
                if (csv != null && Figures.has(csv, what)) {
                    bench.next(what + ": in %s already".formatted(csv));
                    continue;
                }
                if (!written) {
                    bench.next("a dictionary and a baseline of %s".formatted(size));
                    SiteProcess.write(folder, size, heap(size, 7));
                    written = true;
                }
                bench.next(what);
                Figures figures = new Figures();
                new Run(size, road, folder, what, figures).run();
                figures.print(out);
                if (csv != null) {
                    figures.append(csv);
                }
            }
        }
    }

    /** Returns a heap for so many matrices of the decoder's size, and 3 GB. */
    private static String heap(Size size, int decoders) {
        long bytes = (3L << 30) + (long) decoders * Float.BYTES * size.d() * size.features();
        return Long.toString(bytes >> 20) + "m";
    }

    /** Writes a site's files in a process of its own, whose memory is free again before they are read. */
    static final class SiteProcess {

        /** How much longer the first column of the dictionary is than the others; the first r fall to half of it. */
        private static final double FIRST_SCALE = 4.0;

        private SiteProcess() {}

        static void write(Path folder, Size size, String heap) throws IOException {
            ChildProcess.start(
                            SiteProcess.class,
                            heap,
                            folder.resolve("site.log"),
                            List.of(
                                    folder.toString(),
                                    Integer.toString(size.d()),
                                    Integer.toString(size.features()),
                                    Integer.toString(size.rank())))
                    .close();
        }

        /** Runs the other process. */
        public static void main(String[] arguments) throws IOException {
            int[] n =
                    Arrays.stream(arguments).skip(1).mapToInt(Integer::parseInt).toArray();
            Size size = new Size(n[0], n[1], n[2]);
            var unused = BenchSite.fitted(
                    Path.of(arguments[0]),
                    size,
                    BenchSite.randomWeights(size, column -> scale(column, size.rank())),
                    SwapBench.RECORDS,
                    record -> SwapBench.rows(size, 0, record));
            ChildProcess.up("");
            ChildProcess.awaitTheEnd();
        }

        private static double scale(int column, int rank) {
            return column < rank ? FIRST_SCALE * (1.0 - 0.5 * column / rank) : 1.0;
        }
    }

    /** One site on one road. */
    private final class Run {

        private final Size size;
        private final Road road;
        private final Path folder;
        private final String what;
        private final Figures figures;
        private final String run = bench.nextRun();
        private final String activations = run + "-activations";
        private final Map<String, double[]> seconds = new LinkedHashMap<>();
        private final BlockingQueue<Long> served = new LinkedBlockingQueue<>();
        private final AtomicReference<@Nullable Exception> refused = new AtomicReference<>();
        private final Map<Integer, Long> sent = new HashMap<>();

        // Of the window under way, in nanoseconds of arrival.
        private @Nullable Long reported;
        private @Nullable AdaptationReport adapted;

        private @Nullable MonitorProcess running;

        Run(Size size, Road road, Path folder, String what, Figures figures) {
            this.size = size;
            this.road = road;
            this.folder = folder;
            this.what = what;
            this.figures = figures;
        }

        /** Returns the rows of a window that were sent so far. */
        private long sent(int window) {
            return sent.getOrDefault(window, 0L);
        }

        private String yaml() {
            return BenchSite.yaml(
                    bench.bootstrapServers(),
                    run,
                    ONE_THREAD,
                    activations,
                    SwapBench.window(SwapBench.SAMPLED_ROWS),
                    List.of(BenchSite.NAME),
                    SwapBench.watched(size));
        }

        private MonitorProcess start(String name) throws IOException {
            next("starting the monitor and its adapter");
            long begin = System.nanoTime();
            MonitorProcess monitor = MonitorProcess.start(
                    folder, yaml(), WideBench.heap(size, 14), folder.resolve(run + "-" + name + ".log"));
            seconds.put("start, " + name, new double[] {since(begin)});
            running = monitor;
            return monitor;
        }

        private void next(String does) {
            bench.next(what + ": " + does);
        }

        @SuppressWarnings("try") // the subscriber is held open, not used
        void run() throws IOException, InterruptedException {
            long largest = MomentRecord.largestBytes(size.d(), size.d(), false, SwapBench.SAMPLED_ROWS);
            bench.createTopic(activations, 1, Map.of("max.message.bytes", Long.toString(largest)));
            Map<String, Object> producing = Map.of(
                    "bootstrap.servers",
                    bench.bootstrapServers(),
                    "max.request.size",
                    (int) Math.max(largest, 1 << 20),
                    "buffer.memory",
                    Math.max(2 * largest, 32 << 20),
                    // Moments of hundreds of megabytes, on a busy machine.
                    "request.timeout.ms",
                    "300000",
                    "delivery.timeout.ms",
                    "900000");
            Properties clients = new Properties();
            clients.put("bootstrap.servers", bench.bootstrapServers());
            try (KafkaProducer<String, byte[]> producer =
                    new KafkaProducer<>(producing, new StringSerializer(), new ByteArraySerializer())) {
                next("filling a topic");
                int records = (plan.quick() ? QUICK_BYTES : LARGE_BYTES)
                        / (DType.BF16.bytes() * size.d() * SwapBench.ROWS_A_RECORD);
                send(producer, 0, 0, 1);
                fill(producer, 0, records);
                flush(producer);
                try (MonitorProcess first = start("first");
                        DecoderSubscriber subscriber = DecoderSubscriber.start(
                                clients,
                                run + "-decoders",
                                DecoderSubscription.everything(),
                                published -> served.add(System.nanoTime()));
                        TopicReader reports =
                                TopicReader.open(Map.of("bootstrap.servers", bench.bootstrapServers()), Map.of())) {
                    reports.assign(List.of(
                            new TopicPartition(run + "-reports", 0), new TopicPartition(run + "-adaptations", 0)));
                    next("reading %,d rows".formatted(sent(0)));
                    rate(first);
                    changeLog();
                    close(producer, reports, 0, "large window");
                    fill(producer, 1, SwapBench.RECORDS);
                    flush(producer);
                    awaitRows(first, sent(0) + sent(1));
                    close(producer, reports, 1, "window of %,d rows".formatted(sent(1)));
                    fill(producer, 2, SwapBench.RECORDS / 2);
                    flush(producer);
                    awaitRows(first, sent(0) + sent(1) + sent(2));
                    measureHeap(first);
                    killAndRestart(producer, reports, first);
                }
            }
            figures.add(what, Unit.SECONDS, seconds);
        }

        private void killAndRestart(KafkaProducer<String, byte[]> producer, TopicReader reports, MonitorProcess first)
                throws IOException, InterruptedException {
            next("killing it");
            first.kill();
            long killed = System.nanoTime();
            fill(producer, 2, SwapBench.RECORDS - SwapBench.RECORDS / 2);
            flush(producer);
            try (MonitorProcess second = start("after a kill")) {
                awaitRows(second, 1);
                seconds.put("kill to reading again", new double[] {since(killed)});
                close(producer, reports, 2, "window of the kill");
            }
        }

        private void rate(MonitorProcess monitor) throws IOException, InterruptedException {
            RateMeter meter = new RateMeter();
            long begin = System.nanoTime();
            double seen = 0.0;
            while (seen < sent(0)) {
                requireTime(begin);
                TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
                seen = MonitorRun.sum(MonitorRun.page(monitor.metrics()), MonitorRun.ROWS);
                meter.at(System.nanoTime(), seen);
            }
            figures.add(what, Unit.ROWS_PER_SECOND, Map.of("read", new double[] {meter.hotRate()}));
            seconds.put("reading the large window", new double[] {meter.seconds()});
        }

        private void awaitRows(MonitorProcess monitor, long rows) throws IOException, InterruptedException {
            long begin = System.nanoTime();
            while (MonitorRun.sum(MonitorRun.page(monitor.metrics()), MonitorRun.ROWS) < rows) {
                requireTime(begin);
                TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
            }
        }

        private void changeLog() throws IOException, InterruptedException {
            // A commit ends 5 s after it began to wait.
            TimeUnit.SECONDS.sleep(6);
            Map<String, double[]> written = new LinkedHashMap<>();
            bench.topicBytes().forEach((topic, bytes) -> {
                if (topic.startsWith(run) && bytes > MEGABYTE) {
                    written.put(topic.substring(run.length() + 1), new double[] {bytes / MEGABYTE});
                }
            });
            figures.add(what + ", written to topics", Unit.MEGABYTES, written);
        }

        private void measureHeap(MonitorProcess monitor) throws IOException {
            MonitorProcess.Heap heap = monitor.heap();
            Map<String, double[]> megabytes = new LinkedHashMap<>();
            megabytes.put("heap after a collection, a pane open", new double[] {heap.used() / MEGABYTE});
            megabytes.put("held, by check", new double[] {heap.estimated() / MEGABYTE});
            megabytes.put("least heap, by check", new double[] {heap.least() / MEGABYTE});
            figures.add(what + ", memory", Unit.MEGABYTES, megabytes);
        }

        /** Ends a window and waits until it is reported and a decoder fitted to it has arrived. */
        private void close(KafkaProducer<String, byte[]> producer, TopicReader reports, int window, String name)
                throws IOException, InterruptedException {
            next(name + " closes");
            reported = null;
            adapted = null;
            Long arrived = null;
            send(producer, window + 1, 0, 1);
            flush(producer);
            long begin = System.nanoTime();
            while (arrived == null || reported == null || adapted == null) {
                requireTime(begin);
                reports.poll(POLL).forEach(this::hear);
                arrived = arrived == null ? served.poll() : arrived;
            }
            AdaptationReport refit = adapted;
            if (refit.rows() != sent(window)) {
                throw new IllegalStateException(
                        "%,d rows were sent, the window has %,d".formatted(sent(window), refit.rows()));
            }
            seconds.put(name + ", close to report", new double[] {(reported - begin) / 1e9});
            seconds.put(name + ", refit", new double[] {refit.seconds()});
            seconds.put(name + ", report to decoder", new double[] {(arrived - reported) / 1e9});
        }

        private void hear(ConsumerRecord<byte[], byte[]> record) {
            if (record.topic().equals(run + "-reports")) {
                WindowReport report = Json.read(record.value(), WindowReport.class);
                if (!report.inService().adaptationRequested()) {
                    throw new IllegalStateException("no refit was asked for: %s, %s"
                            .formatted(
                                    report.judged().verdict(), report.judged().reason()));
                }
                reported = System.nanoTime();
            } else {
                AdaptationReport report = Json.read(record.value(), AdaptationReport.class);
                if (report.outcome() != Outcome.PUBLISHED) {
                    throw new IllegalStateException(
                            "no decoder was published: %s, %s".formatted(report.outcome(), report.reason()));
                }
                adapted = report;
            }
        }

        /** Sends so many records of rows, or moments of as many rows. */
        private void fill(KafkaProducer<String, byte[]> producer, int window, int records) {
            int from = (int) (sent(window) / SwapBench.ROWS_A_RECORD);
            if (road == Road.ROWS) {
                send(producer, window, from, records);
                return;
            }
            int together = ROWS_A_MOMENT / SwapBench.ROWS_A_RECORD;
            for (int first = 0; first < records; first += together) {
                sendMoment(producer, window, from + first, Math.min(together, records - first));
            }
        }

        private void send(KafkaProducer<String, byte[]> producer, int window, int from, int records) {
            for (int record = from; record < from + records; record++) {
                Matrix rows = SwapBench.rows(size, 1 + window, record);
                send(
                        producer,
                        window,
                        SafetensorsWriter.create()
                                .add("activations", DType.BF16, rows)
                                .toBytes(),
                        rows.rows());
            }
        }

        private void sendMoment(KafkaProducer<String, byte[]> producer, int window, int from, int records) {
            List<byte[]> values = new ArrayList<>();
            MomentAccumulator.Settings settings = new MomentAccumulator.Settings(
                    size.d(),
                    null,
                    RowMask.NONE,
                    SwapBench.WINDOW_MS,
                    0,
                    SAMPLED_OF_A_MOMENT,
                    DType.F32,
                    Long.MAX_VALUE);
            MomentAccumulator.Sink sink = (time, value, headers) -> values.add(Objects.requireNonNull(value));
            try (MomentAccumulator moment = MomentAccumulator.of(settings, sink)) {
                for (int record = from; record < from + records; record++) {
                    moment.add(
                            new ActivationBatch(SwapBench.rows(size, 1 + window, record), null, null),
                            null,
                            time(window));
                }
            }
            values.forEach(value -> send(producer, window, value, records * SwapBench.ROWS_A_RECORD));
            flush(producer);
        }

        private void send(KafkaProducer<String, byte[]> producer, int window, byte[] value, int rows) {
            sent.merge(window, (long) rows, Long::sum);
            var unused = producer.send(
                    new ProducerRecord<>(activations, 0, time(window), BenchSite.NAME, value),
                    (metadata, e) -> refused.compareAndSet(null, e));
        }

        private static long time(int window) {
            return ActivationsTopic.FIRST_MS + (long) window * SwapBench.WINDOW_MS;
        }

        private void flush(KafkaProducer<String, byte[]> producer) {
            producer.flush();
            Exception first = refused.get();
            if (first != null) {
                throw new IllegalStateException("a record could not be sent: " + first.getMessage(), first);
            }
        }

        private void requireTime(long begin) {
            if (running == null || !running.isAlive()) {
                throw new IllegalStateException("the monitor ended, its log lies in %s".formatted(folder));
            }
            if (since(begin) > PATIENCE_SECONDS) {
                throw new IllegalStateException(
                        "nothing came of it in %,d s; see %s".formatted(PATIENCE_SECONDS, folder));
            }
        }

        private static double since(long begin) {
            return (System.nanoTime() - begin) / 1e9;
        }
    }
}
