package io.plumbline.topology.detection;

import io.plumbline.explainer.Explainer;
import io.plumbline.features.FailingFeatures;
import io.plumbline.features.FalseDiscoveries;
import io.plumbline.features.FeatureActivity;
import io.plumbline.features.MeanTest;
import io.plumbline.features.WatchedChange;
import io.plumbline.features.WatchedFeatures;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.probes.Probe;
import io.plumbline.probes.WatchedProbes;
import io.plumbline.records.ActivationBatch;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.RequestSample;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Counts the windows of recorded requests in which features and probes drawn at random are called hurt. Requests are
 * cut to four lengths, which the name of each chooses, and a window is a sample of its rows.
 */
final class WatchedWindows {

    /** The share of a window's rows that is sampled. */
    private static final double SHARE = 0.25;

    private static final int SETS = 30;
    private static final int LONGEST = 4_096;

    private final Explainer explainer;
    private final List<SampledRow> clean;
    private final SampleRows encoded;
    private final List<Integer> active;

    /** @param clean rows of whole requests, as a baseline keeps them */
    WatchedWindows(Explainer explainer, List<SampledRow> clean) {
        this.explainer = explainer;
        this.clean = cut(clean);
        encoded = FailingFeatures.encoded(explainer, this.clean);
        FeatureActivity activity = FeatureActivity.of(encoded.codes(), encoded.requests());
        active = new ArrayList<>(IntStream.range(0, explainer.features())
                .filter(j -> activity.activeRequests()[j] >= MeanTest.FEWEST_REQUESTS)
                .boxed()
                .toList());
    }

    /** Counts of windows, and of those that are called hurt. */
    record Count(int windows, int hurt) {
        double share() {
            return (double) hurt / windows;
        }
    }

    /**
     * Counts over 30 draws of what is watched.
     *
     * @param requests in the order of the recording, which are cut into windows of at least {@code rows} rows; a
     *     quarter of them is sampled
     * @param watched how many features; a linear and a pooling probe come with each of them
     */
    Count count(List<ActivationBatch> requests, int rows, int watched, double rate) {
        List<List<SampledRow>> windows = windows(requests, rows);
        List<SampleRows> codes = windows.stream()
                .map(window -> SampleRows.of(explainer.encoder(), window, explainer.targetWidth()))
                .toList();
        List<Matrix> reconstructions = codes.stream()
                .map(window -> explainer.decoder().reconstruct(window.codes()))
                .toList();
        Random random = new Random(3);
        MeanTest test = MeanTest.resolving(rate / (7 * watched));
        int hurt = 0;
        for (int set = 0; set < SETS; set++) {
            Collections.shuffle(active, random);
            WatchedFeatures features =
                    WatchedFeatures.of(explainer.decoder(), List.copyOf(active.subList(0, watched)), encoded);
            WatchedProbes probes = new WatchedProbes(probes(random, watched), clean);
            for (int w = 0; w < windows.size(); w++) {
                List<WatchedChange> changes = new ArrayList<>();
                features.numbers(test, codes.get(w), reconstructions.get(w), SHARE)
                        .forEach(one -> changes.addAll(one.changes()));
                probes.scores(test, windows.get(w), SHARE)
                        .forEach(one -> changes.addAll(one.numbers().changes()));
                double[] chances = changes.stream()
                        .map(WatchedChange::pValue)
                        .filter(Objects::nonNull)
                        .mapToDouble(Double::doubleValue)
                        .toArray();
                hurt += Arrays.stream(FalseDiscoveries.qValues(chances)).anyMatch(q -> q <= rate) ? 1 : 0;
            }
        }
        return new Count(SETS * windows.size(), hurt);
    }

    private List<Probe> probes(Random random, int each) {
        List<Probe> probes = new ArrayList<>();
        for (int i = 0; i < each; i++) {
            double[] query = direction(random);
            probes.add(new Probe("linear", direction(random), 0.0, 0.5, null));
            probes.add(new Probe("pooling", direction(random), 0.0, 0.0, query));
        }
        return probes;
    }

    private double[] direction(Random random) {
        double[] direction = new double[explainer.inputWidth()];
        Arrays.setAll(direction, i -> random.nextGaussian());
        return direction;
    }

    private static List<List<SampledRow>> windows(List<ActivationBatch> requests, int rows) {
        List<List<SampledRow>> windows = new ArrayList<>();
        List<SampledRow> window = new ArrayList<>();
        for (ActivationBatch request : requests) {
            window.addAll(cut(RequestSample.ofCapacity(LONGEST * RequestSample.FEWEST_REQUESTS)
                    .add(request)
                    .rows()));
            if (window.size() >= rows) {
                RowSample sample = RowSample.ofCapacity((int) (SHARE * window.size()));
                window.forEach(row -> sample.offer(row.hash(), row.request(), 0, row.activation(), row.target()));
                windows.add(sample.rows());
                window.clear();
            }
        }
        return windows;
    }

    /** Returns the first rows of each request: all, half, a quarter or an eighth of them. */
    private static List<SampledRow> cut(List<SampledRow> rows) {
        Map<Long, List<SampledRow>> requests = rows.stream()
                .collect(Collectors.groupingBy(SampledRow::request, LinkedHashMap::new, Collectors.toList()));
        return requests.entrySet().stream()
                .flatMap(request -> request.getValue().stream()
                        .limit(Math.max(1, request.getValue().size() >> Math.floorMod(request.getKey(), 4))))
                .toList();
    }
}
