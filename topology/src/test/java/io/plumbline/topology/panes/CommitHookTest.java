package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.StoreBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests two tasks of one id in one process: without a store on disk Kafka Streams has no lock on a task, and a thread
 * that was given up by its group may still hold a task that another thread has taken over.
 */
class CommitHookTest {

    private final CommitHook hook = new CommitHook("hook");
    private final List<String> called = new ArrayList<>();

    @TempDir
    private Path folder;

    @Test
    void aTaskCallsItsOwnCallbackAndNotThatOfItsSuccessor() {
        try (TopologyTestDriver givenUp = task("given up");
                TopologyTestDriver successor = task("successor")) {
            process(givenUp);
            assertEquals(List.of("given up"), called);
            process(successor);
            assertEquals(List.of("given up", "successor"), called);
        }
    }

    @Test
    void aTaskThatIsClosedLateLeavesItsSuccessorItsCallback() {
        TopologyTestDriver givenUp = task("given up");
        try (TopologyTestDriver successor = task("successor")) {
            givenUp.close();
            process(successor);
            assertEquals(List.of("successor"), called);
        }
    }

    private static void process(TopologyTestDriver task) {
        task.createInputTopic("in", new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(new byte[] {1}, new byte[] {1});
    }

    private TopologyTestDriver task(String name) {
        Topology topology = new Topology();
        topology.addSource("in", new ByteArrayDeserializer(), new ByteArrayDeserializer(), "in");
        topology.addProcessor(
                "dirty",
                new ProcessorSupplier<byte[], byte[], Void, Void>() {
                    @Override
                    public Processor<byte[], byte[], Void, Void> get() {
                        return new Dirty(name);
                    }

                    @Override
                    public Set<StoreBuilder<?>> stores() {
                        return Set.of(hook.storeBuilder());
                    }
                },
                "in");
        Properties properties = new Properties();
        properties.put(
                StreamsConfig.STATE_DIR_CONFIG,
                folder.resolve(name.replace(' ', '-')).toString());
        return new TopologyTestDriver(topology, properties);
    }

    /** A processor that has something to write after every record. */
    private final class Dirty implements Processor<byte[], byte[], Void, Void> {

        private final String name;
        private CommitHook.Signal signal;

        Dirty(String name) {
            this.name = name;
        }

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            signal = hook.beforeCommit(context, () -> called.add(name));
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            signal.raise();
        }
    }
}
