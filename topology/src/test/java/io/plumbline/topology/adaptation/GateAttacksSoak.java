package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.adaptation.BaselineRows;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.SampledCodes;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.requests.CleanRequests;
import io.plumbline.requests.DistinctRequests;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Tests the whole recordings, which are not part of the project, in {@code -Dplumbline.recordings=FOLDER}. */
@EnabledIfSystemProperty(named = "plumbline.recordings", matches = ".+")
class GateAttacksSoak {

    private static final int BASELINE_ROWS = 4_096;
    private static final Path FOLDER = Path.of(System.getProperty("plumbline.recordings", "."));

    @Test
    void whatIsPublishedIsWorthWhatTheGateSays() throws IOException {
        Explainer explainer = Formats.read(FOLDER.resolve("explainer"));
        List<List<SampledRow>> german = GateAttacksTest.requests(recording("de"));
        List<List<SampledRow>> code = GateAttacksTest.requests(recording("code"));
        GateAttacks attacks = new GateAttacks(explainer, baseline(), german, code, 1.0);
        assertEquals(GateAttacks.BEYOND_THE_LIMITS, GateAttacksTest.fooled(GateAttacksTest.answers(attacks, Set.of())));
    }

    /** Tests 40 requests of each recording: three German ones are copies; of fewer rows some are near by chance. */
    @Test
    void recordedRequestsStayApart() throws IOException {
        CleanRequests clean = CleanRequests.of(baseline());
        for (String name : List.of("en", "de", "code")) {
            List<List<SampledRow>> requests =
                    GateAttacksTest.requests(recording(name)).subList(0, 40);
            for (double rate : new double[] {1.0, 0.5, 0.2, 0.1, 0.05}) {
                List<SampledRow> rows = requests.stream()
                        .flatMap(List::stream)
                        .map(row -> new SampledRow(
                                RowSample.hash(row.request(), (int) row.hash()),
                                row.request(),
                                row.request(),
                                row.activation(),
                                null))
                        .sorted(Comparator.comparingLong(SampledRow::hash))
                        .toList();
                DistinctRequests found =
                        DistinctRequests.forRefit(rows.subList(0, (int) (rate * rows.size())), rate, clean, Set.of());
                System.out.println(name + " " + rate + ": " + found.count());
                int apart = (name.equals("de") ? 37 : 40) - (rate < 1.0 ? 4 : 0);
                assertTrue(found.requests() >= apart, name + " " + rate + ": " + found.count());
                assertNull(found.refusal());
            }
        }
    }

    @Test
    void aTranscoderThatSaeLensReadsAsReluIsMisread() throws IOException {
        List<SampledRow> rows = HarmCase.rows(FOLDER.resolve("transcoder_activations/en.safetensors"), 0, 4_096);
        Explainer relu = Formats.read(FOLDER.resolve("transcoder"));
        String misread = misread(relu, rows);
        assertTrue(String.valueOf(misread).contains("explainer_options: {k: K}"), misread);
        ExplainerOptions k = new ExplainerOptions(Map.of(ExplainerOptions.K, "32"));
        Explainer asTrained = Formats.read(FOLDER.resolve("transcoder"), k);
        Explainer sparsify = Formats.read(FOLDER.resolve("transcoder_sparsify"));
        assertNull(misread(asTrained, rows));
        assertNull(misread(sparsify, rows));
        assertEquals(SampledCodes.of(sparsify.encoder(), rows), SampledCodes.of(asTrained.encoder(), rows));
    }

    private static @Nullable String misread(Explainer explainer, List<SampledRow> rows) {
        return BaselineRows.of(explainer.encoder(), rows, explainer.targetWidth())
                .misread(explainer);
    }

    private static List<SampledRow> baseline() throws IOException {
        return HarmCase.rows(recording("en_baseline"), 0, BASELINE_ROWS);
    }

    private static Path recording(String name) {
        return FOLDER.resolve("activations").resolve(name + ".safetensors");
    }
}
