package io.plumbline.topology.cli;

import io.plumbline.linalg.kernel.UpdateKernels;
import java.util.List;

/**
 * Begins what takes a service some tenths of a second each when it starts, beside the reading of its files and on
 * threads of its own: choosing the kernel, and loading the classes of Kafka's clients. Nothing is connected. What goes
 * wrong here goes wrong again where it is needed, and is said there.
 */
final class StartAhead {

    /** Classes that bring most of the others with them, in the order in which a start comes to them. */
    static final List<String> CLASSES = List.of(
            "org.apache.kafka.common.protocol.ApiKeys",
            "org.apache.kafka.clients.admin.KafkaAdminClient",
            "org.apache.kafka.clients.NetworkClient",
            "org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer",
            "org.apache.kafka.clients.producer.KafkaProducer",
            "org.apache.kafka.clients.producer.internals.TransactionManager",
            "org.apache.kafka.streams.KafkaStreams",
            "org.apache.kafka.streams.processor.internals.StreamThread",
            "org.apache.kafka.streams.processor.internals.StreamTask",
            "org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor",
            "org.apache.kafka.streams.processor.internals.DefaultStateUpdater",
            "org.eclipse.jetty.server.Server");

    private StartAhead() {}

    /** Begins both. */
    static void begin() {
        daemon("kernel-ahead", StartAhead::chooseKernel);
        daemon("classes-ahead", () -> load(CLASSES));
    }

    private static void daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void chooseKernel() {
        try {
            UpdateKernels.chosen();
        } catch (IllegalStateException notThere) {
            // The runtime asks again, and says what is missing.
        }
    }

    /** Returns how many of the classes are there. */
    static int load(List<String> names) {
        int loaded = 0;
        for (String name : names) {
            try {
                Class.forName(name);
                loaded++;
            } catch (ClassNotFoundException | LinkageError notThere) {
                // Another version of the library: then it is loaded when it is needed.
            }
        }
        return loaded;
    }
}
