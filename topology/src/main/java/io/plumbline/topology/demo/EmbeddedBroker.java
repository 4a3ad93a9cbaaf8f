package io.plumbline.topology.demo;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;

/**
 * One Kafka server, broker and controller in one, inside this process, on loopback.
 *
 * <p>The data folder persists: a second start on the same folder finds its topics. Cold start about 3 s.
 */
public final class EmbeddedBroker implements AutoCloseable {

    private final KafkaRaftServer server;
    private final int port;

    private EmbeddedBroker(KafkaRaftServer server, int port) {
        this.server = server;
        this.port = port;
    }

    /** Starts on a free port. */
    public static EmbeddedBroker start(Path dataDirectory) {
        return start(dataDirectory, freePort(), Map.of());
    }

    /** Starts on {@code port} with broker settings of the caller's; formats the folder where it is new. */
    public static EmbeddedBroker start(Path dataDirectory, int port, Map<String, String> settings) {
        int controllerPort = otherThan(port, EmbeddedBroker::freePort);
        try {
            format(dataDirectory);
        } catch (Exception e) {
            throw new IllegalStateException("the broker's folder %s cannot be formatted".formatted(dataDirectory), e);
        }
        KafkaRaftServer server = new KafkaRaftServer(
                KafkaConfig.fromProps(properties(dataDirectory, port, controllerPort, settings)), Time.SYSTEM);
        server.startup();
        return new EmbeddedBroker(server, port);
    }

    public String bootstrapServers() {
        return "127.0.0.1:" + port;
    }

    public int port() {
        return port;
    }

    @Override
    public void close() {
        server.shutdown();
        server.awaitShutdown();
    }

    private static void format(Path dataDirectory) throws Exception {
        if (Files.exists(dataDirectory.resolve("meta.properties"))) {
            return;
        }
        Files.createDirectories(dataDirectory);
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setClusterId(Uuid.randomUuid().toString())
                .setNodeId(1)
                .setControllerListenerName("CONTROLLER")
                .setMetadataLogDirectory(dataDirectory.toString())
                .addDirectory(dataDirectory.toString())
                .run();
    }

    private static Properties properties(
            Path dataDirectory, int port, int controllerPort, Map<String, String> settings) {
        Properties properties = new Properties();
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", "1");
        properties.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
        properties.put(
                "listeners", "PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d".formatted(port, controllerPort));
        properties.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + port);
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        properties.put("log.dirs", dataDirectory.toString());
        for (String topic : new String[] {"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"}) {
            properties.put(topic + ".replication.factor", "1");
            properties.put(topic + ".num.partitions", "1");
        }
        properties.put("transaction.state.log.min.isr", "1");
        properties.put("share.coordinator.state.topic.min.isr", "1");
        properties.put("group.initial.rebalance.delay.ms", "0");
        // The default of 128 MB would be most of a small heap.
        properties.put("log.cleaner.dedupe.buffer.size", "2097152");
        // Recorded activations carry the event times they are given: no retention by time.
        properties.put("log.retention.ms", "-1");
        properties.putAll(settings);
        return properties;
    }

    /** The first of {@code free} that is another one: asked twice, the system may give the same port twice. */
    static int otherThan(int port, IntSupplier free) {
        return IntStream.generate(free).filter(one -> one != port).findFirst().orElseThrow();
    }

    /** A port on loopback that nobody listens on at the moment. */
    public static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("no free port on loopback", e);
        }
    }
}
