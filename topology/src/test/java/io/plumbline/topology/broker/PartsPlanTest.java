package io.plumbline.topology.broker;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.TargetsFolder;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartsPlanTest {

    @TempDir
    private Path folder;

    @Test
    void onlyASiteWithSeveralTargetsHasAChangelogOfParts() throws Exception {
        assertFalse(hasParts(WatchedFolder.create(folder.resolve("one"), "unused:9092")));
        assertTrue(hasParts(TargetsFolder.create(folder.resolve("several"), "unused:9092", "mode: observe")));
    }

    private static boolean hasParts(MonitorConfig config) {
        return TopicPlan.ofNames(config).topics().stream()
                .anyMatch(topic -> topic.name().endsWith("-monitor-parts-changelog"));
    }
}
