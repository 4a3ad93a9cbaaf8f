package io.plumbline.topology.security;

import io.plumbline.fixtures.EmbeddedBroker;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;

/**
 * Runs a broker as it is run where it matters: TLS, logins by SCRAM-SHA-512, and an authorizer that denies what no list
 * allows. Its users are written into the metadata when the folder is formatted; {@link #ADMIN} may do anything.
 */
final class SecureBroker implements AutoCloseable {

    static final String ADMIN = "admin";

    private final KafkaRaftServer server;
    private final int port;
    private final TestCertificate certificate;

    private SecureBroker(KafkaRaftServer server, int port, TestCertificate certificate) {
        this.server = server;
        this.port = port;
        this.certificate = certificate;
    }

    static SecureBroker start(Path folder, List<String> users) throws Exception {
        TestCertificate certificate = TestCertificate.make(folder.resolve("tls"));
        Path data = Files.createDirectories(folder.resolve("data"));
        List<String> credentials = new java.util.ArrayList<>();
        for (String user : users) {
            credentials.add("SCRAM-SHA-512=[name=%s,password=%s]".formatted(user, password(user)));
        }
        credentials.add("SCRAM-SHA-512=[name=%s,password=%s]".formatted(ADMIN, password(ADMIN)));
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setClusterId(Uuid.randomUuid().toString())
                .setNodeId(1)
                .setControllerListenerName("CONTROLLER")
                .setMetadataLogDirectory(data.toString())
                .addDirectory(data.toString())
                .setScramArguments(credentials)
                .run();
        int port = EmbeddedBroker.freePort();
        KafkaRaftServer server = new KafkaRaftServer(
                KafkaConfig.fromProps(properties(data, port, EmbeddedBroker.freePort(), certificate)), Time.SYSTEM);
        server.startup();
        return new SecureBroker(server, port, certificate);
    }

    static String password(String user) {
        return "pw-of-" + user + "-4711";
    }

    String bootstrapServers() {
        return "127.0.0.1:" + port;
    }

    /** Returns what a client of {@code user} writes; a test changes one of them to see what happens. */
    Map<String, String> client(String user) {
        Map<String, String> properties = new TreeMap<>();
        properties.put("bootstrap.servers", bootstrapServers());
        properties.put("security.protocol", "SASL_SSL");
        properties.put("sasl.mechanism", "SCRAM-SHA-512");
        properties.put("sasl.jaas.config", jaas(user));
        properties.put("ssl.truststore.type", "PEM");
        properties.put("ssl.truststore.location", certificate.certificate().toString());
        return properties;
    }

    private static String jaas(String user) {
        return "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\" password=\"%s\";"
                .formatted(user, password(user));
    }

    @Override
    public void close() {
        server.shutdown();
        server.awaitShutdown();
    }

    private static Properties properties(Path data, int port, int controllerPort, TestCertificate certificate) {
        Properties properties = new Properties();
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", "1");
        properties.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
        properties.put(
                "listeners", "SASL_SSL://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d".formatted(port, controllerPort));
        properties.put("advertised.listeners", "SASL_SSL://127.0.0.1:" + port);
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listener.security.protocol.map", "SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT");
        properties.put("inter.broker.listener.name", "SASL_SSL");
        properties.put("sasl.enabled.mechanisms", "SCRAM-SHA-512");
        properties.put("sasl.mechanism.inter.broker.protocol", "SCRAM-SHA-512");
        properties.put("listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config", jaas(ADMIN));
        properties.put("ssl.keystore.type", "PKCS12");
        properties.put("ssl.keystore.location", certificate.keyStore().toString());
        properties.put("ssl.keystore.password", TestCertificate.PASSWORD);
        properties.put("ssl.key.password", TestCertificate.PASSWORD);
        properties.put("ssl.truststore.type", "PEM");
        properties.put("ssl.truststore.location", certificate.certificate().toString());
        properties.put("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
        // Nobody without a login reaches the client listener; the controller's, on loopback, knows no other name.
        properties.put("super.users", "User:%s;User:ANONYMOUS".formatted(ADMIN));
        properties.put("auto.create.topics.enable", "false");
        properties.put("log.dirs", data.toString());
        for (String topic : new String[] {"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"}) {
            properties.put(topic + ".replication.factor", "1");
            properties.put(topic + ".num.partitions", "1");
        }
        properties.put("transaction.state.log.min.isr", "1");
        properties.put("share.coordinator.state.topic.min.isr", "1");
        properties.put("group.initial.rebalance.delay.ms", "0");
        properties.put("log.cleaner.dedupe.buffer.size", "2097152");
        properties.put("log.retention.ms", "-1");
        return properties;
    }
}
