package io.plumbline.topology.operate;

import io.plumbline.judgement.Amounts;
import io.plumbline.records.HiddenLayers;
import io.plumbline.topology.cli.ActivationStream;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.Progress;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs {@code plumbline replay}: sends dumps to a topic, one record per request, or dead letters where they came from.
 */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = {
            "Sends recorded activations to Kafka, one record per request, as a model server would; or, with"
                    + " --dead-letters, sends refused records again once what they were refused for is put right.",
            "",
            "Records of dumps carry the headers `site` and `request`; their key is the request, so that one site"
                    + " spreads over all"
                    + " partitions. They are sent by an idempotent producer with acks=all."
        },
        footerHeading = "Example, ten minutes of traffic at one record a second of event time, as fast as the broker"
                + " takes it:%n",
        footer = {
            "  plumbline replay --activations en.safetensors de.safetensors --site encoder.layer.2 \\",
            "      --bootstrap-servers localhost:9092 --start 2026-01-01T00:00:00Z --event-time-step 1s",
            "Example, a file that vLLM wrote with the hidden states of three layers:",
            "  plumbline replay --activations cmpl-7.safetensors --layers 3,6,9 --layer 6 --site residual.5 \\",
            "      --bootstrap-servers localhost:9092",
            "Event times long past are subject to the topic's retention: set retention.ms=-1 on it first.",
            "",
            "Example, what was refused because a site was not configured: look first, then send:",
            "  plumbline replay --dead-letters --reason unknown_site --config plumbline.yaml --dry-run",
            "  plumbline replay --dead-letters --reason unknown_site --config plumbline.yaml",
            "Dead letters keep key, value, headers, partition and event time. Rows whose window has closed meanwhile"
                    + " are",
            "counted as late, not added. A run may be interrupted and repeated: nothing is sent twice."
        })
final class ReplayCommand implements Callable<Integer> {

    @Option(names = "--activations", arity = "1..*", paramLabel = "FILE", description = "Dumps, in order.")
    List<Path> activations = new ArrayList<>();

    @Option(
            names = "--site",
            paramLabel = "SITE",
            description = "The site the rows of a dump belong to; or, repeatable, only dead letters of these sites.")
    List<String> sites = new ArrayList<>();

    @Option(
            names = "--layers",
            split = ",",
            paramLabel = "N",
            description = "Of files with hidden states of several layers: the engine's numbers of them, in order.")
    List<Integer> layers = new ArrayList<>();

    @Option(names = "--layer", paramLabel = "N", description = "With --layers: the one whose rows are sent.")
    @Nullable
    Integer layer;

    @Option(
            names = "--axes",
            paramLabel = "ORDER",
            description = "With --layers: ${COMPLETION-CANDIDATES}. Default: told from the sizes.")
    HiddenLayers.@Nullable Axes axes;

    @ArgGroup(exclusive = false, heading = "Dead letters:%n")
    @Nullable
    DeadLetterOptions letters;

