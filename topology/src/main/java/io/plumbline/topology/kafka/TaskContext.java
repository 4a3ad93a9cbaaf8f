package io.plumbline.topology.kafka;

import java.io.File;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.StreamsMetrics;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.Punctuator;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * Ends with a life of a task what that life scheduled. Kafka Streams 4.3 may close a task and begin it again in the
 * same object, with the same context, and goes on calling what was scheduled before: two lives would then work on one
 * state.
 *
 * @param <K> keys forwarded
 * @param <V> values forwarded
 */
final class TaskContext<K, V> implements ProcessorContext<K, V> {

    private final ProcessorContext<K, V> inner;
    private final List<Cancellable> scheduled = new ArrayList<>();

    TaskContext(ProcessorContext<K, V> inner) {
        this.inner = inner;
    }

    /** Ends what was scheduled. */
    void end() {
        scheduled.forEach(Cancellable::cancel);
        scheduled.clear();
    }

    @Override
    public Cancellable schedule(Duration interval, PunctuationType type, Punctuator callback) {
        return remembered(inner.schedule(interval, type, callback));
    }

    @Override
    public Cancellable schedule(Instant first, Duration interval, PunctuationType type, Punctuator callback) {
        return remembered(inner.schedule(first, interval, type, callback));
    }

    private Cancellable remembered(Cancellable one) {
        scheduled.add(one);
        return one;
    }

    @Override
    public <L extends K, W extends V> void forward(Record<L, W> record) {
        inner.forward(record);
    }

    @Override
    public <L extends K, W extends V> void forward(Record<L, W> record, String child) {
        inner.forward(record, child);
    }

    @Override
    public String applicationId() {
        return inner.applicationId();
    }

    @Override
    public TaskId taskId() {
        return inner.taskId();
    }

    @Override
    public Optional<RecordMetadata> recordMetadata() {
        return inner.recordMetadata();
    }

    @Override
    public Serde<?> keySerde() {
        return inner.keySerde();
    }

    @Override
    public Serde<?> valueSerde() {
        return inner.valueSerde();
    }

    @Override
    public File stateDir() {
        return inner.stateDir();
    }

    @Override
    public StreamsMetrics metrics() {
        return inner.metrics();
    }

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // the signature is Kafka's
    public <S extends StateStore> S getStateStore(String name) {
        return inner.getStateStore(name);
    }

    @Override
    public void commit() {
        inner.commit();
    }

    @Override
    public Map<String, Object> appConfigs() {
        return inner.appConfigs();
    }

    @Override
    public Map<String, Object> appConfigsWithPrefix(String prefix) {
        return inner.appConfigsWithPrefix(prefix);
    }

    @Override
    public long currentSystemTimeMs() {
        return inner.currentSystemTimeMs();
    }

    @Override
    public long currentStreamTimeMs() {
        return inner.currentStreamTimeMs();
    }
}
