package io.plumbline.topology.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineDiff;
import io.plumbline.baseline.Provenance;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.reload.ConfigVersion;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how a process describes the baselines of the versions that it goes over to. */
class TakenOverTest {

    private static final String A = Described.hash("a");
    private static final String B = Described.hash("b");

    @TempDir
    private Path folder;

    private final TakenOver takenOver = new TakenOver();
    private MonitorConfig config;
    private Map<String, WatchedSite> sites;

    @BeforeEach
    void read() throws Exception {
        config = WatchedFolder.create(folder, "127.0.0.1:1", WatchedFolder.WINDOW, "", "s1", "s2");
        sites = WatchedFolder.sites(config);
    }

    @Test
    void aBaselineThatIsHeldIsDescribedOfEachVersionAndComparedWithNone() {
        List<BaselineVersion> first = describe(sites, A, 1);
        List<BaselineVersion> again = describe(sites, A, 3);
        assertEquals(
                List.of("s1", "s2"), again.stream().map(BaselineVersion::site).toList());
        assertEquals(3, Objects.requireNonNull(again.get(0).taken()).version());
        assertEquals(7, Objects.requireNonNull(first.get(0).taken()).topicMs());
        again.forEach(one -> assertNull(one.comparison()));
    }

    @Test
    void aBaselineThatReplacesTheOneHeldIsComparedWithIt() {
        describe(sites, A, 1);
        BaselineVersion next = describe(sites, B, 2).get(0);
        BaselineComparison comparison = Objects.requireNonNull(next.comparison());
        assertEquals(A, comparison.replacesSha256());
        assertEquals(A, next.replacesSha256());
    }

    @Test
    void aRecordKeepsTheComparisonAtItsRankAloneAndTheBeginningOfALongSource() {
        Baseline baseline = Objects.requireNonNull(sites.get("s1"))
                .baseline()
                .with(Provenance.first(Instant.ofEpochMilli(Described.MADE_MS), "x".repeat(3_000)));
        BaselineComparison all = new BaselineComparison(
                A,
                null,
                List.of(1L, 2L),
                List.of(0.1, 0.2),
                0.3,
                List.of(new BaselineComparison.Gap(4, 1, 0.1), new BaselineComparison.Gap(5, 2, 0.2)),
                List.of(
                        new BaselineDiff.Change("kl", 4, 64, null, 0.5, 0, 250),
                        new BaselineDiff.Change("kl", 5, 64, null, 0.5, 0, 250)));
        BaselineVersion proposed = BaselineVersion.of("s1", B, baseline, 4, null, null, all);
        BaselineComparison kept = Objects.requireNonNull(proposed.comparison());
        assertEquals(all.gaps().subList(0, 1), kept.gaps());
        assertEquals(all.thresholds().subList(0, 1), kept.thresholds());
        assertEquals("x".repeat(2_000), proposed.source());
    }

    @Test
    void whatCannotBeComparedIsDescribedWithoutAndTheOtherSiteGoesOn() throws Exception {
        describe(sites, A, 1);
        Path other = folder.resolve("other");
        WatchedFolder.createWithCandidate(other, "127.0.0.1:1", "mode: auto");
        Map<String, WatchedSite> next = new LinkedHashMap<>(sites);
        SiteSettings settings = Objects.requireNonNull(config.sites().get("s1"));
        next.put(
                "s1",
                WatchedSite.of(
                        settings,
                        Formats.read(other.resolve("candidate")),
                        Baseline.read(other.resolve("candidate.safetensors"))));
        List<BaselineVersion> described = describe(next, B, 2);
        assertEquals(
                List.of("s1", "s2"),
                described.stream().map(BaselineVersion::site).toList());
        assertNull(described.get(0).comparison());
        assertNotNull(described.get(1).comparison());
    }

    private List<BaselineVersion> describe(Map<String, WatchedSite> of, String sha256, int version) {
        return takenOver.describe(
                of,
                of.keySet().stream().collect(Collectors.toMap(Function.identity(), site -> sha256)),
                config,
                new ConfigVersion(1, version, "c".repeat(64), 10, 11, "host", 7, List.of()));
    }
}