    @Mixin
    ClusterOptions options;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            description =
                    "Where to send. Default: what the configuration file calls the topic of activations, otherwise"
                            + " activations; for dead letters, where each came from.")
    @Nullable
    String topic;

    @Option(
            names = "--create-topic",
            paramLabel = "PARTITIONS",
            description = "Create the topic with this many partitions where it is missing.")
    @Nullable
    Integer createTopic;

    @Option(
            names = "--rate",
            paramLabel = "ROWS/S",
            description = "At most this many rows a second. Default: no limit.")
    @Nullable
    Double rate;

    @Option(
            names = "--start",
            paramLabel = "INSTANT",
            description = "Event time of the first record, such as 2026-01-01T00:00:00Z; needs --event-time-step."
                    + " Default: now.")
    @Nullable
    String start;

    @Option(
            names = "--event-time-step",
            paramLabel = "DURATION",
            description = "Event time between records, such as 500ms. Default: event time is the time of sending.")
    @Nullable
    String eventTimeStep;

    @Spec
    CommandSpec spec;

    /** The event times of the records. */
    private record EventTimes(long firstMs, @Nullable Duration step) {
        long of(long record) {
            return step == null ? System.currentTimeMillis() : firstMs + record * step.toMillis();
        }
    }

    /** Counts what has gone out so far. */
    private static final class Sent {
        private long records;
        private long rows;
        private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();

        private void requireNoFailure() {
            RuntimeException first = failure.get();
            if (first != null) {
                throw first;
            }
        }
    }

    @Override
    public Integer call() throws IOException {
        String named = letters == null ? null : letters.topic;
        if ((named == null) == activations.isEmpty()) {
            throw new UsageException("expected either --activations FILE... or --dead-letters");
        }
        return named == null ? replayDumps() : replayLetters(named);
    }

    private Integer replayLetters(String named) throws IOException {
        if (rate != null || start != null || eventTimeStep != null || createTopic != null) {
            throw new UsageException(
                    "--rate, --start, --event-time-step and --create-topic are for --activations; dead letters keep"
                            + " their times");
        }
        DeadLetterOptions chosen = Objects.requireNonNull(letters, "given");
        Cluster cluster = options.cluster();
        String deadLetters = named.isEmpty() ? cluster.topics().deadLetters() : named;
        PrintWriter out = spec.commandLine().getOut();
        ReplayTally tally = new DeadLetterReplay(cluster, chosen, chosen.selection(sites), deadLetters, topic).run();
        tally.print(out, spec.commandLine().getErr(), chosen.dryRun ? "to send" : "sent");
        if (chosen.dryRun) {
            tally.printAdvice(out);
        }
        out.println("%s %s of %s"
                .formatted(chosen.dryRun ? "would send" : "sent", Amounts.count(tally.sent(), "letter"), deadLetters));
        if (tally.sent() > 0) {
            out.println("rows whose window has closed meanwhile are counted as late (plumbline_late_rows_total), not"
                    + " added");
        }
        out.flush();
        return tally.hasProblems() ? ExitCodes.FAILURE : ExitCodes.FINE;
    }

    private Integer replayDumps() throws IOException {
        if (letters != null) {
            throw new UsageException("--reason, --since, --until, --partition, --offsets, --group, --dry-run and"
                    + " --from-beginning are for --dead-letters");
        }
        if (sites.size() != 1) {
            throw new UsageException("--activations needs one --site, the site the rows belong to");
        }
        if (rate != null && !(rate > 0)) {
            throw new UsageException("--rate = %s: expected rows per second above 0".formatted(rate));
        }
        EventTimes times = eventTimes();
        try (ActivationStream stream = ActivationStream.open(activations, hiddenLayers())) {
            Cluster cluster = options.cluster();
            String target = topic == null ? cluster.activationsOf(sites.get(0)) : topic;
            requireTopic(cluster, target);
            if (times.step() != null) {
                EventTimeTraps.refuse(
                        target, Brokers.settings(cluster.admin(), target), times.firstMs(), System.currentTimeMillis());
            }
            long begun = System.nanoTime();
            Sent sent = send(stream, cluster, target, times, begun);
            double seconds = (System.nanoTime() - begun) / 1e9;
            spec.commandLine()
                    .getOut()
                    .println(String.format(
                            Locale.ROOT,
                            "sent %s, %s to %s in %.1f s (%,.0f rows/s)",
                            Amounts.count(sent.records, "record"),
                            Amounts.count(sent.rows, "row"),
                            target,
                            seconds,
                            sent.rows / seconds));
        }
        return ExitCodes.FINE;
    }

    private @Nullable HiddenLayers hiddenLayers() {
        if (layer == null && layers.isEmpty() && axes == null) {
            return null;
        }
        if (layer == null || layers.isEmpty()) {
            throw new UsageException("--layers, --layer and --axes go together: such as --layers 3,6,9 --layer 6");
        }
        try {
            return new HiddenLayers(layers, layer, axes);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--layer %d: expected one of --layers %s, each once".formatted(layer, layers));
        }
    }

    private EventTimes eventTimes() {
        if (eventTimeStep == null) {
            if (start != null) {
                throw new UsageException("--start needs --event-time-step, the event time between records");
            }
            return new EventTimes(0, null);
        }
        Duration step = Options.duration("--event-time-step", eventTimeStep);
        return new EventTimes(
                start == null
                        ? System.currentTimeMillis()
                        : Options.instant("--start", start).toEpochMilli(),
                step);
    }

    private void requireTopic(Cluster cluster, String target) {
        if (Brokers.topics(cluster.admin()).contains(target)) {
            return;
        }
        if (createTopic == null) {
            throw new UsageException("topic %s does not exist at %s; create it, or add --create-topic PARTITIONS"
                    .formatted(target, cluster.bootstrapServers()));
        }
        Brokers.createTopic(cluster.admin(), target, createTopic);
    }

    private Sent send(ActivationStream stream, Cluster cluster, String target, EventTimes times, long begun)
            throws IOException {
        Sent sent = new Sent();
        Map<String, Object> properties = new TreeMap<>(cluster.producer());
        properties.put("acks", "all");
        properties.put("enable.idempotence", "true");
        try (Producer<byte[], byte[]> producer =
                        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
                Progress progress = Progress.of("sending", stream.rows())) {
            stream.forEachRecord((request, rows, value) -> {
                sent.requireNoFailure();
                waitForTurn(sent.rows, begun);
                // The callback hears of failures; waiting for each record would be slow.
                Future<RecordMetadata> unused =
                        producer.send(record(target, request, value, times.of(sent.records)), (metadata, failure) -> {
                            if (failure != null) {
                                sent.failure.compareAndSet(
                                        null,
                                        new IllegalStateException(
                                                "request %s was not stored on %s: %s; the replay stopped there"
                                                        .formatted(request, target, failure.getMessage()),
                                                failure));
                            }
                        });
                sent.records++;
                sent.rows += rows;
                progress.advance(rows);
            });
            producer.flush();
        }
        sent.requireNoFailure();
        return sent;
    }

    private void waitForTurn(long rowsSent, long begun) {
        if (rate == null) {
            return;
        }
        long due = begun + (long) (rowsSent / rate * 1e9);
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private ProducerRecord<byte[], byte[]> record(String target, String request, byte[] value, long timestampMs) {
        byte[] name = request.getBytes(StandardCharsets.UTF_8);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(target, null, timestampMs, name, value);
        record.headers().add("site", sites.get(0).getBytes(StandardCharsets.UTF_8));
        record.headers().add("request", name);
        return record;
    }
}
