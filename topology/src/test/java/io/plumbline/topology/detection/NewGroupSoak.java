package io.plumbline.topology.detection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.RequestModel;
import io.plumbline.explainer.Explainer;
import io.plumbline.groups.Familiarity;
import io.plumbline.groups.GroupSpace;
import io.plumbline.groups.RecentGroups;
import io.plumbline.groups.TrafficGroup;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.GroupLevels;
import io.plumbline.judgement.Threshold;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestTotal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Prints docs/data/detection-new-groups.csv: when a new kind of requests is found and makes its site drifted, in
 * windows of 17 requests. Later English goes round in its order; each request is replaced by a foreign one with some
 * chance, at once or by a ramp. Reads the recordings of {@link RecordedDetectionSoak}.
 */
class NewGroupSoak {

    private static final int WINDOWS = 30;
    private static final int REQUESTS = 17;
    private static final int DRAWS = 200;
    private static final double RAMP_END = 0.25;
    private static final long MINUTE = 60_000;
    private static final int NEVER = Integer.MAX_VALUE;

    @TempDir
    private Path folder;

    /** The windows, from 1, in which a new group is first reported, and in which the site becomes drifted. */
    private record First(int group, int drifted) {}

    @Test
    void aNewKindIsFoundAtOnceAndOldTrafficIsNoNewKind() throws Exception {
        String recordings = System.getProperty(RecordedDetectionSoak.FOLDER);
        assumeTrue(recordings != null, "no folder of recordings was named");
        Explainer explainer = Recordings.explainer(folder);
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(32), List.of());
        List<ActivationBatch> clean = read(recordings, "en_baseline");
        clean.forEach(builder::addContents);
        clean.forEach(builder::add);
        Baseline baseline = builder.build();
        RequestModel model = Objects.requireNonNull(baseline.requests());
        GroupLevels levels = new GroupLevels(
                new Threshold.FalseAlarms(
                        AlarmBudget.standard(), AlarmLaw.tumbling(DriftPolicy.STANDARD, Duration.ofMinutes(1))),
                model.requests(),
                GroupSpace.SHARE_OF_UNUSUAL,
                TrafficGroup.FEWEST);
        List<RequestTotal> english = totals(model, read(recordings, "en"));
        System.out.println(
                "kind,course,percent,group_by_2,group_by_8,group_by_30,drifted_by_2,drifted_by_8,drifted_by_30");
        for (String kind : List.of("de", "code")) {
            List<RequestTotal> foreign = totals(model, read(recordings, kind));
            for (int percent : new int[] {0, 1, 2, 5, 10, 25}) {
                List<First> runs = runs(baseline, levels, english, foreign, at -> percent / 100.0);
                print("%s,at once,%d".formatted(kind, percent), runs);
                if (percent == 0) {
                    assertEquals(0.0, share(runs.stream().map(First::drifted).toList(), WINDOWS));
                }
                if (percent == 25) {
                    assertTrue(share(runs.stream().map(First::drifted).toList(), 8) > 0.95);
                }
            }
            print(
                    "%s,ramp,25".formatted(kind),
                    runs(baseline, levels, english, foreign, at -> RAMP_END * at / WINDOWS));
        }
    }

    private static List<ActivationBatch> read(String recordings, String name) throws Exception {
        return Recordings.requests(Path.of(recordings, "activations", name + ".safetensors"));
    }

    private static List<RequestTotal> totals(RequestModel model, List<ActivationBatch> requests) {
        return IntStream.range(0, requests.size())
                .mapToObj(i -> {
                    double[] sum = new double[model.projection().components()];
                    model.projection().add(requests.get(i).targetRows(), sum);
                    return new RequestTotal(i, null, requests.get(i).rows(), sum);
                })
                .toList();
    }

    private static List<First> runs(
            Baseline baseline,
            GroupLevels levels,
            List<RequestTotal> english,
            List<RequestTotal> foreign,
            IntToDoubleFunction share) {
        return IntStream.range(0, DRAWS)
                .parallel()
                .mapToObj(draw -> run(baseline, levels, english, foreign, share, draw))
                .toList();
    }

    private static First run(
            Baseline baseline,
            GroupLevels levels,
            List<RequestTotal> english,
            List<RequestTotal> foreign,
            IntToDoubleFunction share,
            int draw) {
        GroupSpace space = Objects.requireNonNull(baseline.requests()).groupSpace();
        SplittableRandom random = new SplittableRandom(draw);
        RecentGroups memory = RecentGroups.NONE;
        int place = random.nextInt(english.size());
        int group = NEVER;
        int above = NEVER;
        int drifted = NEVER;
        for (int window = 1; window <= WINDOWS; window++) {
            List<RequestTotal> requests = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                RequestTotal next = random.nextDouble() < share.applyAsDouble(window)
                        ? foreign.get(random.nextInt(foreign.size()))
                        : english.get(place++ % english.size());
                requests.add(new RequestTotal(window * REQUESTS + i, null, next.rows(), next.sum()));
            }
            RecentGroups.Step step =
                    memory.after(space, window * MINUTE, (window + 1) * MINUTE, requests, baseline.groups());
            memory = step.memory();
            int largest = step.groups().stream()
                    .map(RecentGroups.Seen::group)
                    .filter(one -> one.familiarity() instanceof Familiarity.New)
                    .mapToInt(TrafficGroup::size)
                    .max()
                    .orElse(0);
            group = largest > 0 ? Math.min(group, window) : group;
            if (levels.level(step.requests()) instanceof Threshold.Level.Known known && largest > known.value()) {
                drifted = above <= window - 1 && above >= window - 2 ? Math.min(drifted, window) : drifted;
                above = window;
            }
        }
        return new First(group, drifted);
    }

    private static void print(String what, List<First> runs) {
        List<Integer> groups = runs.stream().map(First::group).toList();
        List<Integer> drifted = runs.stream().map(First::drifted).toList();
        System.out.printf(
                "%s,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f%n",
                what,
                share(groups, 2),
                share(groups, 8),
                share(groups, WINDOWS),
                share(drifted, 2),
                share(drifted, 8),
                share(drifted, WINDOWS));
    }

    private static double share(List<Integer> windows, int by) {
        return (double) windows.stream().filter(window -> window <= by).count() / windows.size();
    }
}
