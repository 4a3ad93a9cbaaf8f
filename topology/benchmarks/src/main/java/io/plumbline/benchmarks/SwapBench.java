package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchSite.Size;
import io.plumbline.benchmarks.operators.Figures;
import io.plumbline.benchmarks.operators.Figures.Unit;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Measures the time from the verdict that a site has drifted to the verified decoder in a subscriber, through a broker,
 * as an operator has it: a monitor, its adapter and a subscriber in this process, and the refit the paper prints.
 *
 * <p>The rows of a window live in as many directions as are compared: in others each time, so that a refit is worth
 * making again.
 */
final class SwapBench {

    private static final Size SMALL = new Size(64, 1_024, 4);

    /** The number of rows of a window that are kept for a refit, and sent in one. */
    static final int SAMPLED_ROWS = 2_048;

    static final int ROWS_A_RECORD = 32;
    static final int RECORDS = SAMPLED_ROWS / ROWS_A_RECORD;
    static final int WINDOW_MS = 10_000;
    private static final double LOUD = 3.0;
    private static final double FAINT = 0.1;
    private static final double OFFSET = 0.5;
    private static final long PATIENCE_SECONDS = 300;
    private static final Duration POLL = Duration.ofMillis(5);

    private final BenchPlan plan;
    private final Bench bench;
    private final Figures figures;

    SwapBench(BenchPlan plan, Bench bench, Figures figures) {
        this.plan = plan;
        this.bench = bench;
        this.figures = figures;
    }

    void run() throws IOException, InterruptedException {
        swaps(plan.quick() ? SMALL : Size.GPT2);
        if (plan.largeRefit()) {
            swaps(Size.PYTHIA);
        }
    }

    private void swaps(Size size) throws IOException, InterruptedException {
        String what = "drift to decoder, %s, r = %d".formatted(size, size.rank());
        bench.next(what + ": writing a dictionary and a baseline");
        BenchSite site =
                BenchSite.fitted(bench.folder("swap-" + size.d()), size, RECORDS, record -> rows(size, 0, record));
        bench.next(what);
        // One before those that count shows what the first costs.
        List<Swap> swaps = new Run(size, site, config(site, size)).swaps(1 + plan.rounds());
        figures.note("%s: seconds from the verdict (of them the refit): %s; the first does not count"
                .formatted(
                        what,
                        swaps.stream()
                                .map(swap -> "%.2f (%.2f)".formatted(swap.fromVerdict(), swap.refit()))
                                .collect(Collectors.joining(", "))));
        double[] fromVerdict =
                swaps.stream().skip(1).mapToDouble(Swap::fromVerdict).toArray();
        figures.add(what, Unit.SECONDS, Map.of("plumbline", fromVerdict));
    }

    /** Returns rows with most of their energy in as many directions as are compared: others for each kind. */
    static Matrix rows(Size size, int kind, int record) {
        SplittableRandom random = new SplittableRandom(1_000L * kind + record);
        Matrix rows = Matrix.zeros(ROWS_A_RECORD, size.d());
        int directions = size.d() / size.rank();
        int first = kind % directions * size.rank();
        for (int i = 0; i < ROWS_A_RECORD; i++) {
            for (int j = 0; j < size.d(); j++) {
                boolean loud = j >= first && j < first + size.rank();
                double mean = loud && kind != 0 ? OFFSET : 0.0;
                rows.set(i, j, (float) (mean + (loud ? LOUD : FAINT) * random.nextGaussian()));
            }
        }
        return rows;
    }

    /** Returns a configuration with every window a drifted one, and a gate that lets pass what reconstructs better. */
    private MonitorConfig config(BenchSite site, Size size) {
        String run = bench.nextRun();
        return site.config(bench, run, "", run + "-activations", window(SAMPLED_ROWS), watched(size));
    }

    /** Returns the lines of windows that end when the next begins. */
    static String window(int sampledRows) {
        return """
                window: {size: %1$dms, advance: %1$dms, grace: 0s, idle_close: off}
                sample: {rows: %2$d}""".formatted(WINDOW_MS, sampledRows);
    }

    /** Returns the entries of a site whose every window asks for a refit that is published. */
    static String watched(Size size) {
        return """
                rank: %1$d, threshold: {share: 0.01}, clear: {share: 0.005}, debounce: 1 of 1, cooldown: 0s,
                   adaptation: {mode: auto, max_swaps: 1000 per 1d, rollback: off, profile: paper, rank: %1$d,
                   relative_lambdas: true, lambda_geometric: 2.0, lambda_preservation: 1.0, max_gap_growth: 1.0,
                   minimum_cosine: -1.0, changed_features: 1.0, max_norm_ratio: 1000, max_id_cost: 1000,
                   pooled_rows: %2$d}""".formatted(size.rank(), SAMPLED_ROWS);
    }

