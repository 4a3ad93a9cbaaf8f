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
import io.plumbline.groups.UnusualRequests;
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
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Prints docs/data/detection-new-groups.csv: when a new kind of requests is found and makes its site drifted, in
 * windows of 17, 34 and 60 requests. Later English goes round in its order; each request is replaced by a foreign one
 * with some chance, at once or by a ramp. And docs/data/detection-known-groups.csv: how often a kind is found that the
 * baseline has some requests of. Reads the recordings of {@link RecordedDetectionSoak}.
 */
class NewGroupSoak {

    private static final int WINDOWS = 30;
    private static final int DRAWS = 200;
    private static final int BUILDS = 4;
    private static final List<Integer> PLANTED = List.of(0, 3, 4, 6, 12, 30);
    private static final double RAMP_END = 0.25;
    private static final long MINUTE = 60_000;
    private static final int NEVER = Integer.MAX_VALUE;

    @TempDir
    private Path folder;

    /**
     * The windows, from 1, in which a new group is first reported, and in which the site becomes drifted.
     *
     * @param purity share of foreign requests in the largest new group when it is first reported; 1 where none is
     */
    private record First(int group, int drifted, double purity) {}

    /** Traffic in windows of some requests. */
    private record Traffic(
            Baseline baseline,
            GroupLevels levels,
            List<RequestTotal> english,
            List<RequestTotal> foreign,
            int requests) {}

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
        System.out.println("requests,kind,course,percent,group_by_2,group_by_8,group_by_30,drifted_by_2,drifted_by_8,"
                + "drifted_by_30,purity");
        for (int requests : new int[] {17, 34, 60}) {
            for (String kind : List.of("de", "code")) {
                Traffic traffic =
                        new Traffic(baseline, levels, english, totals(model, read(recordings, kind)), requests);
                for (int percent : new int[] {0, 1, 2, 5, 10, 25}) {
                    List<First> runs = runs(traffic, at -> percent / 100.0);
                    print("%d,%s,at once,%d".formatted(requests, kind, percent), runs);
                    if (percent == 0) {
                        assertEquals(
                                0.0, share(runs.stream().map(First::drifted).toList(), WINDOWS));
                    }
                    if (percent == 25) {
                        assertTrue(share(runs.stream().map(First::drifted).toList(), 8) > 0.95);
                    }
                }
                print("%d,%s,ramp,25".formatted(requests, kind), runs(traffic, at -> RAMP_END * at / WINDOWS));
            }
        }
    }

    @Test
    void aKindThatTheBaselineHasIsFoundWhenItGrows() throws Exception {
        String recordings = System.getProperty(RecordedDetectionSoak.FOLDER);
        assumeTrue(recordings != null, "no folder of recordings was named");
        Explainer explainer = Recordings.explainer(folder);
        System.out.println("kind,in_baseline,planted,found,known,purity,groups_of_english");
        for (String kind : List.of("de", "code")) {
            for (int inBaseline : new int[] {0, 1, 3, 6, 14}) {
                List<Growth> growths = new ArrayList<>();
                PLANTED.forEach(planted -> growths.add(new Growth(planted)));
                for (int build = 0; build < BUILDS; build++) {
                    List<ActivationBatch> foreign = new ArrayList<>(read(recordings, kind));
                    Collections.shuffle(foreign, new Random(build));
                    BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(32), List.of());
                    List<ActivationBatch> clean = new ArrayList<>(read(recordings, "en_baseline"));
                    clean.addAll(foreign.subList(0, inBaseline));
                    clean.forEach(builder::addContents);
                    clean.forEach(builder::add);
                    Baseline baseline = builder.build();
                    RequestModel model = Objects.requireNonNull(baseline.requests());
                    List<RequestTotal> english = totals(model, read(recordings, "en"));
                    List<RequestTotal> others = totals(model, foreign.subList(inBaseline, foreign.size()));
                    for (Growth growth : growths) {
                        growth.draw(baseline, english, others, build);
                    }
                }
                for (Growth growth : growths) {
                    System.out.printf("%s,%d,%s%n", kind, inBaseline, growth);
                    assertTrue(growth.planted < 6 || growth.found > 0.85 * growth.draws, kind + inBaseline + growth);
                }
            }
        }
    }

    /** Counts what is found among 120 requests, some of one foreign kind. */
    private static final class Growth {

        private final int planted;
        private int draws;
        private int found;
        private int known;
        private int ofEnglish;
        private double purity;

        Growth(int planted) {
            this.planted = planted;
        }

        void draw(Baseline baseline, List<RequestTotal> english, List<RequestTotal> foreign, int build) {
            GroupSpace space = Objects.requireNonNull(baseline.requests()).groupSpace();
            for (int draw = 0; draw < DRAWS / BUILDS; draw++) {
                Random random = new Random(1_000L * build + draw);
                int place = random.nextInt(english.size());
                List<RequestTotal> others = new ArrayList<>(foreign);
                Collections.shuffle(others, random);
                List<RequestTotal> pooled = IntStream.range(0, RecentGroups.POOLED_REQUESTS)
                        .mapToObj(i -> {
                            RequestTotal one = i < planted ? others.get(i) : english.get((place + i) % english.size());
                            return new RequestTotal(i, null, one.rows(), one.sum());
                        })
                        .toList();
                List<TrafficGroup> groups =
                        TrafficGroup.of(UnusualRequests.of(space).add(pooled), baseline.groups());
                draws++;
                Optional<TrafficGroup> largest = groups.stream()
                        .filter(group -> foreignIn(group) > 0.5)
                        .max(Comparator.comparingInt(TrafficGroup::size));
                ofEnglish += groups.stream().anyMatch(group -> foreignIn(group) <= 0.5) ? 1 : 0;
                found += largest.isPresent() ? 1 : 0;
                purity += largest.map(this::foreignIn).orElse(0.0);
                known += largest.map(TrafficGroup::familiarity).orElse(null) instanceof Familiarity.Known ? 1 : 0;
            }
        }

        private double foreignIn(TrafficGroup group) {
            return (double) group.members().stream()
                            .filter(one -> one.request() < planted)
                            .count()
                    / group.size();
        }

        @Override
        public String toString() {
            return "%d,%.3f,%.3f,%.3f,%.3f"
                    .formatted(
                            planted,
                            (double) found / draws,
                            (double) known / Math.max(1, found),
                            purity / Math.max(1, found),
                            (double) ofEnglish / draws);
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

    private static List<First> runs(Traffic traffic, IntToDoubleFunction share) {
        return IntStream.range(0, DRAWS)
                .parallel()
                .mapToObj(draw -> run(traffic, share, draw))
                .toList();
    }

    private static First run(Traffic traffic, IntToDoubleFunction share, int draw) {
        GroupSpace space = Objects.requireNonNull(traffic.baseline.requests()).groupSpace();
        SplittableRandom random = new SplittableRandom(draw);
        RecentGroups memory = RecentGroups.NONE;
        Set<Long> planted = new HashSet<>();
        int place = random.nextInt(traffic.english.size());
        First first = new First(NEVER, NEVER, 1.0);
        int above = NEVER;
        for (int window = 1; window <= WINDOWS; window++) {
            List<RequestTotal> requests = new ArrayList<>();
            for (int i = 0; i < traffic.requests; i++) {
                long number = (long) window * traffic.requests + i;
                boolean isForeign = random.nextDouble() < share.applyAsDouble(window);
                RequestTotal next = isForeign
                        ? traffic.foreign.get(random.nextInt(traffic.foreign.size()))
                        : traffic.english.get(place++ % traffic.english.size());
                if (isForeign) {
                    planted.add(number);
                }
                requests.add(new RequestTotal(number, null, next.rows(), next.sum()));
            }
            RecentGroups.Step step =
                    memory.after(space, window * MINUTE, (window + 1) * MINUTE, requests, traffic.baseline.groups());
            memory = step.memory();
            TrafficGroup largest = step.groups().stream()
                    .map(RecentGroups.Seen::group)
                    .filter(one -> one.familiarity() instanceof Familiarity.New)
                    .max(Comparator.comparingInt(TrafficGroup::size))
                    .orElse(null);
            if (largest == null) {
                continue;
            }
            if (first.group == NEVER) {
                long foreign = largest.members().stream()
                        .filter(one -> planted.contains(one.request()))
                        .count();
                first = new First(window, first.drifted, (double) foreign / largest.size());
            }
            if (traffic.levels.level(step.lookedAt()) instanceof Threshold.Level.Known known
                    && largest.size() > known.value()) {
                if (first.drifted == NEVER && above >= window - 2 && above < window) {
                    first = new First(first.group, window, first.purity);
                }
                above = window;
            }
        }
        return first;
    }

    private static void print(String what, List<First> runs) {
        List<Integer> groups = runs.stream().map(First::group).toList();
        List<Integer> drifted = runs.stream().map(First::drifted).toList();
        System.out.printf(
                "%s,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f%n",
                what,
                share(groups, 2),
                share(groups, 8),
                share(groups, WINDOWS),
                share(drifted, 2),
                share(drifted, 8),
                share(drifted, WINDOWS),
                runs.stream().mapToDouble(First::purity).average().orElse(1.0));
    }

    private static double share(List<Integer> windows, int by) {
        return (double) windows.stream().filter(window -> window <= by).count() / windows.size();
    }
}
