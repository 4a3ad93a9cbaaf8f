package io.plumbline.topology.runtime;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.plumbline.calibration.Baseline;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.moments.RequestTotals;
import io.plumbline.moments.WaitingRequests;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.broker.Standbys;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.windows.StoreKind;
import io.plumbline.topology.windows.WindowSettings;
import io.plumbline.wire.GivenCodes;
import io.plumbline.wire.MomentTile;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.function.ToIntFunction;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one monitor, and what it writes to its own topics, from a configuration and the sizes of its
 * explainers. Reads no weights.
 *
 * <p>With d the target width, k the features, r the rank, s the sampled rows and w the width of a sampled row
 * ({@code d}, for a transcoder input and target width together), in bytes:
 *
 * <pre>
 * pane, live            4 d (d + 3) + s (4 w + {@link #ROW_OVERHEAD})
 * rows that wait        4 d {@link FloatPanel#capacity}, in each live pane where rows are read
 * pane, in a store      4 d (d + 3) + {@link #STORED_SAMPLE} s (4 w + 16)
 * request totals, live  {@link RequestTotals#DEFAULT_CAPACITY} (8 p + 192), for p directions of requests
 * in a store, sent       1.5 and 1 times {@link RequestTotals#DEFAULT_CAPACITY} (8 p + 45)
 * sums that wait        128 d, in each live pane where rows of such a site are read
 * explainer             4 k d_in + 4 k d; 8 for weights stored as F64, and of an encoder with fewer than 2^20 of them
 * reading one           8 k d_in, before the encoder's weights are laid out, and no decoder of it yet
 * baseline, geometry    4 d (d + 3) + 40 d² + 24 d r + 16 d p
 * one assessment        {@link #ASSESSMENT} d², once per stream thread, of the widest site
 * pooled, in the adapter (p + s) (4 w + 24), while the site is drifted; p {@code adaptation.pooled_rows}
 * </pre>
 *
 * <p>Java's default collector, G1, gives an array of at least half of one of its regions (8 MiB, as the launcher sets
 * it) regions of its own: a moment of d = 2,048 takes 24 MiB instead of 16. The large arrays are rounded up so.
 *
 * <p>Panes open: {@link WindowSettings#openPanesPerPartition} at level 1, {@link WindowSettings#openPanesPerWindow} at
 * level 2. Measured against the heap in {@code PaneMemoryTest}, {@code SiteMemoryTest} and {@code ScaleSoak}: within 25
 * %.
 *
 * @param held what stays for as long as the monitor runs
 * @param working what comes and goes, the most of each and never two together
 * @param buffers what Kafka's clients fill when there is a backlog
 * @param outside memory outside of the heap
 * @param adapter what the adapter keeps while all sites are drifted, in a process of its own or in this one
 * @param written what goes to the monitor's own topics
 */
public record CapacityEstimate(
        Deployment deployment,
        List<Part> held,
        List<Part> working,
        List<Part> buffers,
        List<Part> outside,
        List<Part> adapter,
        List<Written> written) {

    /** A line of the estimate. */
    public record Part(String what, long bytes) {}

    /**
     * What one topic takes up.
     *
     * @param bytesPerCommit at a commit in which every site has new rows
     * @param bytesPerDay of all sites, without replication
     */
    public record Written(String topic, long bytesPerCommit, long bytesPerDay) {}

    /**
     * How the application is run.
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
        private double panesPerSite() {
            return spread ? Math.ceil((double) partitions / instances) : 1.0 / instances;
        }

        private int partitionsHere() {
            return (partitions + instances - 1) / instances;
        }
    }

    /** Objects around a sampled row: its record, array, tree entry, key, and its hash among the stored ones. */
    static final int ROW_OVERHEAD = 136;

    /** {@code -XX:G1HeapRegionSize} in {@code deploy/distribution/java.sh}. */
    static final long LAUNCHERS_REGION = 8L << 20;

    /** A store holds the rows that came since the sample was last written whole, at most three times the sample. */
    static final double STORED_SAMPLE = 2.0;

    /** A store holds at most twice the requests that are kept, and a few more. */
    static final double STORED_TOTALS = 1.5;

    /** A request's name, as an object; 20 characters of it, which is what it has on its way, beside its numbers. */
    private static final int NAME_OVERHEAD = 64;

    private static final int ENCODED_REQUEST = 25 + 20;

    /** Measured as the least heap in which a window is assessed, less what is held: 46 to 53 at d = 1,024. */
    static final int ASSESSMENT = 50;

    /** Java's and Kafka's own objects, before the first site. */
    static final long BASE = 48L << 20;

    private static final int ARRAY_HEADER = 16;
    private static final int SAMPLED_ROW_HEADER = 16;
    private static final int SENT_ROW_HEADER = 24;
    private static final long LARGEST_ACTIVATION_RECORD = 1L << 20;
    private static final long LARGEST_MOMENT_RECORD = 512L << 10;
    private static final long FETCH = 50L << 20;
    private static final long ROCKSDB_PER_STORE = (50L + 3 * 16) << 20;
    private static final long DAY_MS = 86_400_000;

    public CapacityEstimate {
        held = List.copyOf(held);
        working = List.copyOf(working);
        buffers = List.copyOf(buffers);
        outside = List.copyOf(outside);
        adapter = List.copyOf(adapter);
        written = List.copyOf(written);
    }

    /** Sizes of one site. */
    private record Site(ExplainerShape shape, int rank, boolean adapts, int pooledRows, int requestComponents) {

        /** Live, where windows are composed. */
        double totals() {
            return requestComponents == 0
                    ? 0
                    : (double) RequestTotals.DEFAULT_CAPACITY
                            * (8.0 * requestComponents + RequestTotals.ENTRY_OVERHEAD + NAME_OVERHEAD);
        }

        /** Returns the bytes of the request totals as they are stored once and sent. */
        double encodedTotals() {
            return requestComponents == 0
                    ? 0
                    : (double) RequestTotals.DEFAULT_CAPACITY * (8.0 * requestComponents + ENCODED_REQUEST);
        }

        /** Sums that wait to be projected. */
        double waitingRequests() {
            return requestComponents == 0 ? 0 : WaitingRequests.bytes(shape.targetWidth());
        }

        double moment() {
            return 8.0 * MomentTile.stateLength(shape.targetWidth());
        }

        int sampledValues() {
            return shape.transcoder() ? shape.inputWidth() + shape.targetWidth() : shape.targetWidth();
        }

        double sampledRow() {
            return 4.0 * sampledValues();
        }

        double squared() {
            return (double) shape.targetWidth() * shape.targetWidth();
        }
    }

    /** Returns the estimate of a configuration whose baselines say along how many directions requests are totalled. */
    public static CapacityEstimate of(MonitorConfig config, Deployment deployment, long heapBytes) {
        return of(config, deployment, heapBytes, CapacityEstimate::requestComponents);
    }

    /** A baseline that cannot be read is named by {@link ConfigCheck}. */
    private static int requestComponents(SiteSettings site) {
        try {
            return Files.exists(site.baseline()) ? Baseline.requestComponents(site.baseline()) : 0;
        } catch (IOException | IllegalArgumentException unreadable) {
            return 0;
        }
    }

    /**
     * The estimate of a configuration. Sites whose explainers cannot be read are left out: {@link ConfigCheck} names
     * them.
     *
     * @param heapBytes the heap it is meant for
     * @param requestComponents directions along which requests of a site are totalled; 0: they are not
     */
    public static CapacityEstimate of(
            MonitorConfig config,
            Deployment deployment,
            long heapBytes,
            ToIntFunction<SiteSettings> requestComponents) {
        List<Site> sites = config.sites().values().stream()
                .map(site -> site(site, config.adaptations().get(site.site()), requestComponents.applyAsInt(site)))
                .flatMap(Optional::stream)
                .toList();
        return of(config, sites, deployment, region(heapBytes));
    }

    /** Without an explainer each row is summed with its error behind it. */
    private static ExplainerShape shape(SiteSettings settings) throws IOException {
        if (settings.hasExplainer()) {
            return Explainer.shape(settings.explainer(), settings.explainerOptions());
        }
        int dimension = Baseline.dimension(settings.baseline());
        boolean codes = GivenReconstructions.of(1, settings.explainerOptions()).hasCodes();
        return new ExplainerShape(
                2 * dimension + (codes ? GivenCodes.WIDTH : 0), 2 * dimension, dimension, codes, dimension, true);
    }

    private static Optional<Site> site(
            SiteSettings settings, @Nullable AdaptationSettings adaptation, int requestComponents) {
        try {
            return Files.exists(settings.hasExplainer() ? settings.explainer() : settings.baseline())
                    ? Optional.of(new Site(
                            shape(settings),
                            settings.rank(),
                            settings.adapts(),
                            adaptation == null ? 0 : adaptation.pooledRows(),
                            requestComponents))
                    : Optional.empty();
        } catch (IOException | IllegalArgumentException unreadable) {
            return Optional.empty();
        }
    }

    /**
     * Returns the size of a heap region as this JVM has it, or as the launcher sets it for one with another heap; 1:
     * another collector, which wastes
     * nothing.
     */
    private static long region(long heapBytes) {
        if (heapBytes != Runtime.getRuntime().maxMemory()) {
            return LAUNCHERS_REGION;
        }
        boolean g1 = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .anyMatch(collector -> collector.getName().startsWith("G1"));
        return g1
                ? Long.parseLong(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                        .getVMOption("G1HeapRegionSize")
                        .getValue())
                : 1;
    }

    /** What an array of float64 takes in a heap of such regions. */
    private static double array(double values, long region) {
        return array(values, Double.BYTES, region);
    }

    private static double array(double values, int bytesEach, long region) {
        double bytes = bytesEach * values + ARRAY_HEADER;
        return bytes < region / 2.0 ? bytes : Math.ceil(bytes / region) * region;
    }

    private static CapacityEstimate of(MonitorConfig config, List<Site> sites, Deployment deployment, long region) {
        Properties properties = StreamsSettings.monitor(config);
        WindowSettings window = config.window();
        int threads = number(properties, StreamsConfig.NUM_STREAM_THREADS_CONFIG);
        int standbys = deployment.standbys();
        double level1 = deployment.panesPerSite() * window.openPanesPerPartition();
        double level2 = (double) window.openPanesPerWindow() / deployment.instances();
        double live = 0;
        double waiting = 0;
        double stored = 0;
        double explainers = 0;
        double geometry = 0;
        double decoders = 0;
        double assessment = 0;
        double reading = 0;
        for (Site site : sites) {
            double moment = array(MomentTile.stateLength(site.shape().targetWidth()), region);
            live += site.totals() + moment + config.sampleRows() * (site.sampledRow() + ROW_OVERHEAD);
            int width = site.shape().targetWidth();
            // An array for each batch.
            waiting += (double) FloatPanel.capacity(width)
                    / FloatPanel.ROWS
                    * array((double) FloatPanel.ROWS * width, Float.BYTES, region);
            waiting += site.waitingRequests();
            stored += storedPane(site, config.sampleRows());
            ExplainerShape shape = site.shape();
            double encoderWeights = (double) shape.features() * shape.inputWidth();
            double decoder = array((double) shape.features() * shape.targetWidth(), shape.decoderWeightBytes(), region);
            explainers += decoder + array(encoderWeights, shape.encoderWeightBytes(), region);
            reading = Math.max(reading, array(encoderWeights, region) - decoder);
            geometry += moment
                    + 5 * array(site.squared(), region)
                    + 3 * array((double) shape.targetWidth() * site.rank(), region)
                    + 2 * array((double) shape.targetWidth() * site.requestComponents(), region);
            decoders += site.adapts() ? decoder : 0;
            assessment = Math.max(assessment, ASSESSMENT * site.squared() + 2 * moment);
        }
        List<Part> held = new ArrayList<>();
        held.add(part("Java and Kafka, before the first site", BASE));
        held.add(part("explainers", explainers));
        held.add(part("baselines and their geometry", geometry));
        held.add(part("adapted decoders in service", decoders));
        held.add(part("open panes where rows are read", level1 * (live + waiting)));
        held.add(part("open panes where windows are composed", level2 * live));
        if (config.store() == StoreKind.MEMORY) {
            double copies = 1 + standbys;
            held.add(part("both as stored (state.store: memory)", copies * (level1 + level2) * stored));
        }
        List<Part> working = List.of(
                part("one window's assessment per stream thread", threads * assessment),
                part("or, at the start, reading the largest explainer", reading));
        int buffered = number(properties, StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG)
                + number(properties, StreamsConfig.mainConsumerPrefix("max.poll.records"));
        long perPartition = buffered * (LARGEST_ACTIVATION_RECORD + LARGEST_MOMENT_RECORD);
        List<Part> buffers = List.of(
                part("records waiting, of 1 MiB each", (double) deployment.partitionsHere() * perPartition),
                part("fetched and being sent, per stream thread", (double) threads * (FETCH + sendBuffer(properties))));
        List<Part> outside = config.store() == StoreKind.ROCKSDB
                ? List.of(part(
                        "RocksDB, its default caches of two stores per partition",
                        2.0 * deployment.partitionsHere() * (1 + standbys) * ROCKSDB_PER_STORE))
                : List.of();
        return new CapacityEstimate(
                deployment,
                held,
                working,
                buffers,
                outside,
                adapter(config, sites),
                written(config, sites, deployment, properties));
    }

    /** Once in its store and, one site at a time, once more as rows. */
    private static List<Part> adapter(MonitorConfig config, List<Site> sites) {
        double stored = 0;
        double answered = 0;
        for (Site site : sites) {
            if (site.adapts()) {
                double rows = (double) site.pooledRows() + config.sampleRows();
                stored += rows * sentRow(site);
                answered = Math.max(answered, rows * (site.sampledRow() + ROW_OVERHEAD));
            }
        }
        return List.of(
                part("rows pooled while all sites are drifted", stored),
                part("those of one site again, while it is answered", answered));
    }

    private static double sentRow(Site site) {
        return site.sampledRow() + SENT_ROW_HEADER;
    }

    private static double storedPane(Site site, int sampleRows) {
        return site.moment()
                + STORED_SAMPLE * sampleRows * (site.sampledRow() + SAMPLED_ROW_HEADER)
                + STORED_TOTALS * site.encodedTotals();
    }

    private static List<Written> written(
            MonitorConfig config, List<Site> sites, Deployment deployment, Properties properties) {
        long commitMs = number(properties, StreamsConfig.COMMIT_INTERVAL_MS_CONFIG);
        long paneMs = config.window().paneMs();
        double commitsPerPane = Math.max(1, (double) paneMs / commitMs);
        double panesPerDay = (double) DAY_MS / paneMs;
        // Of k rows sampled so far, the i-th commit replaces a share of 1/i.
        double samplesPerPane = 1 + Math.log(commitsPerPane);
        int partitionsOfASite = deployment.spread() ? deployment.partitions() : 1;
        double moments = 0;
        double samples = 0;
        for (Site site : sites) {
            moments += site.moment();
            samples += config.sampleRows() * (site.sampledRow() + SAMPLED_ROW_HEADER) + site.encodedTotals();
        }
        double windowsPerDay = (double) DAY_MS / config.window().size().toMillis();
        // Of windows that overlap every row is sent once.
        double drifted = windowsPerDay
                * sites.stream()
                        .filter(Site::adapts)
                        .mapToDouble(site -> config.sampleRows() * sentRow(site))
                        .sum();
        String prefix = config.monitorApplicationId() + "-";
        double first = partitionsOfASite * (moments + samples * samplesPerPane / commitsPerPane);
        double pane = partitionsOfASite * (moments + samples);
        return List.of(
                new Written(
                        prefix + "panes-changelog",
                        Math.round(first),
                        Math.round(first * commitsPerPane * panesPerDay)),
                new Written(config.topics().moments(), 0, Math.round(pane * panesPerDay)),
                new Written(prefix + "windows-changelog", 0, Math.round(pane * panesPerDay)),
                new Written(
                        config.topics().adaptationRequests() + ", while all sites are drifted", 0, Math.round(drifted)),
                new Written(
                        config.adapterApplicationId() + "-request-parts-changelog, likewise", 0, Math.round(drifted)));
    }

    private static Part part(String what, double bytes) {
        return new Part(what, Math.round(bytes));
    }

    private static int number(Properties properties, String key) {
        Object value = properties.get(key);
        return Integer.parseInt(String.valueOf(
                        value == null
                                ? StreamsConfig.configDef().defaultValues().get(key)
                                : value)
                .strip());
    }

    private static long sendBuffer(Properties properties) {
        Object own = properties.get(StreamsConfig.producerPrefix(ProducerConfig.BUFFER_MEMORY_CONFIG));
        return own == null ? 32L << 20 : Long.parseLong(String.valueOf(own).strip());
    }

    public long heldBytes() {
        return sum(held);
    }

    /** Below this the monitor cannot work: what is held, and the most that comes and goes. */
    public long leastHeapBytes() {
        return heldBytes() + working.stream().mapToLong(Part::bytes).max().orElse(0);
    }

    /** With this it can also work off a backlog of the largest records. */
    public long ampleHeapBytes() {
        return leastHeapBytes() + sum(buffers);
    }

    private static long sum(List<Part> parts) {
        return parts.stream().mapToLong(Part::bytes).sum();
    }
}
