package io.plumbline.benchmarks;

import com.sun.management.OperatingSystemMXBean;
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
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a monitor, its adapter and a subscriber of decoders in this process on drifted windows, one after the other,
 * until each has its decoder.
 */
final class SwapRun {

    private static final long PATIENCE_SECONDS = 300;
    private static final Duration POLL = Duration.ofMillis(5);
    private static final short ONE_COPY = 1;

    private final SwapSite site;
    private final MonitorConfig config;
    private final String bootstrapServers;
    private final BlockingQueue<Moment> served = new LinkedBlockingQueue<>();

    // Of the window under way.
    private @Nullable Moment verdict;
    private @Nullable AdaptationReport published;

    SwapRun(SwapSite site, MonitorConfig config, String bootstrapServers) {
        this.site = site;
        this.config = config;
        this.bootstrapServers = bootstrapServers;
    }

    /** A moment by the clock and in processor time of this process, both in ns. */
    private record Moment(long nanoTime, long processor) {

        private static final OperatingSystemMXBean PROCESS =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

        static Moment now() {
            return new Moment(System.nanoTime(), PROCESS.getProcessCpuTime());
        }
    }

    /**
     * One swap, in seconds.
     *
     * @param fromRows since the record that ended the window was sent
     * @param fromVerdict since somebody who reads committed window reports had the one that says drifted
     * @param refit from the sampled rows to what the gate said, by the adapter's own report
     * @param processor processor time of this process since the verdict, compiler and collector included: on a busy
     *     machine it says more than the clock
     */
    record Swap(double fromRows, double fromVerdict, double refit, double processor) {}

    @SuppressWarnings("try") // the subscriber is held open, not used
    Swap[] swaps(int number) throws IOException, InterruptedException {
        createTopic();
        Properties clients = new Properties();
        clients.putAll(config.subscriberProperties());
        Map<String, Object> producing = Map.of("bootstrap.servers", bootstrapServers, "max.request.size", "16000000");
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, site.sites(config), Role.ALL);
                DecoderSubscriber subscriber = DecoderSubscriber.start(
                        clients,
                        config.topics().decoders(),
                        DecoderSubscription.of(Map.of(SwapSite.SITE, site.trained())),
                        published -> served.add(Moment.now()));
                KafkaProducer<String, byte[]> producer =
                        new KafkaProducer<>(producing, new StringSerializer(), new ByteArraySerializer());
                TopicReader reports = TopicReader.open(Map.of("bootstrap.servers", bootstrapServers), Map.of())) {
            reports.assign(List.of(
                    new TopicPartition(config.topics().windowReports(), 0),
                    new TopicPartition(config.topics().adaptationReports(), 0)));
            Swap[] swaps = new Swap[number];
            for (int window = 0; window < number; window++) {
                swaps[window] = swap(runtime, producer, reports, window);
            }
            return swaps;
        }
    }

    private Swap swap(PlumblineRuntime runtime, KafkaProducer<String, byte[]> producer, TopicReader reports, int window)
            throws IOException, InterruptedException {
        // The first record of a window has ended the one before.
        for (int record = window == 0 ? 0 : 1; record < SwapSite.RECORDS; record++) {
            send(producer, window, record);
        }
        producer.flush();
        send(producer, window + 1, 0);
        producer.flush();
        long ended = System.nanoTime();
        verdict = null;
        published = null;
        Moment arrived = null;
        long deadline = ended + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (arrived == null || verdict == null || published == null) {
            requireGoingOn(runtime, deadline);
            reports.poll(POLL).forEach(this::hear);
            arrived = arrived == null ? served.poll() : arrived;
        }
        return new Swap(
                (arrived.nanoTime() - ended) / 1e9,
                (arrived.nanoTime() - verdict.nanoTime()) / 1e9,
                published.seconds(),
                (arrived.processor() - verdict.processor()) / 1e9);
    }

    private void send(KafkaProducer<String, byte[]> producer, int window, int record) {
        long time = ActivationsTopic.FIRST_MS
                + (long) window * SwapSite.WINDOW_MS
                + (long) record * SwapSite.WINDOW_MS / SwapSite.RECORDS;
        var unused = producer.send(new ProducerRecord<>(
                config.topics().activations(), 0, time, SwapSite.SITE, site.record(1 + window, record)));
    }

    private void hear(ConsumerRecord<byte[], byte[]> record) {
        if (record.topic().equals(config.topics().windowReports())) {
            WindowReport report = Json.read(record.value(), WindowReport.class);
            if (!report.adaptationRequested()) {
                throw new IllegalStateException(
                        "no refit was asked for: %s, %s".formatted(report.verdict(), report.reason()));
            }
            verdict = Moment.now();
        } else {
            AdaptationReport report = Json.read(record.value(), AdaptationReport.class);
            if (report.outcome() != Outcome.PUBLISHED) {
                throw new IllegalStateException(
                        "no decoder was published: %s, %s".formatted(report.outcome(), report.reason()));
            }
            published = report;
        }
    }

    private static void requireGoingOn(PlumblineRuntime runtime, long deadline) throws InterruptedException {
        String failure = runtime.awaitFailure(0, TimeUnit.MILLISECONDS);
        if (failure != null || System.nanoTime() > deadline) {
            throw new IllegalStateException(
                    failure == null ? "not done within %d s".formatted(PATIENCE_SECONDS) : failure);
        }
    }

    private void createTopic() throws InterruptedException {
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrapServers))) {
            admin.createTopics(List.of(new NewTopic(config.topics().activations(), 1, ONE_COPY)))
                    .all()
                    .get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(
                    "topic %s could not be created".formatted(config.topics().activations()), e);
        }
    }
}
