package io.plumbline.benchmarks;

import io.plumbline.fixtures.EmbeddedBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A broker in a process of its own, as it is in production. */
final class BrokerProcess implements AutoCloseable {

    private static final String HEAP = "1g";

    /** The broker's settings, for records of 256 rows of 8,192 floats. */
    private static final Map<String, String> SETTINGS = Map.of(
            "message.max.bytes", "16000000",
            "replica.fetch.max.bytes", "16000000",
            "log.segment.delete.delay.ms", "0");

    private final ChildProcess process;

    private BrokerProcess(ChildProcess process) {
        this.process = process;
    }

    /** Starts a broker that keeps its data in {@code folder}. */
    static BrokerProcess start(Path folder) throws IOException {
        return new BrokerProcess(ChildProcess.start(
                BrokerProcess.class, HEAP, folder.resolveSibling("broker.log"), List.of(folder.toString())));
    }

    String bootstrapServers() {
        return process.said();
    }

    Duration processorTime() {
        return process.processorTime();
    }

    @Override
    public void close() {
        process.close();
    }

    /** Runs the other process. */
    public static void main(String[] arguments) throws IOException {
        EmbeddedBroker broker = EmbeddedBroker.start(Path.of(arguments[0]), EmbeddedBroker.freePort(), SETTINGS);
        ChildProcess.up(broker.bootstrapServers());
        ChildProcess.awaitTheEnd();
        // Its data are thrown away: an orderly stop would only take longer.
        Runtime.getRuntime().halt(0);
    }
}
