package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.records.ActivationBatch;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BaselineRequestsTest {

    private static final int D = BaselineTest.DIMENSION;

    @Test
    void theModelOfRequestsIsReadBackAsItWasWritten(@TempDir Path folder) throws IOException {
        Baseline written = BaselineTest.build(40);
        RequestModel model = Objects.requireNonNull(written.requests());
        Baseline read = BaselineTest.reread(folder, written);
        RequestModel back = Objects.requireNonNull(read.requests());
        assertEquals(model.projection().id(), back.projection().id());
        assertEquals(40, back.baselineScores().length);
        assertArrayEquals(model.baselineScores(), back.baselineScores());
        RanksByRows errors = Objects.requireNonNull(model.reconstructions());
        RanksByRows errorsBack = Objects.requireNonNull(back.reconstructions());
        assertEquals(List.of(2, 3, 4, 6, 8), rows(errors));
        RanksByRows both = Objects.requireNonNull(model.both());
        RanksByRows bothBack = Objects.requireNonNull(back.both());
        assertEquals(rows(errors), rows(both));
        assertEquals(both.fewestRequests(), back.requestsInEvidence());
        for (int i = 0; i < both.steps().size(); i++) {
            assertArrayEquals(
                    both.steps().get(i).ranks().scores(),
                    bothBack.steps().get(i).ranks().scores());
        }
        assertEquals(rows(errors), rows(errorsBack));
        for (int i = 0; i < errors.steps().size(); i++) {
            assertArrayEquals(
                    errors.steps().get(i).ranks().scores(),
                    errorsBack.steps().get(i).ranks().scores());
        }
        assertArrayEquals(model.location(), back.location());
        assertEquals(model.usualRows(), back.usualRows());
        assertEquals(written.encodedRows(), read.encodedRows());
        ActivationBatch request = new ActivationBatch(BaselineTest.request(77), null, null);
        assertEquals(scores(written, request), scores(read, request));
    }

    private static List<Integer> rows(RanksByRows errors) {
        return errors.steps().stream().map(RanksByRows.Step::rows).toList();
    }

    private static WindowRequests scores(Baseline baseline, ActivationBatch request) {
        RecordedWindow window = new RecordedWindow(baseline);
        window.add(
                request,
                BaselineTest.AUTOENCODER
                        .decoder()
                        .reconstruct(BaselineTest.AUTOENCODER.encoder().encode(request.activations())));
        return window.requests();
    }

    @Test
    void aBaselineOfTooFewRequestsHasNoStatisticsOfThemAndSaysWhatToDo(@TempDir Path folder) throws IOException {
        Baseline few = BaselineTest.reread(folder, BaselineTest.build(RequestModel.FEWEST_REQUESTS - 1));
        assertNull(few.requests());
        assertEquals(0, few.samples().get(0).values(Statistic.REQUEST_SHIFT.label()).length);
        SiteGeometry geometry = SiteGeometry.of(
                BaselineTest.AUTOENCODER.decoder(), few.moment(), few.reconstructionMoment(), BaselineTest.RANK);
        RecordedWindow window = new RecordedWindow(few);
        ActivationBatch request = new ActivationBatch(BaselineTest.request(1), null, null);
        window.add(request, request.activations());
        GapAssessment assessment = window.addTo(geometry.assess(SecondMoment.of(request.targetRows())));
        assertEquals(RequestModel.MISSING, assessment.undefined().get("request_shift"));
        assertTrue(RequestModel.MISSING.contains("at least 20 requests"));
        assertNotNull(BaselineTest.build(RequestModel.FEWEST_REQUESTS).requests());
    }

    @Test
    void cleanWindowsHaveTheScoresThatTheirRequestsHaveWithoutThem() {
        int requests = 36;
        Baseline baseline = BaselineTest.build(requests);
        RequestModel model = Objects.requireNonNull(baseline.requests());
        RequestMeans means = new RequestMeans();
        for (int i = 0; i < requests; i++) {
            ActivationBatch batch = new ActivationBatch(BaselineTest.request(i), null, null);
            RequestSums.Encoded request = RequestSums.of(BaselineTest.AUTOENCODER, batch);
            means.add(request.mean(), request.targets(), request.squaredErrors());
        }
        // Stretches of 4 requests; windows of 35 rows are 7+8+9+10+11 | 7+8+9+10+11 | ...
        double expected = 0.0;
        for (int i = 5; i < 10; i++) {
            int stretch = i / 4;
            WhitenedMeans without = Objects.requireNonNull(WhitenedMeans.of(
                    means.kept().stream()
                            .filter(one -> one.number() / 4 != stretch)
                            .toList(),
                    model.usualRows(),
                    128));
            double pValue = model.means().pValueOfOwn(without.score(means.kept().get(i), model.usualRows()));
            expected = Math.max(expected, -Math.log(pValue));
        }
        NullSample sample = baseline.sample(BaselineTest.RANK, 35).orElseThrow();
        assertEquals(expected, sample.values("worst_request")[1], 1e-9);
        assertEquals(7, sample.values("request_shift").length);
        assertEquals(7, sample.values("request_fvu").length);
        assertEquals(7, sample.values("request_evidence").length);
    }

    @Test
    void aModelOfRequestsThatDoesNotFitIsRefusedInWords() {
        assertRefused("no tensor \"encoded_rows\"", SafetensorsWriter.create(), false);
        assertRefused("encoded_rows = 1, expected 2 or more", header().addLongs("encoded_rows", 1), false);
        assertRefused(
                "has shape [2, 4], expected [p, 6]",
                header().add("request_basis", DType.F64, Matrix.zeros(2, 4)),
                true);
        assertRefused(
                "has shape [7, 6], expected [p, 6]",
                header().add("request_basis", DType.F64, Matrix.zeros(7, 6)),
                true);
        assertRefused("expected [2]", model(basis(1.0), 3, 5.0, scores(0.0)), true);
        assertRefused("a basis of requests holds 1.0E101", model(basis(1e101), 2, 5.0, scores(0.0)), true);
        assertRefused("not finite", model(basis(Double.NaN), 2, 5.0, scores(0.0)), true);
        assertRefused("requests of 0.5 rows", model(basis(1.0), 2, 0.5, scores(0.0)), true);
        assertRefused("requests of NaN rows", model(basis(1.0), 2, Double.NaN, scores(0.0)), true);
        assertRefused("expected at least 20 finite", model(basis(1.0), 2, 5.0, new double[19]), true);
        assertRefused("expected at least 20 finite", model(basis(1.0), 2, 5.0, scores(Double.NaN)), true);
        assertRefused(
                "a length 1.0 at 1 of requests: expected finite ones, ascending",
                model(basis(1.0), 2, 5.0, scores(1.0)).addVector("request_lengths", DType.F64, new double[] {2, 1}),
                true);
        assertRefused(
                "request_fvu_scores.8",
                model(basis(1.0), 2, 5.0, scores(1.0)).addVector("request_fvu_scores.8", DType.F64, new double[3]),
                true);
    }

    private static Matrix basis(double value) {
        Matrix basis = Matrix.zeros(2, D);
        Arrays.fill(basis.values(), value);
        return basis;
    }

    private static double[] scores(double first) {
        double[] scores = new double[25];
        scores[0] = first;
        return scores;
    }

    private static SafetensorsWriter model(Matrix basis, int location, double rows, double[] scores) {
        return header().add("request_basis", DType.F64, basis)
                .addVector("request_location", DType.F64, new double[location])
                .addVector("request_rows", DType.F64, new double[] {rows})
                .addVector("request_scores", DType.F64, scores);
    }

    private static SafetensorsWriter header() {
        return SafetensorsWriter.create();
    }

    private static void assertRefused(String words, SafetensorsWriter file, boolean encodedRows) {
        file.metadata("format", BaselineFile.FORMAT)
                .metadata("version", BaselineFile.VERSION)
                .metadata("explainer_sha256", "0".repeat(64))
                .addLongs("rows", 4)
                .add("reconstruction_moment", DType.F64, Matrix.zeros(D, D))
                .addVector("moment_state", DType.F64, new double[D + D * (D + 1) / 2])
                .addVector("reconstruction_fvu", DType.F64, new double[1]);
        if (encodedRows) {
            file.addLongs("encoded_rows", 256);
        }
        BaselineException refusal = assertThrows(
                BaselineException.class,
                () -> BaselineFile.read("here", Safetensors.parse(file.sealed().toBytes())));
        assertTrue(String.valueOf(refusal.getMessage()).contains(words), refusal::toString);
        assertTrue(String.valueOf(refusal.getMessage()).startsWith("here"), refusal::toString);
    }
}
