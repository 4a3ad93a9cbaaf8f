package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.ConfigException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.FeatureName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Holds a second explainer against the site it may be measured at. */
class CandidateFilesTest {

    private static final String CANDIDATE = "candidate: {explainer: candidate, baseline: candidate.safetensors, ";

    @TempDir
    private Path folder;

    /** The configuration with another line in the place of the candidate's beginning. */
    private MonitorConfig config(String candidate) throws IOException {
        WatchedFolder.createWithCandidate(folder, "unused:9092", "mode: propose");
        Path file = folder.resolve(WatchedFolder.FILE);
        String yaml = Files.readString(file).replace(CANDIDATE, candidate);
        return MonitorConfig.parse(yaml, WatchedFolder.FILE, folder);
    }

    private ConfigCheck.Site checked(String candidate) throws IOException {
        return ConfigCheck.sites(config(candidate)).get(0);
    }

    @Test
    void withoutABaselineItIsMeasuredAndNeverProposed() throws IOException {
        ConfigCheck.Site site = checked("candidate: {explainer: candidate, ");
        assertEquals(List.of(), site.problems());
        assertTrue(site.shadow()
                .orElseThrow()
                .endsWith("never proposed: it has no baseline to be judged by once it serves"));
        assertEquals(null, site.watched().candidate());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            candidate: {explainer: explainer,                          | candidate: has the decoder of the site's own explainer
            candidate: {explainer: nowhere,                            | candidate: nowhere
            candidate: {explainer: candidate, baseline: baseline.safetensors, | candidate: baseline: made with decoder
            """)
    void whatDoesNotBelongTogetherIsRefusedWithASentence(String candidate, String refusal) throws IOException {
        List<String> problems = checked(candidate + " ").problems();
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(problems.get(0).replace(folder + "/", "").startsWith(refusal), problems::toString);
    }

    @Test
    void aBaselineOfOtherRowsIsRefused() throws IOException {
        config(CANDIDATE);
        WatchedFolder.writeBaseline(folder.resolve("candidate"), folder.resolve("candidate.safetensors"), 80);
        ConfigCheck.Site site = ConfigCheck.sites(MonitorConfig.parse(
                        Files.readString(folder.resolve(WatchedFolder.FILE)), WatchedFolder.FILE, folder))
                .get(0);
        assertTrue(
                site.problems().get(0).startsWith("candidate: baseline: of other rows than the site's, 640 and 512;"),
                site.problems()::toString);
    }

    @Test
    void aSiteOfAModelHasNone() throws IOException {
        ConfigException refused = assertThrows(
                ConfigException.class,
                () -> config(
                        "candidate: {explainer: candidate}\n" + "models: {m: {sites: [layer.a]}}\nunknown: {a: b, "));
        assertTrue(
                refused.problems().stream()
                        .anyMatch(problem -> problem.contains("candidate expected a site of no model")),
                refused.problems()::toString);
    }

    @Test
    void labelsAndWatchedFeaturesAreCarriedOverToFeaturesThatAreFoundAgain() throws IOException {
        Files.writeString(folder.resolve("labels.json"), "{\"0\": \"dogs\", \"9\": \"cats\"}");
        WatchedSite site = Objects.requireNonNull(WatchedFolder.sites(
                        config("features: {labels: labels.json}\n      watch: {features: [0, 9]}\n      " + CANDIDATE))
                .get(WatchedFolder.SITE));
        WatchedSite candidate = Objects.requireNonNull(site.candidate());
        Map<Integer, FeatureName> names = candidate.names().of(IntStream.of(0, 1, 9));
        assertEquals(
                "dogs (of feature 0 of the explainer before, cosine 1.00)",
                Objects.requireNonNull(names.get(0)).label());
        assertEquals(
                "cats (of feature 9 of the explainer before, cosine 1.00)",
                Objects.requireNonNull(names.get(9)).label());
        assertEquals(null, names.get(1));
        assertEquals(List.of(0, 9), candidate.settings().watch().features());
    }
}
