package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.CleanRequests;
import io.plumbline.requests.DistinctRequests;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests windows of recorded requests made to fool the gate. Whatever is published is within ten points of what later
 * rows say, or nothing is. The recordings are those of the demonstration and 40 requests of Java source.
 */
class AdversarialGateTest {

    private static final int RANK = 32;
    private static final double POINTS = 0.10;

    @TempDir
    private static Path folder;

    private static Explainer explainer;
    private static List<SampledRow> baseline;
    private static List<List<SampledRow>> german;
    private static List<List<SampledRow>> english;
    private static List<List<SampledRow>> code;

    @BeforeAll
    static void read() throws IOException {
        for (String name : List.of(
                "/io/plumbline/fixtures/cfg.json",
                "/io/plumbline/fixtures/sae_weights.safetensors",
                "/io/plumbline/fixtures/baseline.safetensors",
                "/io/plumbline/fixtures/german.safetensors",
                "/io/plumbline/fixtures/english.safetensors",
                "/io/plumbline/topology/adaptation/code.safetensors")) {
            try (InputStream in = Objects.requireNonNull(AdversarialGateTest.class.getResourceAsStream(name), name)) {
                Files.copy(in, folder.resolve(Path.of(name).getFileName()));
            }
        }
        explainer = Formats.read(folder);
        baseline = Baseline.read(folder.resolve("baseline.safetensors")).rows();
        german = requests("german.safetensors");
        english = requests("english.safetensors");
        code = requests("code.safetensors");
    }

    /** The result of a window. */
    private record Outcome(
            DistinctRequests distinct,
            boolean judged,
            @Nullable GatedAdaptation found) {

        GatedAdaptation adaptation() {
            assertNotNull(found, distinct::count);
            return found;
        }
    }

    @Test
    void onePromptSentTwentyTimesWaits() {
        Outcome outcome = adapt(Collections.nCopies(20, german.get(0)), 1.0);
        assertEquals(
                "1 distinct request (19 more are copies of others)",
                outcome.distinct().count());
        assertFalse(outcome.judged());
    }

    @Test
    void onePromptSentTwentyTimesWaitsAlsoWhereAFifthOfItsRowsIsSampled() {
        Outcome outcome = adapt(Collections.nCopies(20, german.get(0)), 0.2);
        assertTrue(outcome.distinct().requests() <= 2, outcome.distinct()::count);
        assertFalse(outcome.judged());
    }

