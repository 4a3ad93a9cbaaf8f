package io.plumbline.topology.windows;

import io.plumbline.topology.ingest.Admission;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.kafka.TaskProcessor;
import io.plumbline.topology.panes.Agreement;
import io.plumbline.topology.panes.CommitHook;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.PaneStoreBuilder;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.SiteStateCodec;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.panes.WindowSettings;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;

/**
 * Builds the two processors of this stage together with their stores: a processor and the store it owns never come
 * apart.
 */
public final class WindowStage {

    /** The name of the store of open panes per source partition. */
    public static final String PANES_STORE = "panes";

    /** The name of the store of open windows per site. */
    public static final String WINDOWS_STORE = "windows";

    private final WindowSettings settings;
    private final StoreKind kind;
    private final Map<String, Integer> dimensions;
    private final int sampleRows;
    private final RequestTotalling totalling;
    private final Map<String, String> logConfig;
    private final WindowListener listener;
    private final Map<String, Agreement> agreements = new TreeMap<>();

    /**
     * @param dimensions target width of each configured site
     * @param sampleRows rows kept per pane and window for a refit
     * @param totalling the sites whose request totals are kept
     * @param logConfig topic settings of the change-logs
     * @param agreed what else than windows and widths all instances must agree on, by site
     */
    public WindowStage(
            WindowSettings settings,
            StoreKind kind,
            Map<String, Integer> dimensions,
            int sampleRows,
            RequestTotalling totalling,
            Map<String, String> logConfig,
            WindowListener listener,
            Map<String, Map<String, String>> agreed) {
        this.settings = settings;
        this.kind = kind;
        this.dimensions = dimensions;
        this.sampleRows = sampleRows;
        this.totalling = totalling;
        this.logConfig = logConfig;
        this.listener = listener;
        dimensions.forEach((site, width) ->
                agreements.put(site, Agreement.of(settings, width, agreed.getOrDefault(site, Map.of()))));
    }

    /**
     * A topic that rows are read from.
     *
     * @param store where its open panes are kept: {@link #PANES_STORE}, or a store of its own where there are several
     * @param sites whose rows come by it
     * @param partitions of the topic: a window waits for all of them
     * @param watch tells silence of a site from a source that cannot be read
     */
    public record Source(String store, Set<String> sites, int partitions, SourceWatch watch) {

        public Source {
            sites = Set.copyOf(sites);
        }
    }

    /**
     * Returns level 1, to run where records are read.
     *
     * @param ahead how far the clock of a producer may be ahead of another's
     */
    public ProcessorSupplier<String, Ingested, byte[], byte[]> accumulator(Source source, Duration ahead) {
        CommitHook hook = new CommitHook(source.store() + "-commit-hook");
        Map<String, Agreement> own = new TreeMap<>(agreements);
        own.keySet().retainAll(source.sites());
        Map<String, Integer> widths = new TreeMap<>(dimensions);
        widths.keySet().retainAll(source.sites());
        return TaskProcessor.supplier(
                Set.of(storeBuilder(source.store(), SiteClock.CODEC, widths), hook.storeBuilder()),
                context -> new PaneAccumulator(context, settings, hook, source, listener, own, ahead));
    }

    /**
     * Guards level 1 where its records are read. The processor that asks must be connected to the store of the source.
     *
     * @param requestsPerWindow records of one site that one pane of one source partition takes
     */
    public Admission.Supplier admission(Source source, int requestsPerWindow) {
        return context -> new PaneAdmission(settings, context.getStateStore(source.store()), requestsPerWindow);
    }

    /** Composes as {@link #composer(WindowWork, Executor, int)} does, windows on which no work is done. */
    public ProcessorSupplier<byte[], byte[], String, ClosedWindow> composer() {
        return composer(WindowWork.NONE, WindowWorkers.none(), Integer.MAX_VALUE);
    }

    /**
     * Returns level 2, to run where one site's panes come together.
     *
     * @param work done on each window before it is forwarded
     * @param executor runs that; many tasks may share one
     * @param waitingPanes panes of a site that wait for a slower partition at most
     */
    public <V> ProcessorSupplier<byte[], byte[], String, V> composer(
            WindowWork<V> work, Executor executor, int waitingPanes) {
        CommitHook hook = new CommitHook(WINDOWS_STORE + "-commit-hook");
        return TaskProcessor.supplier(
                Set.of(storeBuilder(WINDOWS_STORE, SiteProgress.CODEC, dimensions), hook.storeBuilder()),
                context -> new WindowComposer<>(
                        context,
                        settings,
                        hook,
                        WINDOWS_STORE,
                        listener,
                        new WindowsUnderWay<>(work, executor, listener),
                        agreements,
                        waitingPanes));
    }

    private <S> StoreBuilder<PaneStore<S>> storeBuilder(
            String name, SiteStateCodec<S> codec, Map<String, Integer> widths) {
        return new PaneStoreBuilder<>(name, kind, codec, widths, sampleRows, totalling, logConfig);
    }
}
