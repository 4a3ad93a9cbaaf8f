package io.plumbline.topology.progress;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.StoreBuilder;

/**
 * Counts how often in a row the reading of a partition had to begin again at the same offset.
 *
 * <p>A record that takes longer than the group or its transaction waits is read again by the thread that comes back,
 * and again after that, while Kafka Streams says {@code RUNNING}. What was read after the last commit is read again
 * too, so the record itself need not be the first of its pass: counted is the offset where the passes begin, which is
 * the committed one.
 *
 * <p>It outlives tasks, threads and transactions, and ends with the process. Memory: one entry per partition ever read.
 * Thread-safe; one map operation a record.
 */
public final class Repeats {

    private record Pass(long from, long last, int repeats) {
        Pass then(long offset) {
            if (offset > last) {
                return new Pass(from, offset, repeats);
            }
            return new Pass(offset, offset, offset == from ? repeats + 1 : 1);
        }
    }

    private final Map<TopicPartition, Pass> passes = new ConcurrentHashMap<>();

    /** Notes that a record is about to be processed. */
    void handed(String topic, int partition, long offset) {
        passes.merge(
                new TopicPartition(topic, partition),
                new Pass(offset, offset, 0),
                (known, now) -> known.then(now.last()));
    }

    /**
     * Returns how often the reading began again at {@code committed}, in a row; 0 when what was repeated is behind it.
     */
    int at(TopicPartition partition, long committed) {
        Pass pass = passes.get(partition);
        return pass == null || pass.from() < committed ? 0 : pass.repeats();
    }

    /** Returns whether this process was handed something of the partition at or after the offset. */
    boolean reached(TopicPartition partition, long offset) {
        Pass pass = passes.get(partition);
        return pass != null && pass.last() >= offset;
    }

    /** Returns this processor with its records counted before it gets them. */
    public <A, B, C, D> ProcessorSupplier<A, B, C, D> counting(ProcessorSupplier<A, B, C, D> supplier) {
        return new ProcessorSupplier<>() {
            @Override
            public Processor<A, B, C, D> get() {
                return new Counted<>(supplier.get(), Repeats.this);
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                Set<StoreBuilder<?>> stores = supplier.stores();
                return stores == null ? Set.of() : stores;
            }
        };
    }

    private static final class Counted<A, B, C, D> implements Processor<A, B, C, D> {

        private final Processor<A, B, C, D> inner;
        private final Repeats repeats;
        private ProcessorContext<C, D> context;

        @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
        Counted(Processor<A, B, C, D> inner, Repeats repeats) {
            this.inner = inner;
            this.repeats = repeats;
        }

        @Override
        public void init(ProcessorContext<C, D> processorContext) {
            context = processorContext;
            inner.init(processorContext);
        }

        @Override
        public void process(Record<A, B> record) {
            context.recordMetadata()
                    .ifPresent(place -> repeats.handed(place.topic(), place.partition(), place.offset()));
            inner.process(record);
        }

        @Override
        public void close() {
            inner.close();
        }
    }
}
