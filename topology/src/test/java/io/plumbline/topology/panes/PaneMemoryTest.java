package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.HeapUse;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.CapacityEstimate;
import io.plumbline.topology.runtime.CapacityEstimate.Deployment;
import io.plumbline.topology.runtime.CapacityEstimate.Part;
import io.plumbline.topology.windows.Panes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares what {@code plumbline check} says of open panes with the heap they take. */
class PaneMemoryTest {

    private static final int WIDTH = 384;
    private static final int SITES = 5;
    private static final int SAMPLE = 512;
    private static final int COMMITS = 12;
    private static final int ROWS = 128;
    private static final int ACTIVE = 500;

    @TempDir
    private Path folder;

    /** Tests panes with as many totals of requests as are kept, too. */
    @ParameterizedTest
    @ValueSource(ints = {0, 128})
    void openPanesTakeTheHeapThatIsEstimated(int components) throws Exception {
        MonitorConfig config = config();
        CapacityEstimate estimate = CapacityEstimate.of(
                config, new Deployment(1, 1, false, 0), Runtime.getRuntime().maxMemory(), site -> components);
        long expected = estimate.held().stream()
                .filter(part -> part.what().contains("panes") || part.what().contains("stored"))
                .mapToLong(Part::bytes)
                .sum();
        List<PaneStore<SiteClock>> stores = new ArrayList<>();
        HeapUse before = HeapUse.now();
        // As many panes as the settings leave open at the two levels.
        stores.add(filled(config, (int) config.window().openPanesPerPartition(), components));
        stores.add(filled(config, (int) config.window().openPanesPerWindow(), components));
        long measured = HeapUse.now().since(before);
        assertTrue(
                Math.abs(measured - expected) < 0.25 * expected,
                "estimated %d bytes, measured %d".formatted(expected, measured));
        assertTrue(stores.get(0).knows("site-0"), "kept until measured");
    }

    /** A commit reads each pane's moment: one that gets no more rows holds none of the room for them. */
    @Test
    void rowsThatWaitTakeHeapUntilTheirMomentIsRead() {
        int width = 1_024;
        List<SecondMomentAccumulator> moments = new ArrayList<>();
        for (int pane = 0; pane < 12; pane++) {
            moments.add(SecondMomentAccumulator.ofDimension(width));
        }
        HeapUse before = HeapUse.now();
        moments.forEach(moment -> moment.addFloats(Matrix.zeros(1, width)));
        long waiting = HeapUse.now().since(before);
        long expected = moments.size() * 4L * width * FloatPanel.capacity(width);
        assertTrue(waiting > 0.8 * expected, "%d bytes of %d".formatted(waiting, expected));
        moments.forEach(SecondMomentAccumulator::state);
        long read = HeapUse.now().since(before);
        assertTrue(read < 0.5 * expected, "%d bytes of %d".formatted(read, expected));
        assertEquals(1, moments.get(0).rows());
    }

    private static PaneStore<SiteClock> filled(MonitorConfig config, int panes, int components) {
        Map<String, Integer> dimensions = new TreeMap<>();
        config.sites().keySet().forEach(site -> dimensions.put(site, WIDTH));
        PaneStore<SiteClock> store = new PaneStore<>(
                Stores.inMemoryKeyValueStore("panes").get(),
                SiteClock.CODEC,
                dimensions,
                config.sampleRows(),
                RequestTotalling.NONE);
        long number = 0;
        for (int commit = 0; commit < COMMITS; commit++) {
            for (String site : dimensions.keySet()) {
                for (int pane = 0; pane < panes; pane++) {
                    Matrix rows = ActivationRecords.integerRows(++number, ROWS, WIDTH);
                    Pane open = store.paneToChange(site, pane * config.window().paneMs());
                    open.add(Panes.rows(site, number, ActivationRecords.undecoded(rows), number), number);
                    if (components > 0) {
                        addRequests(open, commit, components);
                    }
                }
            }
            store.writeDirty();
        }
        return store;
    }

    /** Adds requests: all commits together as many as are kept, each in one of them. */
    private static void addRequests(Pane pane, int commit, int components) {
        RequestTotals totals =
                RequestTotals.ofCapacity(new RequestProjection.Id(1, components), RequestTotals.DEFAULT_CAPACITY);
        int share = RequestTotals.DEFAULT_CAPACITY / COMMITS + 1;
        for (int request = commit * share; request < (commit + 1) * share; request++) {
            String name = "request-%012d".formatted(request);
            totals.add(RowSample.requestHash(name), name, 1, new double[components]);
        }
        Panes.take(pane, PaneParts.TOTALS, totals.encode(RowSample.RECORD_PART_BYTES));
    }

    private MonitorConfig config() throws Exception {
        Path explainer = Files.createDirectories(folder.resolve("explainer"));
        Files.writeString(explainer.resolve("cfg.json"), """
                {"architecture": "topk", "k": %d, "d_in": %d, "d_sae": 1000, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(ACTIVE, WIDTH));
        StringBuilder yaml = new StringBuilder("""
                kafka: {bootstrap.servers: "unused:9092"}
                window: {size: 60s, advance: 60s, grace: 10s, idle_close: off, minimum_rows: 64}
                sample: {rows: %d}
                sites:
                """.formatted(SAMPLE));
        for (int site = 0; site < SITES; site++) {
            yaml.append("  site-%d: {explainer: explainer, baseline: b, rank: 4, threshold: {share: 0.5}}%n"
                    .formatted(site));
        }
        return MonitorConfig.parse(yaml.toString(), "memory.yaml", folder);
    }
}
