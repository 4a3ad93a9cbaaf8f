package io.plumbline.topology.outages;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.faults.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;

/** Runs servers of one cluster, each a JVM of its own that can be killed and started again on its data. */
final class BrokerCluster implements AutoCloseable {

    static final String TRANSACTION_LOG = "__transaction_state";

    private final Path folder;
    private final String clusterId = Uuid.randomUuid().toString();
    private final String ports;
    private final String controllerPorts;
    private final String bootstrapServers;
    private final Map<Integer, ChildJvm> servers = new TreeMap<>();
    private int starts;

    BrokerCluster(Path folder, int nodes) throws Exception {
        this.folder = Files.createDirectories(folder);
        List<String> all = IntStream.generate(EmbeddedBroker::freePort)
                .distinct()
                .limit(2L * nodes)
                .mapToObj(Integer::toString)
                .toList();
        List<String> free = all.subList(0, nodes);
        ports = String.join(",", free);
        controllerPorts = String.join(",", all.subList(nodes, all.size()));
        bootstrapServers = free.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        for (int node = 1; node <= nodes; node++) {
            launch(node);
        }
        for (ChildJvm server : servers.values()) {
            server.await("a started broker", events -> events.contains("started"));
        }
    }

    String bootstrapServers() {
        return bootstrapServers;
    }

    /** Starts a killed server on its data. */
    void start(int node) throws InterruptedException {
        launch(node);
        servers.get(node).await("a started broker", events -> events.contains("started"));
    }

    private void launch(int node) {
        Path log = folder.resolve("broker-%d-%d.log".formatted(node, starts++));
        Path data = folder.resolve("data-" + node);
        servers.put(
                node,
                ChildJvm.start(
                        log,
                        ClusterBroker.class,
                        List.of(),
                        List.of(Integer.toString(node), data.toString(), clusterId, ports, controllerPorts)));
    }

    void kill(int node) throws InterruptedException {
        servers.get(node).kill();
    }

    /** Returns the node that leads a topic's first partition. */
    int leader(String topic) throws Exception {
        try (Admin admin = admin()) {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get()
                    .get(topic)
                    .partitions()
                    .get(0)
                    .leader()
                    .id();
        }
    }

    /** Waits until every partition of every topic has all its replicas in sync. */
    void awaitInSync() throws InterruptedException {
        try (Admin admin = admin()) {
            BrokerClient.awaitThat(
                    () -> partitions(admin).stream()
                            .allMatch(partition -> partition.isr().size()
                                    == partition.replicas().size()),
                    () -> "not in sync: " + partitions(admin));
        }
    }

    private static Collection<TopicPartitionInfo> partitions(Admin admin) {
        try {
            var names = admin.listTopics(new ListTopicsOptions().listInternal(true))
                    .names()
                    .get();
            return admin.describeTopics(names).allTopicNames().get().values().stream()
                    .map(TopicDescription::partitions)
                    .flatMap(List::stream)
                    .toList();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrapServers));
    }

    @Override
    public void close() {
        servers.values().forEach(ChildJvm::close);
    }
}
