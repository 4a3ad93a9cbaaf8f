package io.plumbline.topology.joining;

import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.RefusedRecords;
import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.topology.kafka.TaskProcessor;
import io.plumbline.topology.windows.CommitHook;
import io.plumbline.topology.windows.StoreKind;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.topology.windows.WindowStage;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/** Builds the processor that joins parts, together with its store. */
public final class JoinStage {

    /** The name of the store of parts that wait, per source partition. */
    public static final String PARTS_STORE = "parts";

    private JoinStage() {}

    /**
     * Names the nodes that take what the stage hands on.
     *
     * @param whole takes records as bytes, those that came whole and joined ones
     * @param times takes the word that time has come so far for a block
     */
    public record Nodes(String whole, String times) {}

    /** Returns whether records of any of these sites may come in parts. */
    public static boolean isNeeded(Map<String, SiteShape> shapes) {
        return !JoinedSite.byName(shapes).isEmpty();
    }

    /**
     * Returns the stage. It must be connected to {@link WindowStage#PANES_STORE}.
     *
     * @param windows knows which panes have closed
     * @param kind where parts are kept between commits
     * @param logConfig topic settings of the change-log
     * @param refused takes the parts that are given up
     */
    public static ProcessorSupplier<byte[], byte[], Object, Object> supplier(
            Map<String, SiteShape> shapes,
            Limits limits,
            Nodes nodes,
            WindowStage windows,
            StoreKind kind,
            Map<String, String> logConfig,
            RefusedRecords refused,
            WindowListener listener) {
        Map<Bytes, JoinedSite> sites = JoinedSite.byName(shapes);
        CommitHook hook = new CommitHook(PARTS_STORE + "-commit-hook");
        return TaskProcessor.supplier(
                Set.of(store(kind, logConfig), hook.storeBuilder()),
                context ->
                        new JoinTask(context, sites, limits, nodes, refused, listener, windows.closing(context), hook));
    }

    private static StoreBuilder<KeyValueStore<Bytes, byte[]>> store(StoreKind kind, Map<String, String> logConfig) {
        KeyValueBytesStoreSupplier supplier = kind == StoreKind.ROCKSDB
                ? Stores.persistentKeyValueStore(PARTS_STORE)
                : Stores.inMemoryKeyValueStore(PARTS_STORE);
        return Stores.keyValueStoreBuilder(supplier, Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig)
                .withCachingDisabled();
    }
}