    @Test
    void onePromptSentTwelveTimesAmongEightOthersWaits() {
        List<List<SampledRow>> window = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            window.add(german.get(0));
            if (i < 8) {
                window.add(german.get(10 + i));
            }
        }
        Outcome outcome = adapt(window, 1.0);
        assertEquals(
                "9 distinct requests (11 more are copies of others)",
                outcome.distinct().count());
        assertFalse(outcome.judged());
    }

    @Test
    void threePromptsSentSixTimesEachWait() {
        List<List<SampledRow>> window = new ArrayList<>();
        for (int i = 0; i < 18; i++) {
            window.add(german.get(10 + i % 3));
        }
        Outcome outcome = adapt(window, 1.0);
        assertEquals(
                "3 distinct requests (15 more are copies of others)",
                outcome.distinct().count());
        assertFalse(outcome.judged());
    }

    @Test
    void onePromptSentTwelveTimesAmongTwentyOthersIsJudgedAsOne() {
        List<List<SampledRow>> window = new ArrayList<>(german.subList(10, 30));
        for (int i = 0; i < 12; i++) {
            window.add(2 * i, german.get(0));
        }
        Outcome outcome = adapt(window, 1.0);
        assertEquals(21, outcome.distinct().requests());
        assertTrue(outcome.adaptation().publishes(), outcome.adaptation().decision()::reason);
        assertTrueOfLaterRows(outcome, german.subList(30, 53));
    }

    @Test
    void twoDriftsInTurnAreJudgedByTheLast() {
        List<List<SampledRow>> window = new ArrayList<>(german.subList(5, 25));
        window.addAll(code.subList(0, 20));
        assertTrueOfLaterRows(adapt(window, 1.0), code.subList(20, 40));
    }

    @Test
    void aDriftThatEndsWithTheWindowIsRefused() {
        List<List<SampledRow>> window = new ArrayList<>(german.subList(5, 30));
        window.addAll(english.subList(0, 10));
        Outcome outcome = adapt(window, 1.0);
        assertFalse(outcome.adaptation().publishes(), outcome.adaptation().decision()::reason);
    }

    /** Tests 93 requests in two turns: the earlier is German, and so are half of the requests to judge on. */
    @Test
    void aDriftThatIsOverInTheSecondOfTwoTurnsIsRefused() {
        List<List<SampledRow>> window = new ArrayList<>(german.subList(3, 50));
        window.addAll(english.subList(0, 46));
        Outcome outcome = adapt(window, 0.4);
        GatedAdaptation adaptation = outcome.adaptation();
        assertFalse(adaptation.publishes(), adaptation.decision()::reason);
        if (!adaptation.search().keepsCurrent()) {
            assertTrue(adaptation.decision().reason().contains("that drift is over"), adaptation.decision()::reason);
        }
    }

    @Test
    void tokensShuffledBetweenRequestsAreMixed() {
        List<SampledRow> rows = window(german.subList(5, 40), 1.0);
        List<SampledRow> names = new ArrayList<>(rows);
        Collections.shuffle(names, new Random(3));
        List<SampledRow> mixed = new ArrayList<>();
        for (int row = 0; row < rows.size(); row++) {
            SampledRow name = names.get(row);
            mixed.add(new SampledRow(
                    rows.get(row).hash(),
                    name.request(),
                    name.timestampMs(),
                    rows.get(row).activation(),
                    null));
        }
        CleanRequests clean = CleanRequests.of(baseline);
        DistinctRequests found = DistinctRequests.forRefit(mixed, 1.0, clean, Set.of());
        assertTrue(String.valueOf(found.refusal()).startsWith("rows of one request are no more alike"), found::refusal);
        assertNull(DistinctRequests.forRefit(rows, 1.0, clean, Set.of()).refusal());
    }

    private static void assertTrueOfLaterRows(Outcome outcome, List<List<SampledRow>> later) {
        GatedAdaptation adaptation = outcome.adaptation();
        assertTrue(adaptation.publishes(), adaptation.decision()::reason);
        SampleRows rows = SampleRows.of(
                explainer.encoder(), later.stream().flatMap(List::stream).toList(), explainer.targetWidth());
        double before = Reconstruction.of(explainer.decoder(), rows.codes(), rows.targets())
                .fvu();
        double after = Reconstruction.of(adaptation.search().decoder(), rows.codes(), rows.targets())
                .fvu();
        double truth = 1.0 - after / before;
        double said = adaptation.decision().figures().improvement().share();
        String what = String.format(
                Locale.ROOT,
                "later rows: %.1f %%; the gate: %s",
                100.0 * truth,
                adaptation.decision().reason());
        assertEquals(truth, said, POINTS, what);
    }

    private static Outcome adapt(List<List<SampledRow>> requests, double rate) {
        DistinctRequests distinct =
                DistinctRequests.forRefit(window(requests, rate), rate, CleanRequests.of(baseline), Set.of());
        SampleSplit split = SampleSplit.of(distinct.rows(), 0.25);
        int width = explainer.targetWidth();
        return new Outcome(
                distinct,
                split.judgeIsIndependent(),
                split.judgeIsIndependent()
                        ? GatedAdaptation.of(
                                new AdaptationProfile.Auto(),
                                new SwapGate(GateLimits.DEFAULTS),
                                SiteDecoders.servingTrained(
                                        explainer.decoder(), ExplainerSubspace.of(explainer.decoder(), RANK), RANK),
                                AdaptationRows.of(
                                        explainer.encoder(),
                                        split,
                                        BaselineRows.of(explainer.encoder(), baseline, width),
                                        width),
                                DType.F32)
                        : null);
    }

    /** Requests one after another under names of their own, sampled by the hashes of their rows. */
    private static List<SampledRow> window(List<List<SampledRow>> requests, double rate) {
        List<SampledRow> rows = new ArrayList<>();
        for (int request = 0; request < requests.size(); request++) {
            for (int row = 0; row < requests.get(request).size(); row++) {
                rows.add(new SampledRow(
                        RowSample.hash(request, row),
                        RowSample.requestHash("r" + request),
                        request,
                        requests.get(request).get(row).activation(),
                        null));
            }
        }
        Collections.sort(rows, Comparator.comparingLong(SampledRow::hash));
        return rows.subList(0, (int) Math.round(rate * rows.size()));
    }

    private static List<List<SampledRow>> requests(String name) throws IOException {
        return List.copyOf(HarmCase.rows(folder.resolve(name), 0, Integer.MAX_VALUE).stream()
                .collect(Collectors.groupingBy(SampledRow::request, TreeMap::new, Collectors.toList()))
                .values());
    }
}
