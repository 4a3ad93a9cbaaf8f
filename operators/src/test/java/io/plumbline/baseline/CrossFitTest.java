package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestTotal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Requests of eight rows, each with a mean and errors of its own. */
class CrossFitTest {

    private static final int ROWS = 8;
    private static final int D = 3;

    private final Random random = new Random(17);

    private record Request(Matrix rows, double[] squaredErrors) {

        RequestError error(long hash) {
            long[] ofRow = new long[ROWS];
            Arrays.fill(ofRow, hash);
            return EncodedErrors.of(ofRow, rows, squaredErrors).requests().get(0);
        }
    }

    private List<Request> drawn(int count) {
        List<Request> requests = new ArrayList<>();
        for (int g = 0; g < count; g++) {
            double[] mean = random.doubles(D, -1.0, 1.0).toArray();
            Matrix rows = Matrix.zeros(ROWS, D);
            Arrays.setAll(rows.values(), i -> mean[i % D] + 0.5 * random.nextGaussian());
            double own = Math.exp(random.nextGaussian());
            requests.add(new Request(
                    rows, random.doubles(ROWS).map(error -> own * error).toArray()));
        }
        return requests;
    }

    private static CrossFit fit(List<Request> requests) {
        RequestMeans means = new RequestMeans();
        for (Request request : requests) {
            double[] mean = new double[D];
            for (int i = 0; i < ROWS * D; i++) {
                mean[i % D] += request.rows.values()[i] / ROWS;
            }
            means.add(mean, request.rows, request.squaredErrors);
        }
        return Objects.requireNonNull(CrossFit.of(means));
    }

    private static WindowRequests clean(CrossFit fit, List<Request> requests, int from, int to) {
        List<RequestScore> means = new ArrayList<>();
        List<RequestError> errors = new ArrayList<>();
        Map<Long, Integer> numbers = new HashMap<>();
        for (int number = from; number < to; number++) {
            long hash = 1_000L + number;
            numbers.put(hash, number);
            means.add(fit.scoreMean(hash, number, new ActivationBatch(requests.get(number).rows, null, null)));
            errors.add(requests.get(number).error(hash));
        }
        return WindowRequests.ofScored(fit.model(), means, fit.scoreErrors(errors, numbers));
    }

    private static WindowRequests live(RequestModel model, List<Request> requests) {
        List<RequestTotal> totals = new ArrayList<>();
        List<RequestError> errors = new ArrayList<>();
        for (int g = 0; g < requests.size(); g++) {
            double[] sum = new double[model.projection().components()];
            model.projection().add(requests.get(g).rows, sum);
            totals.add(new RequestTotal(g, null, ROWS, sum));
            errors.add(requests.get(g).error(g));
        }
        return WindowRequests.ofScored(model, model.score(totals), model.scoreErrors(errors));
    }

    @Test
    void aRequestOfACleanWindowHasTheEvidenceThatItHasAmongTheOthers() {
        List<Request> requests = drawn(60);
        CrossFit fit = fit(requests);
        double[] evidence = Objects.requireNonNull(
                        Objects.requireNonNull(fit.model().both()).of(ROWS))
                .scores();
        for (int g = 0; g < requests.size(); g++) {
            double own = clean(fit, requests, g, g + 1).both().requests().get(0).score();
            assertTrue(Arrays.binarySearch(evidence, own) >= 0, "request %d: %s".formatted(g, own));
        }
    }

    /** Eight clean windows of seven requests: a later one is above all of them once in nine times. */
    @Test
    void aLaterCleanWindowIsAboveTheCleanOnesNoOftenerThanPromised() {
        int draws = 600;
        int later = 10;
        int above = 0;
        for (int draw = 0; draw < draws; draw++) {
            List<Request> requests = drawn(60);
            CrossFit fit = fit(requests);
            double level = Double.NEGATIVE_INFINITY;
            for (int from = 0; from + 7 < 60; from += 7) {
                level = Math.max(
                        level, clean(fit, requests, from, from + 7).both().combined());
            }
            for (int window = 0; window < later; window++) {
                above += live(fit.model(), drawn(7)).both().combined() > level ? 1 : 0;
            }
        }
        double rate = (double) above / draws / later;
        // Windows of one draw share their level: the rate scatters by .006.
        assertTrue(rate < 1.0 / 9 + 0.018, () -> "rate " + rate);
    }
}
