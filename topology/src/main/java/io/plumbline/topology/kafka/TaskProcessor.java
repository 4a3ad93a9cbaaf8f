package io.plumbline.topology.kafka;

import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.StoreBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Hands the records of a processor to a {@link Task}, which it opens when Kafka Streams says that a task begins.
 *
 * @param <A> keys read
 * @param <B> values read
 * @param <C> keys forwarded
 * @param <D> values forwarded
 */
public final class TaskProcessor<A, B, C, D> implements Processor<A, B, C, D> {

    private final Function<ProcessorContext<C, D>, Task<A, B>> opening;
    private @Nullable Task<A, B> task;
    private @Nullable TaskContext<C, D> life;

    private TaskProcessor(Function<ProcessorContext<C, D>, Task<A, B>> opening) {
        this.opening = opening;
    }

    /**
     * Returns a supplier of processors whose tasks {@code opening} makes.
     *
     * @param stores what the processor reads and writes, apart from stores that others bring
     */
    public static <A, B, C, D> ProcessorSupplier<A, B, C, D> supplier(
            Set<StoreBuilder<?>> stores, Function<ProcessorContext<C, D>, Task<A, B>> opening) {
        return new ProcessorSupplier<>() {
            @Override
            public Processor<A, B, C, D> get() {
                return new TaskProcessor<>(opening);
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return stores;
            }
        };
    }

    @Override
    public void init(ProcessorContext<C, D> context) {
        life = new TaskContext<>(context);
        task = opening.apply(life);
    }

    @Override
    public void process(Record<A, B> record) {
        Task<A, B> open = task;
        if (open == null) {
            throw new IllegalStateException("a record was handed over before the task began");
        }
        open.process(record);
    }

    @Override
    public void close() {
        Task<A, B> open = task;
        task = null;
        if (life != null) {
            life.end();
        }
        if (open != null) {
            open.close();
        }
    }
}
