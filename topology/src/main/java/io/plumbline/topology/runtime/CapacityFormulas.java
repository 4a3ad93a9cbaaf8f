package io.plumbline.topology.runtime;

import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.records.MomentTile;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.adaptation.RequestPool;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.runtime.CapacityEstimate.Deployment;
import io.plumbline.topology.runtime.CapacityEstimate.Part;
import io.plumbline.topology.runtime.CapacityEstimate.Written;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Holds the formulas of the {@link CapacityEstimate}.
 *
 * <p>With d the target width, k the features, r the rank, s the sampled rows and w the width of a sampled row
 * ({@code d}, for a transcoder input and target width together), in bytes:
 *
 * <pre>
 * pane, live            4 d (d + 3) + s (4 w + 136)
 * rows that wait        4 d {@link FloatPanel#capacity}, in each live pane where rows are read: at most, since only
 *                       panes that got rows since the last commit hold them
 * pane, in a store      4 d (d + 3) + 2 s (4 w + 16)
 * request totals, live  {@link RequestTotals#DEFAULT_CAPACITY} (8 p + 192), for p directions of requests
 * in a store, sent       1.5 and 1 times {@link RequestTotals#DEFAULT_CAPACITY} (8 p + 45)
 * sums that wait        128 d, in each live pane where rows of such a site are read
 * one decoder of targets 8 k D, for the k features of the largest block and the width D of all
 * explainer             4 k d_in + 4 k d; 8 for weights stored as F64, and of an encoder with fewer than 2^20 of them
 * reading one           8 k d_in, before the encoder's weights are laid out, and no decoder of it yet
 * baseline, geometry    4 d (d + 3) + 28 d² + 24 d r + 16 d p; 8 d r in place of 8 d² from d = 1,024 on, where
 *                       leading directions of the dictionary do
 * one assessment        {@link #ASSESSMENT} d², once per stream thread, of the widest site
 * pooled, in the adapter (p + s) (4 w + 24), while the site is drifted; p {@code adaptation.pooled_rows}
 * whole requests         4 v 512 q a pane, twice that in a store, for q {@code downstream.requests} of v values a row
 * held whole, in the adapter at most {@link RequestPool#MOST_BYTES}, while the site is drifted
 * </pre>
 *
 * <p>Panes that wait for a slower partition: at most {@code state.waiting_panes} of each site, live and in a store.
 *
 * <p>Panes open: {@link WindowSettings#openPanesPerPartition} at level 1, {@link WindowSettings#openPanesPerWindow} at
 * level 2. Measured against the heap in {@code PaneMemoryTest}, {@code SiteMemoryTest} and {@code ScaleSoak}: within 25
 * %.
 */
final class CapacityFormulas {

    /**
     * The bytes of an assessment, measured as the least heap in which a window is assessed, less what is held: 46 to 53
     * at d = 1,024.
     */
    private static final int ASSESSMENT = 50;

    /** The bytes of Java's and Kafka's own objects, before the first site. */
    private static final long BASE = 48L << 20;

    private static final long LARGEST_ACTIVATION_RECORD = 1L << 20;
    private static final long LARGEST_MOMENT_RECORD = 512L << 10;
    private static final long FETCH = 50L << 20;
    private static final long ROCKSDB_PER_STORE = (50L + 3 * 16) << 20;
    /** A store holds at most twice the requests that are kept, and some. */
    private static final double STORED_WHOLE = 2.0;

    private static final long DAY_MS = 86_400_000;

    private final MonitorConfig config;
    private final List<SiteSizes> sites;
    private final Deployment deployment;
    private final HeapRegion region;
    private final Properties properties;
    private final int threads;

    CapacityFormulas(MonitorConfig config, List<SiteSizes> sites, Deployment deployment, HeapRegion region) {
        this.config = config;
        this.sites = sites;
        this.deployment = deployment;
        this.region = region;
        properties = StreamsSettings.monitor(config);
        threads = number(StreamsConfig.NUM_STREAM_THREADS_CONFIG);
    }

    /** Returns what stays for as long as the monitor runs. */
    List<Part> held() {
        WindowSettings window = config.window();
        double level1 = deployment.panesPerSite() * window.openPanesPerPartition();
        double level2 = (double) window.openPanesPerWindow() / deployment.instances();
        double live = 0;
        double waiting = 0;
        double stored = 0;
        double explainers = 0;
        double geometry = 0;
        double decoders = 0;
        double whole = 0;
        for (SiteSizes site : sites) {
            live += site.totals() + moment(site) + config.sampleRows() * site.heldRow() + site.engines();
            waiting += waitingRows(site) + site.waitingRequests();
            stored += site.storedPane(config.sampleRows()) + STORED_WHOLE * (site.whole() + site.engines());
            whole += site.whole();
            explainers +=
                    site.decoder(region) + (site.id().isBlock() ? 0 : site.encoder(region)) + site.candidate(region);
            geometry += (site.candidate() == null ? 1 : 2) * geometry(site);
            decoders += site.adapts() ? Math.max(site.decoder(region), site.candidateDecoder(region)) : 0;
        }
        SharedTargets shared = new SharedTargets(sites, region);
        List<Part> held = new ArrayList<>();
        held.add(part("Java and Kafka, before the first site", BASE));
        held.add(part("explainers", explainers + shared.encoders()));
        held.add(part("baselines and their geometry", geometry));
        held.add(part("adapted decoders in service", decoders));
        if (shared.joint() > 0) {
            held.add(part("the one decoder of several targets, trained and in service", 2 * shared.joint()));
        }
        held.add(part("open panes where rows are read", level1 * (live + waiting)));
        held.add(part("open panes where windows are composed", level2 * live));
        if (whole > 0) {
            held.add(part(
                    "whole requests of open panes, of %d rows of float32".formatted(SiteSizes.ROWS_OF_A_REQUEST),
                    (level1 + level2) * whole));
        }
        if (config.store() == StoreKind.MEMORY) {
            double copies = 1 + deployment.standbys();
            held.add(part("both as stored (state.store: memory)", copies * (level1 + level2) * stored));
        }
        return held;
    }

    private double moment(SiteSizes site) {
        return region.array(MomentTile.stateLength(site.shape().targetWidth()));
    }

    /** Returns the bytes of the rows that wait to be summed: an array for each batch. */
    private double waitingRows(SiteSizes site) {
        int width = site.shape().targetWidth();
        return (double) FloatPanel.capacity(width)
                / FloatPanel.ROWS
                * region.array((double) FloatPanel.ROWS * width, Float.BYTES);
    }

    private static double encoderWeights(SiteSizes site) {
        return (double) site.shape().encoderWeights();
    }

    private double geometry(SiteSizes site) {
        return moment(site)
                + 2 * region.array(site.squared())
                + region.array(site.directions())
                + region.array(site.squared() / 2)
                + 3 * region.array((double) site.shape().targetWidth() * site.rank())
                + 2 * region.array((double) site.shape().targetWidth() * site.requestComponents());
    }

    /** Returns what comes and goes, the most of each and never two together. */
    List<Part> working() {
        double assessment = 0;
        double reading = 0;
        for (SiteSizes site : sites) {
            assessment = Math.max(assessment, ASSESSMENT * site.squared() + 2 * moment(site));
            reading = Math.max(reading, region.array(encoderWeights(site)) - site.decoder(region));
        }
        return List.of(
                part("one window's assessment per stream thread", threads * assessment),
                part("or, at the start, reading the largest explainer", reading));
    }

    /** Returns the bytes of one pane of every site that waits for a slower partition. */
    double waitingPane() {
        double bytes = 0;
        for (SiteSizes site : sites) {
            bytes +=
                    site.totals() + moment(site) + config.sampleRows() * site.heldRow() + site.whole() + site.engines();
            if (config.store() == StoreKind.MEMORY) {
                bytes += site.storedPane(config.sampleRows()) + STORED_WHOLE * (site.whole() + site.engines());
            }
        }
        return bytes;
    }

    /**
     * Returns what fills when there is a backlog.
     *
     * @param waitingPanes panes of a site that may wait for a slower partition; 0 where there is none
     */
    List<Part> buffers(int waitingPanes) {
        int buffered = number(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG)
                + number(StreamsConfig.mainConsumerPrefix("max.poll.records"));
        long perPartition = buffered * (LARGEST_ACTIVATION_RECORD + LARGEST_MOMENT_RECORD);
        return List.of(
                part(
                        "panes that wait for a slower partition, at most %d a site".formatted(waitingPanes),
                        waitingPanes * waitingPane() / deployment.instances()),
                part("records waiting, of 1 MiB each", (double) deployment.partitionsHere() * perPartition),
                part("fetched and being sent, per stream thread", (double) threads * (FETCH + sendBuffer())));
    }

    /** Returns the memory outside of the heap. */
    List<Part> outside() {
        return config.store() == StoreKind.ROCKSDB
                ? List.of(part(
                        "RocksDB, its default caches of 2 stores per partition",
                        2.0 * deployment.partitionsHere() * (1 + deployment.standbys()) * ROCKSDB_PER_STORE))
                : List.of();
    }

    /** Returns what the adapter keeps: once in its store and, one site at a time, once more as rows. */
    List<Part> adapter() {
        double stored = 0;
        double answered = 0;
        double whole = 0;
        for (SiteSizes site : sites) {
            if (site.adapts() && site.judged()) {
                whole += RequestPool.MOST_BYTES;
            }
            if (site.adapts()) {
                double rows = (double) site.pooledRows() + config.sampleRows();
                stored += rows * site.sentRow();
                answered = Math.max(answered, rows * site.heldRow());
            }
        }
        List<Part> parts = new ArrayList<>(List.of(
                part("rows pooled while all sites are drifted", stored),
                part("those of one site again, while it is answered", answered)));
        if (whole > 0) {
            parts.add(part("whole requests to judge refits on, at most", whole));
        }
        return parts;
    }

    /** Returns what goes to the monitor's own topics. */
    List<Written> written() {
        long commitMs = number(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG);
        long paneMs = config.window().paneMs();
        double commitsPerPane = Math.max(1, (double) paneMs / commitMs);
        double panesPerDay = (double) DAY_MS / paneMs;
        // Of k rows sampled so far, the i-th commit replaces a share of 1/i.
        double samplesPerPane = 1 + Math.log(commitsPerPane);
        int partitionsOfASite = deployment.spread() ? deployment.partitions() : 1;
        double moments = 0;
        double samples = 0;
        for (SiteSizes site : sites) {
            moments += site.moment();
            samples += config.sampleRows() * site.storedRow() + site.encodedTotals();
        }
        double windowsPerDay = (double) DAY_MS / config.window().size().toMillis();
        // Of windows that overlap every row is sent once.
        double drifted = windowsPerDay
                * sites.stream()
                        .filter(SiteSizes::adapts)
                        .mapToDouble(site -> config.sampleRows() * site.sentRow())
                        .sum();
        String prefix = config.monitorApplicationId() + "-";
        double first = partitionsOfASite * (moments + samples * samplesPerPane / commitsPerPane);
        double pane = partitionsOfASite * (moments + samples);
        return List.of(
                new Written(
                        prefix + (config.tenants().isEmpty() ? "" : "TENANT-") + "panes-changelog",
                        Math.round(first),
                        Math.round(first * commitsPerPane * panesPerDay)),
                new Written(config.topics().moments(), 0, Math.round(pane * panesPerDay)),
                new Written(prefix + "windows-changelog", 0, Math.round(pane * panesPerDay)),
                new Written(
                        config.topics().adaptationRequests() + ", while all sites are drifted", 0, Math.round(drifted)),
                new Written(
                        config.adapterApplicationId() + "-request-parts-changelog, while all sites are drifted",
                        0,
                        Math.round(drifted)));
    }

    private static Part part(String what, double bytes) {
        return new Part(what, Math.round(bytes));
    }

    private int number(String key) {
        Object value = properties.get(key);
        return Integer.parseInt(String.valueOf(
                        value == null
                                ? StreamsConfig.configDef().defaultValues().get(key)
                                : value)
                .strip());
    }

    private long sendBuffer() {
        Object own = properties.get(StreamsConfig.producerPrefix(ProducerConfig.BUFFER_MEMORY_CONFIG));
        return own == null ? 32L << 20 : Long.parseLong(String.valueOf(own).strip());
    }
}
