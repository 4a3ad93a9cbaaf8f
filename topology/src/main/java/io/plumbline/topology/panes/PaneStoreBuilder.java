package io.plumbline.topology.panes;

import java.util.Map;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/** Builds {@link PaneStore}s over an in-memory or RocksDB key-value store. */
public final class PaneStoreBuilder<S> implements StoreBuilder<PaneStore<S>> {

    private final String name;
    private final StoreKind kind;
    private final SiteStateCodec<S> codec;
    private final Map<String, Integer> dimensions;
    private final int sampleRows;
    private final RequestTotalling totalling;
    private Map<String, String> logConfig;

    /**
     * @param dimensions target width of each configured site
     * @param sampleRows rows kept per pane for a refit
     * @param totalling which request totals are kept
     * @param logConfig topic settings of the change-log
     */
    public PaneStoreBuilder(
            String name,
            StoreKind kind,
            SiteStateCodec<S> codec,
            Map<String, Integer> dimensions,
            int sampleRows,
            RequestTotalling totalling,
            Map<String, String> logConfig) {
        this.name = name;
        this.kind = kind;
        this.codec = codec;
        this.dimensions = Map.copyOf(dimensions);
        this.sampleRows = sampleRows;
        this.totalling = totalling;
        this.logConfig = Map.copyOf(logConfig);
    }

    @Override
    public PaneStore<S> build() {
        KeyValueBytesStoreSupplier supplier =
                kind == StoreKind.ROCKSDB ? Stores.persistentKeyValueStore(name) : Stores.inMemoryKeyValueStore(name);
        KeyValueStore<Bytes, byte[]> inner = Stores.keyValueStoreBuilder(supplier, Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig)
                .withCachingDisabled()
                .build();
        return new PaneStore<>(inner, codec, dimensions, sampleRows, totalling);
    }

    @Override
    public StoreBuilder<PaneStore<S>> withCachingEnabled() {
        throw new IllegalStateException(name + ": the live panes are the cache");
    }

    @Override
    public StoreBuilder<PaneStore<S>> withCachingDisabled() {
        return this;
    }

    @Override
    public StoreBuilder<PaneStore<S>> withLoggingEnabled(Map<String, String> config) {
        logConfig = Map.copyOf(config);
        return this;
    }

    @Override
    public StoreBuilder<PaneStore<S>> withLoggingDisabled() {
        throw new IllegalStateException(name + ": without its change-log a crash would lose rows");
    }

    @Override
    public Map<String, String> logConfig() {
        return logConfig;
    }

    @Override
    public boolean loggingEnabled() {
        return true;
    }

    @Override
    public String name() {
        return name;
    }
}