    /**
     * One swap, in seconds.
     *
     * @param fromVerdict since somebody who reads committed window reports had the one that says drifted
     * @param refit from the sampled rows to what the gate said, by the adapter's own report
     */
    private record Swap(double fromVerdict, double refit) {}

    /** One monitor with its adapter on drifted windows, one after the other, until each has its decoder. */
    private final class Run {

        private final Size size;
        private final BenchSite site;
        private final MonitorConfig config;
        private final BlockingQueue<Long> served = new LinkedBlockingQueue<>();

        // Of the window under way.
        private @Nullable Long verdict;
        private @Nullable AdaptationReport published;

        Run(Size size, BenchSite site, MonitorConfig config) {
            this.size = size;
            this.site = site;
            this.config = config;
        }

        @SuppressWarnings("try") // the subscriber is held open, not used
        List<Swap> swaps(int number) throws IOException, InterruptedException {
            bench.createTopic(config.topics().activations(), 1);
            Properties clients = new Properties();
            clients.putAll(config.subscriberProperties());
            Map<String, Object> producing =
                    Map.of("bootstrap.servers", bench.bootstrapServers(), "max.request.size", "16000000");
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, site.sites(config), Role.ALL);
                    DecoderSubscriber subscriber = DecoderSubscriber.start(
                            clients,
                            config.topics().decoders(),
                            DecoderSubscription.of(Map.of(BenchSite.NAME, site.trained())),
                            published -> served.add(System.nanoTime()));
                    KafkaProducer<String, byte[]> producer =
                            new KafkaProducer<>(producing, new StringSerializer(), new ByteArraySerializer());
                    TopicReader reports =
                            TopicReader.open(Map.of("bootstrap.servers", bench.bootstrapServers()), Map.of())) {
                reports.assign(List.of(
                        new TopicPartition(config.topics().windowReports(), 0),
                        new TopicPartition(config.topics().adaptationReports(), 0)));
                List<Swap> swaps = new ArrayList<>();
                for (int window = 0; window < number; window++) {
                    swaps.add(swap(runtime, producer, reports, window));
                }
                return swaps;
            }
        }

        private Swap swap(
                PlumblineRuntime runtime, KafkaProducer<String, byte[]> producer, TopicReader reports, int window)
                throws IOException, InterruptedException {
            // The first record of a window has ended the one before.
            for (int record = window == 0 ? 0 : 1; record < RECORDS; record++) {
                send(producer, window, record);
            }
            producer.flush();
            send(producer, window + 1, 0);
            producer.flush();
            verdict = null;
            published = null;
            Long arrived = null;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (arrived == null || verdict == null || published == null) {
                String failure = runtime.awaitFailure(0, TimeUnit.MILLISECONDS);
                if (failure != null || System.nanoTime() > deadline) {
                    throw new IllegalStateException(failure == null ? "no decoder in time" : failure);
                }
                reports.poll(POLL).forEach(this::hear);
                arrived = arrived == null ? served.poll() : arrived;
            }
            return new Swap((arrived - verdict) / 1e9, published.seconds());
        }

        private void send(KafkaProducer<String, byte[]> producer, int window, int record) {
            long time = ActivationsTopic.FIRST_MS + (long) window * WINDOW_MS + (long) record * WINDOW_MS / RECORDS;
            var unused = producer.send(new ProducerRecord<>(
                    config.topics().activations(),
                    0,
                    time,
                    BenchSite.NAME,
                    SafetensorsWriter.create()
                            .add("activations", DType.F32, rows(size, 1 + window, record))
                            .toBytes()));
        }

        private void hear(ConsumerRecord<byte[], byte[]> record) {
            if (record.topic().equals(config.topics().windowReports())) {
                WindowReport report = Json.read(record.value(), WindowReport.class);
                if (!report.inService().adaptationRequested()) {
                    throw new IllegalStateException("no refit was asked for: %s, %s"
                            .formatted(
                                    report.judged().verdict(), report.judged().reason()));
                }
                verdict = System.nanoTime();
            } else {
                AdaptationReport report = Json.read(record.value(), AdaptationReport.class);
                if (report.outcome() != Outcome.PUBLISHED) {
                    throw new IllegalStateException(
                            "no decoder was published: %s, %s".formatted(report.outcome(), report.reason()));
                }
                published = report;
            }
        }
    }
}
