package io.plumbline.topology.operate;

import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.AdaptationMessage.Verb;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Sends a command about one site to the adapter, over the topic it reads requests from, and reads the answer on that of
 * its reports.
 */
final class SwapOrder {

    private static final Duration POLL = Duration.ofMillis(250);
    private static final Duration FIRST_WORD = Duration.ofSeconds(3);
    private static final Duration BETWEEN_WORDS = Duration.ofSeconds(15);

    @Mixin
    ClusterOptions options;

    @Option(names = "--site", required = true, paramLabel = "SITE", description = "The site.")
    String site;

    @Option(
            names = "--requests-topic",
            paramLabel = "TOPIC",
            description = "The topic the adapter reads. Default: what the configuration file calls it, otherwise"
                    + " adaptation-requests.")
    @Nullable
    String requestsTopic;

    @Option(
            names = "--reports-topic",
            paramLabel = "TOPIC",
            description = "The topic it answers on. Default: what the configuration file calls it, otherwise"
                    + " adaptation-reports.")
    @Nullable
    String reportsTopic;

    @Option(
            names = "--by",
            paramLabel = "NAME",
            description = "Who decides, for report and lineage. Default: the user of this machine.")
    String by = System.getProperty("user.name", "");

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "Sign the command by this private key, Ed25519 in PEM: where the adapter names"
                    + " signing.approvers, it asks for the key of one of them, whose name then stands for --by.")
    @Nullable
    Path key;

    @Option(
            names = "--timeout",
            defaultValue = "2m",
            paramLabel = "TIME",
            description = "How long to wait for the adapter, which carries commands out after the refit that runs."
                    + " Default: ${DEFAULT-VALUE}.")
    String timeout;

    /**
     * Sends the command and prints the answer; and what it waits for, on the error stream.
     *
     * @param version see {@link AdaptationMessage.Command}
     * @throws UsageException when the adapter does not carry it out, saying what to write instead
     */
    int send(Verb verb, long version, CommandLine commandLine) throws IOException {
        Duration patience = Options.duration("--timeout", timeout);
        AdaptationMessage.Command command;
        try {
            command = new AdaptationMessage.Command(
                    System.currentTimeMillis(), UUID.randomUUID().toString(), verb, version, by);
        } catch (IllegalArgumentException e) {
            throw new UsageException("--by: " + e.getMessage());
        }
        if (key != null) {
            try {
                command = command.signed(DecoderSigner.read(key).signCommand(site, command.unsigned()));
            } catch (IllegalArgumentException e) {
                throw new UsageException("--key = " + e.getMessage());
            }
        }
        Cluster cluster = options.cluster();
        if (cluster.observed().contains(site)) {
            throw new UsageException(
                    ("site %s only observes: no decoder is fitted or swapped there, so nothing can be approved, "
                                    + "pinned or rolled back; set adaptation: {mode: "
                                    + "propose} (or auto) at the site and restart the adapter")
                            .formatted(site));
        }
        String requests = requestsTopic == null ? cluster.topics().adaptationRequests() : requestsTopic;
        String reports = reportsTopic == null ? cluster.topics().adaptationReports() : reportsTopic;
        cluster.require(requests);
        cluster.require(reports);
        AdaptationReport report = ask(command, cluster, requests, reports, patience, commandLine.getErr());
        if (report == null) {
            throw new IllegalStateException(
                    ("no adapter answered within %s; the command stays on the topic %s and is carried out after the "
                                    + "refit that runs, or by the next adapter that starts: "
                                    + "look with `plumbline decoders list` before you repeat it")
                            .formatted(timeout, requests));
        }
        String said = Printable.of("site %s, %s: %s".formatted(site, report.outcome(), report.reason()));
        if (report.outcome() == Outcome.REJECTED) {
            throw new UsageException(said);
        }
        commandLine.getOut().println(said);
        commandLine.getOut().flush();
        return ExitCodes.FINE;
    }

    /** Asks the adapter; listens before it speaks, so that no answer is missed; null where none came. */
    private @Nullable AdaptationReport ask(
            AdaptationMessage.Command command,
            Cluster cluster,
            String requests,
            String reports,
            Duration patience,
            PrintWriter err) {
        try (TopicReader reader = TopicReader.open(cluster.consumer(), Map.of())) {
            reader.assign(reader.partitions(reports));
            reader.skipToEnd();
            RecordMetadata place = write(command, cluster, requests);
            AdapterQueue queue =
                    new AdapterQueue(cluster, new TopicPartition(requests, place.partition()), place.offset());
            long begin = System.nanoTime();
            long nextWord = begin + FIRST_WORD.toNanos();
            while (System.nanoTime() - begin < patience.toNanos()) {
                for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
                    Header id = record.headers().lastHeader(AdapterAnswer.COMMAND_HEADER);
                    if (id != null && new String(id.value(), StandardCharsets.UTF_8).equals(command.id())) {
                        return Json.read(record.value(), AdaptationReport.class);
                    }
                }
                if (System.nanoTime() - nextWord >= 0) {
                    err.println("no answer for %d s: %s"
                            .formatted(
                                    Duration.ofNanos(System.nanoTime() - begin).toSeconds(), queue.describe()));
                    err.flush();
                    nextWord = System.nanoTime() + BETWEEN_WORDS.toNanos();
                }
            }
            return null;
        }
    }

    private RecordMetadata write(AdaptationMessage.Command command, Cluster cluster, String requests) {
        Properties producerProperties = new Properties();
        producerProperties.putAll(cluster.producer());
        producerProperties.put(ProducerConfig.ACKS_CONFIG, "all");
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(producerProperties, new ByteArraySerializer(), new ByteArraySerializer())) {
            return producer.send(
                            new ProducerRecord<>(requests, site.getBytes(StandardCharsets.UTF_8), command.encode()))
                    .get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(
                    "topic %s did not take the command: %s".formatted(requests, e.getCause()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while sending the command", e);
        }
    }
}
