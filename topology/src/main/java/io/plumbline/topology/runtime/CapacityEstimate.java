package io.plumbline.topology.runtime;

import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.broker.Standbys;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.MonitorConfig;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;

/**
 * Estimates the memory of one monitor, and what it writes to its own topics, from a configuration and the sizes of its
 * explainers. Reads no weights.
 *
 * <p>{@link CapacityFormulas} says how each is computed. Measured against the heap in {@code PaneMemoryTest}, {@code
 * SiteMemoryTest} and {@code ScaleSoak}: within 25 %.
 *
 * @param held what stays for as long as the monitor runs
 * @param working what comes and goes, the most of each and never two together
 * @param buffers what fills when there is a backlog
 * @param outside memory outside of the heap
 * @param adapter what the adapter keeps while all sites are drifted, in a process of its own or in this one
 * @param written what goes to the monitor's own topics
 * @param enoughHeapBytes the least heap that also holds a backlog and the panes that the monitor lets wait in it
 */
public record CapacityEstimate(
        Deployment deployment,
        List<Part> held,
        List<Part> working,
        List<Part> buffers,
        List<Part> outside,
        List<Part> adapter,
        List<Written> written,
        long enoughHeapBytes) {

    /** A line of the estimate. */
    public record Part(String what, long bytes) {}

    /**
     * The bytes of one topic.
     *
     * @param bytesPerCommit at a commit in which every site has new rows
     * @param bytesPerDay of all sites, without replication
     */
    public record Written(String topic, long bytesPerCommit, long bytesPerDay) {}

    /**
     * Says how the application is run.
     *
     * @param partitions of the activations topic
     * @param instances that share the work; each holds all explainers and its share of the panes
     * @param spread whether the rows of a site come through all partitions, and not through one
     * @param standbys copies of its state that others keep, see {@link Standbys}
     */
    public record Deployment(int partitions, int instances, boolean spread, int standbys) {
        public Deployment {
            if (partitions < 1 || instances < 1) {
                throw new IllegalArgumentException(
                        "%d partitions, %d instances: expected at least 1 of each".formatted(partitions, instances));
            }
            if (standbys < 0) {
                throw new IllegalArgumentException("%d standbys: expected 0 or more".formatted(standbys));
            }
        }

        /** Returns of how many partitions one instance holds panes of a site, on average over sites. */
        double panesPerSite() {
            return spread ? Math.ceil((double) partitions / instances) : 1.0 / instances;
        }

        int partitionsHere() {
            return (partitions + instances - 1) / instances;
        }
    }

    private static final long MOST_WAITING_PANES = 1_000;
    private static final long STEP = 1L << 20;

    private static List<SiteSizes> sizes(MonitorConfig config, ToIntFunction<SiteSettings> requestComponents) {
        return config.sites().values().stream()
                .map(site -> SiteSizes.of(site, config.adaptationOf(site), requestComponents.applyAsInt(site)))
                .flatMap(Optional::stream)
                .toList();
    }

    public CapacityEstimate {
        held = List.copyOf(held);
        working = List.copyOf(working);
        buffers = List.copyOf(buffers);
        outside = List.copyOf(outside);
        adapter = List.copyOf(adapter);
        written = List.copyOf(written);
    }

    /** Returns the estimate of a configuration whose baselines say along how many directions requests are totalled. */
    public static CapacityEstimate of(MonitorConfig config, Deployment deployment, long heapBytes) {
        return of(config, deployment, heapBytes, SiteSizes::requestComponents);
    }

    /**
     * Returns the estimate of a configuration. Sites whose explainers cannot be read are left out: {@link ConfigCheck}
     * names them.
     *
     * @param heapBytes the heap it is meant for
     * @param requestComponents directions along which requests of a site are totalled; 0: they are not
     */
    public static CapacityEstimate of(
            MonitorConfig config,
            Deployment deployment,
            long heapBytes,
            ToIntFunction<SiteSettings> requestComponents) {
        List<SiteSizes> sites = sizes(config, requestComponents);
        CapacityFormulas formulas = new CapacityFormulas(config, sites, deployment, HeapRegion.of(heapBytes));
        return new CapacityEstimate(
                deployment,
                formulas.held(),
                formulas.working(),
                formulas.buffers(waitingPanes(config, sites, deployment, heapBytes)),
                formulas.outside(),
                formulas.adapter(),
                formulas.written(),
                enoughHeap(config, sites, deployment, formulas));
    }

    /**
     * Returns the least heap that has room for what fills in a backlog. The panes that may wait grow with half of the
     * heap, so each step halves what is missing.
     */
    private static long enoughHeap(
            MonitorConfig config, List<SiteSizes> sites, Deployment deployment, CapacityFormulas formulas) {
        long least = sum(formulas.held())
                + formulas.working().stream().mapToLong(Part::bytes).max().orElse(0);
        long heap = least;
        long needed = least;
        do {
            heap = Math.max(heap + STEP, needed);
            needed = least + sum(formulas.buffers(waitingPanes(config, sites, deployment, heap)));
        } while (needed > heap);
        return heap;
    }

    private static int waitingPanes(
            MonitorConfig config, List<SiteSizes> sites, Deployment deployment, long heapBytes) {
        return deployment.partitions() == 1 ? 0 : waitingPanes(config, sites, deployment.partitions(), heapBytes);
    }

    /**
     * Returns how many panes of a site may wait for a slower partition: as configured, or as many as half of the heap
     * that is left has room for.
     */
    static int waitingPanes(MonitorConfig config, int partitions, long heapBytes) {
        return waitingPanes(config, sizes(config, SiteSizes::requestComponents), partitions, heapBytes);
    }

    private static int waitingPanes(MonitorConfig config, List<SiteSizes> sites, int partitions, long heapBytes) {
        Integer configured = config.waitingPanes();
        if (configured != null) {
            return configured;
        }
        Deployment alone = new Deployment(partitions, 1, false, 0);
        CapacityFormulas formulas = new CapacityFormulas(config, sites, alone, HeapRegion.of(heapBytes));
        long left = heapBytes - sum(formulas.held()) - sum(formulas.working());
        long panes = left / 2 / Math.max(1, Math.round(formulas.waitingPane()));
        int least = config.window().leastWaitingPanes(config.limits().ahead());
        return (int) Math.max(least, Math.min(panes, MOST_WAITING_PANES));
    }

    public long heldBytes() {
        return sum(held);
    }

    /** Returns the heap below which the monitor cannot work: what is held, and the most that comes and goes. */
    public long leastHeapBytes() {
        return heldBytes() + working.stream().mapToLong(Part::bytes).max().orElse(0);
    }

    /** Returns the heap with which the monitor can also work off a backlog of the largest records. */
    public long ampleHeapBytes() {
        return leastHeapBytes() + sum(buffers);
    }

    private static long sum(List<Part> parts) {
        return parts.stream().mapToLong(Part::bytes).sum();
    }
}
