package io.plumbline.benchmarks;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.fixtures.TemporaryFolder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.jspecify.annotations.Nullable;

/**
 * A broker in a process of its own, as in production, and the temporary folder of a run. Both are gone when it is
 * closed, and when the program is interrupted.
 */
final class Bench implements AutoCloseable {

    private static final String BROKER_HEAP = "2g";
    private static final String BYTES_IN = "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=*";
    private static final short ONE_COPY = 1;

    /** The broker's settings, for records of 256 rows of 8,192 floats. */
    private static final Map<String, String> SETTINGS = Map.of(
            "message.max.bytes", "16000000",
            // Of moments of 8,192 columns.
            "socket.request.max.bytes", "400000000",
            "replica.fetch.max.bytes", "16000000",
            "log.segment.delete.delay.ms", "0");

    private final Consumer<String> progress;
    private final TemporaryFolder temporary;
    private final Thread stop = new Thread(this::release, "stop-bench");
    private @Nullable ChildProcess broker;
    private String bootstrapServers = "";
    private int runs;

    private Bench(Consumer<String> progress, TemporaryFolder temporary) {
        this.progress = progress;
        this.temporary = temporary;
    }

    /** @param progress hears what is done next, in a few words */
    static Bench start(Consumer<String> progress) throws IOException {
        Bench bench = new Bench(progress, TemporaryFolder.create("plumbline-bench-"));
        Runtime.getRuntime().addShutdownHook(bench.stop);
        try {
            bench.startBroker();
            return bench;
        } catch (IOException e) {
            bench.close();
            throw e;
        }
    }

    private synchronized void startBroker() throws IOException {
        next("starting a Kafka broker in a process of its own");
        Path root = temporary.root();
        broker = ChildProcess.start(
                Bench.class,
                BROKER_HEAP,
                root.resolve("broker.log"),
                List.of(root.resolve("broker").toString()));
        bootstrapServers = broker.said();
    }

    /** Runs the other process. */
    public static void main(String[] arguments) throws IOException, JMException {
        EmbeddedBroker broker = EmbeddedBroker.start(Path.of(arguments[0]), EmbeddedBroker.freePort(), SETTINGS);
        ChildProcess.up(broker.bootstrapServers());
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (questions.readLine() != null) {
            System.out.println(bytesIn());
            System.out.flush();
        }
        // Its data are thrown away: an orderly stop would only take longer.
        Runtime.getRuntime().halt(0);
    }

    void next(String what) {
        progress.accept(what);
    }

    /** Returns a folder of this name, which is made where it is missing. */
    Path folder(String name) throws IOException {
        return Files.createDirectories(temporary.root().resolve(name));
    }

    String bootstrapServers() {
        return bootstrapServers;
    }

    /** Returns the processor time that the broker has used so far. */
    synchronized Duration brokerTime() {
        return broker == null ? Duration.ZERO : broker.processorTime();
    }

    /** Returns an application id that no run before had. */
    String nextRun() {
        return "bench-" + runs++;
    }

    void createTopic(String name, int partitions) throws InterruptedException {
        createTopic(name, partitions, Map.of());
    }

    void createTopic(String name, int partitions, Map<String, String> settings) throws InterruptedException {
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrapServers))) {
            admin.createTopics(List.of(new NewTopic(name, partitions, ONE_COPY).configs(settings)))
                    .all()
                    .get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("topic %s could not be created".formatted(name), e);
        }
    }

    void deleteTopic(String name) throws InterruptedException {
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrapServers))) {
            admin.deleteTopics(List.of(name)).all().get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("topic %s could not be deleted".formatted(name), e);
        }
    }

    /** Returns the bytes that were written to each topic so far, whatever the broker has deleted of them. */
    synchronized Map<String, Long> topicBytes() throws IOException {
        Map<String, Long> bytes = new TreeMap<>();
        if (broker != null) {
            for (String topic : broker.ask("bytes").split(" ", -1)) {
                int end = topic.indexOf('=');
                bytes.put(topic.substring(0, end), Long.parseLong(topic.substring(end + 1)));
            }
        }
        return bytes;
    }

    /** Returns, in the broker's process, what {@link #topicBytes} asks for. */
    private static String bytesIn() throws JMException {
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        List<String> topics = new ArrayList<>();
        for (ObjectName name : beans.queryNames(new ObjectName(BYTES_IN), null)) {
            topics.add(name.getKeyProperty("topic") + "=" + beans.getAttribute(name, "Count"));
        }
        return String.join(" ", topics);
    }

    private synchronized void release() {
        if (broker != null) {
            broker.close();
        }
        temporary.close();
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(stop);
        release();
    }
}
