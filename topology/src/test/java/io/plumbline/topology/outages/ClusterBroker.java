package io.plumbline.topology.outages;

import io.plumbline.topology.faults.ChildJvm;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;

/**
 * Runs one of the servers of a {@link BrokerCluster}, broker and controller in one, as a program to be killed. Its data
 * stay.
 *
 * <p>Arguments: node id, data folder, cluster id, client ports and controller ports of all nodes in order.
 */
final class ClusterBroker {

    private ClusterBroker() {}

    public static void main(String[] arguments) throws Exception {
        int node = Integer.parseInt(arguments[0]);
        Path data = Path.of(arguments[1]);
        String[] ports = arguments[3].split(",");
        String[] controllers = arguments[4].split(",");
        if (!Files.exists(data.resolve("meta.properties"))) {
            Files.createDirectories(data);
            new Formatter()
                    .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                    .setClusterId(arguments[2])
                    .setNodeId(node)
                    .setControllerListenerName("CONTROLLER")
                    .setMetadataLogDirectory(data.toString())
                    .addDirectory(data.toString())
                    .run();
        }
        KafkaRaftServer server =
                new KafkaRaftServer(KafkaConfig.fromProps(properties(node, data, ports, controllers)), Time.SYSTEM);
        server.startup();
        System.out.println(ChildJvm.EVENT + "started");
        new CountDownLatch(1).await();
    }

    private static Properties properties(int node, Path data, String[] ports, String[] controllers) {
        StringBuilder voters = new StringBuilder();
        for (int i = 0; i < controllers.length; i++) {
            voters.append(i == 0 ? "" : ",").append("%d@127.0.0.1:%s".formatted(i + 1, controllers[i]));
        }
        String replicas = Integer.toString(ports.length);
        String inSync = Integer.toString(ports.length / 2 + 1);
        Properties properties = new Properties();
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", Integer.toString(node));
        properties.put("controller.quorum.voters", voters.toString());
        properties.put(
                "listeners",
                "PLAINTEXT://127.0.0.1:%s,CONTROLLER://127.0.0.1:%s".formatted(ports[node - 1], controllers[node - 1]));
        properties.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + ports[node - 1]);
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        properties.put("log.dirs", data.toString());
        for (String topic : new String[] {"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"}) {
            properties.put(topic + ".replication.factor", replicas);
            properties.put(topic + ".num.partitions", "1");
        }
        properties.put("transaction.state.log.min.isr", inSync);
        properties.put("share.coordinator.state.topic.min.isr", inSync);
        properties.put("default.replication.factor", replicas);
        properties.put("min.insync.replicas", inSync);
        properties.put("group.initial.rebalance.delay.ms", "0");
        properties.put("transaction.abort.timed.out.transaction.cleanup.interval.ms", "500");
        properties.put("log.cleaner.dedupe.buffer.size", "2097152");
        properties.put("log.retention.ms", "-1");
        // A quorum on a busy machine: the defaults of 1 and 2 s would elect without need.
        properties.put("controller.quorum.election.timeout.ms", "3000");
        properties.put("controller.quorum.fetch.timeout.ms", "6000");
        return properties;
    }
}
