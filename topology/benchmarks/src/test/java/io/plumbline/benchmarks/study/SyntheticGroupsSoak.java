package io.plumbline.benchmarks.study;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.RequestModel;
import io.plumbline.explainer.Explainer;
import io.plumbline.groups.Familiarity;
import io.plumbline.groups.TrafficGroup;
import io.plumbline.groups.UnusualRequests;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestTotal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Prints what groups are found among 120 requests of a {@link SyntheticWorld}, some with features that the world did
 * not have: 16,384 features in 768 dimensions, requests of 120 rows, a baseline of 271.
 */
class SyntheticGroupsSoak {

    private static final int ROWS = 120;
    private static final int BASELINE = 271;
    private static final int POOLED = 120;
    private static final int DRAWS = 200;

    /** Foreign requests have names from here on. */
    private static final int FOREIGN = 1_000_000;

    @Test
    void requestsWithNewFeaturesAreAGroup() {
        SyntheticWorld world = SyntheticWorld.of(SyntheticWorld.FEATURES, SyntheticWorld.DIMENSION, 1);
        SplittableRandom random = new SplittableRandom(2);
        Explainer explainer = world.explainer(32);
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(32), List.of());
        IntStream.range(0, BASELINE).forEach(i -> builder.add(world.request(ROWS, random)));
        Baseline baseline = builder.build();
        RequestModel model = Objects.requireNonNull(baseline.requests());
        List<RequestTotal> clean = totals(model, world, 400, 0, random);
        System.out.println("firing,planted,found,purity,new,groups_where_none_is_foreign");
        for (double firing : new double[] {0.02, 0.1, 0.3}) {
            List<RequestTotal> foreign = totals(model, withNew(world, firing), 100, FOREIGN, random);
            for (int planted : new int[] {0, 3, 6, 12, 30}) {
                print(firing, planted, clean, foreign, model, baseline, random);
            }
        }
    }

    /** Returns the world with one new feature to 256 of its own, each in this share of the rows. */
    private static SyntheticWorld withNew(SyntheticWorld world, double firing) {
        Random random = new Random(9);
        SyntheticWorld.Feature[] old = world.features();
        SyntheticWorld.Feature[] features = Arrays.copyOf(old, old.length + old.length / 256);
        for (int j = old.length; j < features.length; j++) {
            features[j] = SyntheticWorld.Feature.alone(random, SyntheticWorld.DIMENSION, firing, 4.5);
        }
        return world.with(features);
    }

    private static void print(
            double firing,
            int planted,
            List<RequestTotal> clean,
            List<RequestTotal> foreign,
            RequestModel model,
            Baseline baseline,
            SplittableRandom random) {
        int found = 0;
        int isNew = 0;
        int ofNone = 0;
        double purity = 0.0;
        for (int draw = 0; draw < DRAWS; draw++) {
            List<RequestTotal> drawn = new ArrayList<>(drawn(clean, POOLED - planted, random));
            drawn.addAll(drawn(foreign, planted, random));
            UnusualRequests pool = UnusualRequests.of(model.groupSpace()).add(drawn);
            List<TrafficGroup> groups = TrafficGroup.of(pool, baseline.groups());
            ofNone += groups.stream().anyMatch(group -> share(group) == 0.0) ? 1 : 0;
            Optional<TrafficGroup> largest = groups.stream()
                    .filter(group -> share(group) > 0.5)
                    .max(Comparator.comparingInt(TrafficGroup::size));
            if (largest.isPresent()) {
                found++;
                purity += share(largest.get());
                isNew += largest.get().familiarity() instanceof Familiarity.New ? 1 : 0;
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%.2f,%d,%.3f,%.3f,%.3f,%.3f%n",
                firing,
                planted,
                (double) found / DRAWS,
                purity / Math.max(1, found),
                (double) isNew / Math.max(1, found),
                (double) ofNone / DRAWS);
        assertTrue(planted < 12 || purity >= 0.9 * found, "purity of " + planted);
    }

    private static List<RequestTotal> totals(
            RequestModel model, SyntheticWorld world, int requests, int first, SplittableRandom random) {
        List<RequestTotal> totals = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            ActivationBatch request = world.request(ROWS, random);
            double[] sum = new double[model.projection().components()];
            model.projection().add(request.targetRows(), sum);
            totals.add(new RequestTotal(first + i, Integer.toString(first + i), ROWS, sum));
        }
        return totals;
    }

    private static List<RequestTotal> drawn(List<RequestTotal> from, int count, SplittableRandom random) {
        return IntStream.generate(() -> random.nextInt(from.size()))
                .distinct()
                .limit(count)
                .mapToObj(from::get)
                .toList();
    }

    private static double share(TrafficGroup group) {
        return group.nearest(group.size()).stream()
                        .filter(request -> Integer.parseInt(String.valueOf(request.name())) >= FOREIGN)
                        .count()
                / (double) group.size();
    }
}
