package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WindowRequestsTest {

    private static final GapAssessment EMPTY = new GapAssessment(10, 4, 2, Map.of(), null, null);

    private static RequestScore score(long request, double pValue) {
        return new RequestScore(
                request, request == 1 ? "first" : null, 10, -Math.log(pValue), pValue, Math.max(pValue, 0.02));
    }

    @Test
    void theStatisticsAreLogMeanExpAndLargestOfTheEvidence() {
        WindowRequests window = new WindowRequests(
                null,
                List.of(score(1, 0.5), score(2, 0.25), score(3, 1e-4)),
                List.of(score(1, 1.0), score(3, 0.01)),
                List.of(score(1, 0.5), score(3, 0.001)));
        GapAssessment assessment = window.addTo(EMPTY);
        assertEquals(
                Math.log((Math.pow(0.5, -0.3) + Math.pow(0.25, -0.3) + Math.pow(1e-4, -0.3)) / 3.0),
                assessment.value(Statistic.REQUEST_SHIFT).orElseThrow(),
                1e-12);
        assertEquals(Math.log(1e4), assessment.value(Statistic.WORST_REQUEST).orElseThrow(), 1e-12);
        assertEquals(
                Math.log((1.0 + Math.pow(0.01, -0.3)) / 2.0),
                assessment.value(Statistic.REQUEST_FVU).orElseThrow(),
                1e-12);
        assertEquals(
                Math.log((Math.pow(0.5, -0.7) + Math.pow(0.001, -0.7)) / 2.0),
                assessment.value(Statistic.REQUEST_EVIDENCE).orElseThrow(),
                1e-12);
        assertEquals(
                Math.log((Math.pow(0.5, -0.7) + Math.pow(0.02, -0.7)) / 2.0),
                assessment.value(Statistic.REQUEST_EVIDENCE_BY_RANKS).orElseThrow(),
                1e-12,
                "without the model of the tail");
        assertEquals(2.0, assessment.value(Statistic.REQUESTS_IN_EVIDENCE).orElseThrow());
        assertArrayEquals(
                new double[] {-Math.log(0.5), -Math.log(0.25), -Math.log(1e-4)},
                window.means().scores());
    }

    @Test
    void theWorstRequestsComeFirstWithTheirShareOfTheEvidence() {
        List<RequestScores.Worst> worst =
                new RequestScores(List.of(score(1, 0.25), score(2, 1.0), score(3, 1e-4)), 0.3).worst(2);
        assertEquals(
                List.of(3L, 1L),
                worst.stream().map(one -> one.score().request()).toList());
        assertEquals(
                Math.pow(1e-4, -0.3) / (Math.pow(0.25, -0.3) + 1.0 + Math.pow(1e-4, -0.3)),
                worst.get(0).share(),
                1e-12);
        assertEquals("first", worst.get(1).score().label());
        assertEquals("0000000000000003", worst.get(0).score().label());
    }

    @Test
    void whatCannotBeScoredSaysWhy() {
        GapAssessment none = WindowRequests.of(null, null, List.of()).addTo(EMPTY);
        for (String statistic : List.of(
                "request_shift", "worst_request", "request_fvu", "request_evidence", "request_evidence_by_ranks")) {
            assertEquals(RequestModel.MISSING, none.undefined().get(statistic));
        }
        GapAssessment noTotals = new WindowRequests(null, List.of(), List.of(score(1, 0.5)), List.of()).addTo(EMPTY);
        assertEquals(Statistic.Source.REQUESTS.missing(), noTotals.undefined().get("request_shift"));
        assertEquals(null, noTotals.undefined().get("request_fvu"));
        assertEquals(Statistic.Source.REQUESTS.missing(), noTotals.undefined().get("request_evidence"));
    }

    @Test
    void theRequestsOfAWindowAreListedByWhatDecided() {
        WindowRequests window =
                new WindowRequests(null, List.of(score(1, 0.5)), List.of(score(2, 0.5)), List.of(score(3, 0.5)));
        assertEquals(window.means(), window.of("request_shift"));
        assertEquals(window.means(), window.of("faithfulness_gap"));
        assertEquals(window.reconstructions(), window.of("request_fvu"));
        assertEquals(window.both(), window.of("request_evidence"));
        assertEquals(window.both(), window.of("request_evidence_by_ranks"));
        WindowRequests noRows = new WindowRequests(null, List.of(score(1, 0.5)), List.of(), List.of());
        assertEquals(noRows.means(), noRows.of("request_evidence"));
    }

    @Test
    void errorsAreThoseOfEachRequestWithItsOwnMean() {
        Random random = new Random(1);
        Matrix targets = Matrix.zeros(7, 3);
        Matrix reconstructions = Matrix.zeros(7, 3);
        for (int i = 0; i < 21; i++) {
            targets.values()[i] = 1e6 + random.nextGaussian();
            reconstructions.values()[i] = targets.values()[i] + 0.1 * random.nextGaussian();
        }
        EncodedErrors errors = EncodedErrors.of(new long[] {5, 6, 5, 6, 6, 5, 6}, targets, reconstructions);
        assertEquals(
                List.of(5L, 6L),
                errors.requests().stream().map(RequestError::request).toList());
        EncodedErrors alone = EncodedErrors.of(new long[3], rows(targets, 0, 2, 5), rows(reconstructions, 0, 2, 5));
        RequestError first = errors.requests().get(0);
        assertEquals(3, first.rows());
        assertEquals(first.squaredError() / first.spread(), alone.fvu(), 1e-9);
        assertEquals(first.squaredError() / first.spread() * 2.0 / 3.0, first.fvu(), 1e-12);
        assertEquals(
                null,
                EncodedErrors.of(new long[0], rows(targets), rows(targets)).fvu());
    }

    private static Matrix rows(Matrix matrix, int... rows) {
        Matrix some = Matrix.zeros(rows.length, 3);
        for (int i = 0; i < rows.length; i++) {
            System.arraycopy(matrix.values(), 3 * rows[i], some.values(), 3 * i, 3);
        }
        return some;
    }
}
