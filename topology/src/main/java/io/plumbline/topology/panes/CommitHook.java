package io.plumbline.topology.panes;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;

/**
 * Runs a callback when Kafka Streams is about to commit, while its writes still belong to the transaction.
 *
 * <p>Made of documented behaviour only: a store with caching keeps writes in the record cache and passes them to the
 * underlying store when the task commits, before the producer is flushed. So the underlying store here keeps nothing;
 * its {@code put} is the hook. A processor that changed its live state raises its {@link Signal}; the next commit calls
 * back. An early eviction from the cache calls back early, which is harmless.
 *
 * <p>{@code StateStore.flush} and {@code commit} do not do: since Kafka 2.6 they run after the transaction, and not at
 * all under exactly-once while the task runs. An exception in the callback fails the task, which aborts the
 * transaction.
 *
 * <p><b>A callback belongs to one store object, not to a task's id.</b> Without a store on disk Kafka Streams locks no
 * task: a thread that its group gave up on, because it was busy for longer than {@code max.poll.interval.ms} or the
 * machine slept, may still hold a task that another thread of this process has taken over. By id it would write the
 * successor's panes from the wrong thread, and take the successor's callback away when it closes.
 *
 * <p>One instance per store name and topology; thread-safe.
 */
public final class CommitHook {

    /** The one key and value written to the hook store: "this task has something to write". */
    private static final Bytes TOKEN = Bytes.wrap(new byte[] {1});

    /** The key of a claim, which is only read: never in the cache, so the read reaches the store beneath it. */
    private static final Bytes CLAIM = Bytes.wrap(new byte[] {2});

    /** Hands a callback down to the store through the layers that Kafka Streams puts around it. */
    private static final ThreadLocal<Runnable> CLAIMING = new ThreadLocal<>();

    private final String name;

    public CommitHook(String name) {
        this.name = name;
    }

    /** Lets a processor raise its hook. */
    public static final class Signal {

        private final KeyValueStore<Bytes, byte[]> store;

        private Signal(KeyValueStore<Bytes, byte[]> store) {
            this.store = store;
        }

        /** Says that there is something to write: the next commit of this task calls back. */
        public void raise() {
            store.put(TOKEN, TOKEN.get());
        }
    }

    /**
     * Has {@code callback} run before each commit for which the signal was raised. To be called from {@code
     * Processor.init}.
     */
    public Signal beforeCommit(ProcessorContext<?, ?> context, Runnable callback) {
        KeyValueStore<Bytes, byte[]> store = context.getStateStore(name);
        CLAIMING.set(callback);
        try {
            byte[] unused = store.get(CLAIM);
        } finally {
            CLAIMING.remove();
        }
        return new Signal(store);
    }

    /** The store to add to the topology and to connect to the processor. */
    public StoreBuilder<KeyValueStore<Bytes, byte[]>> storeBuilder() {
        KeyValueBytesStoreSupplier supplier = new KeyValueBytesStoreSupplier() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public KeyValueStore<Bytes, byte[]> get() {
                return new HookStore();
            }

            @Override
            public String metricsScope() {
                return "commit-hook";
            }
        };
        return Stores.keyValueStoreBuilder(supplier, Serdes.Bytes(), Serdes.ByteArray())
                .withCachingEnabled()
                .withLoggingDisabled();
    }

    /** Keeps nothing; a write is the signal. */
    private final class HookStore implements KeyValueStore<Bytes, byte[]> {

        private @Nullable TaskId task;
        private @Nullable Runnable callback;
        private boolean open;

        @Override
        public String name() {
            return name;
        }

        @Override
        public void init(StateStoreContext context, StateStore root) {
            task = context.taskId();
            context.register(root, (key, value) -> {});
            open = true;
        }

        @Override
        public void put(Bytes key, byte @Nullable [] value) {
            Runnable registered = callback;
            if (registered == null) {
                throw new IllegalStateException("%s: task %s wrote its token before registering".formatted(name, task));
            }
            registered.run();
        }

        @Override
        public byte @Nullable [] putIfAbsent(Bytes key, byte @Nullable [] value) {
            put(key, value);
            return null;
        }

        @Override
        public void putAll(List<KeyValue<Bytes, byte[]>> entries) {
            entries.forEach(entry -> put(entry.key, entry.value));
        }

        @Override
        public byte @Nullable [] delete(Bytes key) {
            return null;
        }

        @Override
        public byte @Nullable [] get(Bytes key) {
            if (key.equals(CLAIM)) {
                callback = Objects.requireNonNull(CLAIMING.get(), "read outside beforeCommit");
            }
            return null;
        }

        @Override
        public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
            return new NoEntries();
        }

        @Override
        public KeyValueIterator<Bytes, byte[]> all() {
            return new NoEntries();
        }

        @Override
        public long approximateNumEntries() {
            return 0;
        }

        @Override
        public void commit(Map<org.apache.kafka.common.TopicPartition, Long> changelogOffsets) {}

        @Override
        public void close() {
            open = false;
            callback = null;
        }

        @Override
        public boolean persistent() {
            return false;
        }

        @Override
        public boolean isOpen() {
            return open;
        }
    }

    private static final class NoEntries implements KeyValueIterator<Bytes, byte[]> {
        @Override
        public void close() {}

        @Override
        public Bytes peekNextKey() {
            throw new java.util.NoSuchElementException("the hook store keeps nothing");
        }

        @Override
        public boolean hasNext() {
            return false;
        }

        @Override
        public KeyValue<Bytes, byte[]> next() {
            throw new java.util.NoSuchElementException("the hook store keeps nothing");
        }
    }
}
