package io.plumbline.topology.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.HeapUse;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.CapacityEstimate;
import io.plumbline.topology.runtime.CapacityEstimate.Deployment;
import io.plumbline.topology.runtime.CapacityEstimate.Part;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares what {@code plumbline check} says of explainers and geometry with the heap they take. */
class SiteMemoryTest {

    private static final int WIDTH = 256;
    /** The number of features: as many as make an encoder that is held as floats. */
    private static final int FEATURES = 4_096;

    private static final List<String> NAMES = List.of("a", "b", "c", "d", "e", "f");

    @TempDir
    private Path folder;

    @Test
    void watchedSitesTakeTheHeapThatIsEstimated() throws Exception {
        assertEstimated(NAMES, WIDTH, FEATURES, 32, 0.25);
    }

    /** Tests that a wide site holds the leading directions of its dictionary and not d x d of them. */
    @Test
    void wideSitesTakeTheHeapThatIsEstimated() throws Exception {
        assertEstimated(NAMES.subList(0, 3), 1_024, 1_024, 8, 0.1);
    }

    private void assertEstimated(List<String> names, int width, int features, int rank, double off) throws Exception {
        RandomSites.writeShape(folder, width, features);
        RandomSites.Setting setting = new RandomSites.Setting(
                "unused:9092", "", "size: 60s, advance: 60s, grace: 0s, minimum_rows: 64", 16, "rocksdb", "");
        // The first decomposition makes the threads and tables of its library.
        Map<String, WatchedSite> warm = RandomSites.watched(setting.of(List.of("warm"), rank, folder), width, features);
        assertEquals(1, warm.size());
        HeapUse before = HeapUse.now();
        MonitorConfig config = setting.of(names, rank, folder);
        Map<String, WatchedSite> sites = RandomSites.watched(config, width, features);
        long measured = HeapUse.now().since(before);
        long expected =
                CapacityEstimate.of(
                                config,
                                new Deployment(1, 1, false, 0),
                                Runtime.getRuntime().maxMemory())
                        .held()
                        .stream()
                        .filter(part -> part.what().contains("explainers")
                                || part.what().contains("geometry"))
                        .mapToLong(Part::bytes)
                        .sum();
        assertTrue(
                Math.abs(measured - expected) < off * expected,
                "estimated %d bytes, measured %d for %d sites".formatted(expected, measured, sites.size()));
    }
}
