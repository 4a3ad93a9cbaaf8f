package io.plumbline.benchmarks.study;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.CleanWindowPass;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.RecordedWindow;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Reading;
import io.plumbline.judgement.Threshold;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.parallel.Cores;
import io.plumbline.records.ActivationBatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Compares detectors on the same windows of whole requests, at the same rate of false alarms.
 *
 * <p>Clean windows are drawn from the usual requests, and every detector's level is the
 * {@code floor(0.05 (K+1))}-th largest of its own values in these {@code K} windows. The windows to judge are drawn
 * afresh, from the same requests and from foreign ones. No request comes twice in a window.
 */
final class Study {

    private static final List<Integer> PERCENT = List.of(100, 50, 25, 10, 5);

    /** The rule of thumb: its rate of false alarms is what it happens to be. */
    private static final String THREE_DEVIATIONS = "gap 3 sd";

    /** The verdict as the monitor gives it, by the level from the baseline's own clean windows. */
    private static final String VERDICT = "own level";

    /** No detector: whether a foreign request is in the window at all, the most that could be seen. */
    private static final String HOLDS_ONE = "holds one";

    /** The detectors that are compared at one rate of false alarms, and then those that are not. */
    static final List<String> DETECTORS = Stream.of(
                    List.of("default", "gap"), Rivals.NAMES, List.of(THREE_DEVIATIONS, VERDICT, HOLDS_ONE))
            .flatMap(List::stream)
            .toList();

    private static final double RATE = 0.05;
    private static final double STANDARD_ERRORS = 1.96;

    /** The number of usual windows for each window of a mixture. */
    private static final int USUAL_WINDOWS = 2;

    private static final AlarmLaw EACH_WINDOW = AlarmLaw.tumbling(DriftPolicy.immediate(), Duration.ofMinutes(1));

    private final int windowRows;
    private final Baseline baseline;
    private final SiteGeometry geometry;
    private final DriftJudge judge;
    private final Rivals rivals;
    private final List<Request> usual;
    private final Map<String, List<Request>> foreign = new LinkedHashMap<>();

    /** A request, and what is computed of it once. */
    private record Request(
            ActivationBatch batch,
            Matrix reconstruction,
            SecondMoment moment,
            Rivals.Request rivals,
            boolean isForeign) {}

    /**
     * The share of windows that raise an alarm.
     *
     * @param rows that a window has at least
     * @param percent of the requests that are foreign, on average
     * @param alarms percent of the windows that raise one
     * @param low the lower end of Wilson's 95 % interval, over the draws of windows from these requests
     * @param windows that were judged
     */
    record Cell(
            int rows,
            String traffic,
            int percent,
            String detector,
            double alarms,
            double low,
            double high,
            int windows) {

        private static Cell of(int rows, String traffic, int percent, String detector, long alarms, int n) {
            double z = STANDARD_ERRORS;
            double share = (double) alarms / n;
            double widening = 1.0 + z * z / n;
            double middle = (share + z * z / (2.0 * n)) / widening;
            double half = z * Math.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n)) / widening;
            return new Cell(
                    rows,
                    traffic,
                    percent,
                    detector,
                    100.0 * share,
                    100.0 * (middle - half),
                    100.0 * (middle + half),
                    n);
        }
    }

    /** @param windowRows that a window has at least */
    Study(Recordings recordings, Rivals rivals, int windowRows) {
        this.windowRows = windowRows;
        this.rivals = rivals;
        Explainer explainer = recordings.explainer();
        BaselineBuilder builder =
                BaselineBuilder.of(explainer, List.of(recordings.rank()), List.of(windowRows / 2, windowRows));
        recordings.fitted().forEach(builder::add);
        CleanWindowPass pass = builder.secondPass();
        recordings.fitted().forEach(pass::add);
        baseline = pass.build();
        geometry = SiteGeometry.of(
                explainer.decoder(), baseline.moment(), baseline.reconstructionMoment(), recordings.rank());
        Threshold threshold = new Threshold.FalseAlarms(new AlarmBudget.PerWindow(RATE), EACH_WINDOW);
        judge = new DriftJudge(baseline, DriftJudge.JUDGED_AS_ONE, threshold, threshold, DriftPolicy.immediate(), 1);
        usual = requests(explainer, recordings.usual(), false);
        recordings.foreign().forEach((name, of) -> foreign.put(name, requests(explainer, of, true)));
    }

    private List<Request> requests(Explainer explainer, List<ActivationBatch> batches, boolean isForeign) {
        Request[] requests = new Request[batches.size()];
        Cores.each(requests.length, i -> {
            ActivationBatch batch = batches.get(i);
            requests[i] = new Request(
                    batch,
                    explainer.decoder().reconstruct(explainer.encoder().encode(batch.activations())),
                    SecondMoment.of(batch.targetRows()),
                    rivals.request(batch.targetRows()),
                    isForeign);
        });
        return List.of(requests);
    }

    /**
     * Returns what every detector says of usual traffic and of every mixture.
     *
     * @param windows of each mixture
     * @param afterEach called after each of {@link #kinds}
     */
    List<Cell> run(int windows, Runnable afterEach) {
        SplittableRandom random = new SplittableRandom(1);
        // Threads of its own: the common pool's would keep what the kernels hand over until they are free.
        ExecutorService threads = Executors.newFixedThreadPool(Cores.threads());
        try {
            int usualWindows = USUAL_WINDOWS * windows;
            double[] levels = levels(draw(threads, usualWindows - 1, List.of(), 0, random));
            List<Cell> cells =
                    new ArrayList<>(cells("usual", 0, levels, draw(threads, usualWindows, List.of(), 0, random)));
            afterEach.run();
            foreign.forEach((traffic, others) -> PERCENT.forEach(percent -> {
                cells.addAll(cells(traffic, percent, levels, draw(threads, windows, others, percent, random)));
                afterEach.run();
            }));
            return cells;
        } finally {
            threads.shutdownNow();
        }
    }

    /** Returns how many kinds of traffic there are: usual, and every mixture. */
    int kinds() {
        return 1 + foreign.size() * PERCENT.size();
    }

    private List<Cell> cells(String traffic, int percent, double[] levels, List<double[]> windows) {
        return IntStream.range(0, levels.length)
                .mapToObj(of -> Cell.of(
                        windowRows,
                        traffic,
                        percent,
                        DETECTORS.get(of),
                        windows.stream()
                                .filter(scores -> scores[of] > levels[of])
                                .count(),
                        windows.size()))
                .toList();
    }

    /** Returns the scores of windows that are drawn. */
    private List<double[]> draw(
            ExecutorService threads, int count, List<Request> others, int percent, SplittableRandom random) {
        return IntStream.range(0, count)
                .mapToObj(i -> window(others, percent / 100.0, random))
                .map(window -> threads.submit(() -> scores(window)))
                .toList()
                .stream()
                .map(Study::await)
                .toList();
    }

    private static double[] await(Future<double[]> scores) {
        try {
            return scores.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private List<Request> window(List<Request> others, double share, SplittableRandom random) {
        List<Request> left = new ArrayList<>(usual);
        List<Request> leftForeign = new ArrayList<>(others);
        List<Request> window = new ArrayList<>();
        for (int rows = 0; rows < windowRows; ) {
            List<Request> of = random.nextDouble() < share ? leftForeign : left;
            Request request = of.remove(random.nextInt(of.size()));
            window.add(request);
            rows += request.batch().rows();
        }
        return window;
    }

    /** Returns a value for each of {@link #DETECTORS}. */
    private double[] scores(List<Request> window) {
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(baseline.dimension());
        RecordedWindow recorded = new RecordedWindow(baseline);
        for (Request request : window) {
            moment.merge(request.moment());
            recorded.add(request.batch(), request.reconstruction());
        }
        GapAssessment assessment = recorded.addTo(geometry.assess(moment.snapshot()));
        List<Reading> readings = judge.readings(assessment);
        double height = readings.stream()
                .map(Reading::score)
                .filter(Objects::nonNull)
                .mapToDouble(Double::doubleValue)
                .max()
                .orElseThrow();
        double gap = assessment.value(Statistic.FAITHFULNESS_GAP).orElseThrow();
        double[] ofRivals = rivals.scores(window.stream().map(Request::rivals).toList());
        double[] scores = Arrays.copyOf(new double[] {height, gap}, DETECTORS.size());
        System.arraycopy(ofRivals, 0, scores, 2, ofRivals.length);
        scores[scores.length - 3] = gap;
        scores[scores.length - 2] = isAbove(readings) ? 1.0 : 0.0;
        scores[scores.length - 1] = window.stream().anyMatch(Request::isForeign) ? 1.0 : 0.0;
        return scores;
    }

    private static boolean isAbove(List<Reading> readings) {
        return readings.stream().anyMatch(reading -> Boolean.TRUE.equals(reading.exceeded()));
    }

    /** Returns the level of each detector. */
    private static double[] levels(List<double[]> clean) {
        double[] levels = new double[DETECTORS.size()];
        for (int detector = 0; detector < levels.length; detector++) {
            int of = detector;
            double[] values =
                    clean.stream().mapToDouble(scores -> scores[of]).sorted().toArray();
            levels[detector] = switch (DETECTORS.get(detector)) {
                case THREE_DEVIATIONS -> meanAndThreeDeviations(values);
                case VERDICT, HOLDS_ONE -> 0.5;
                default -> values[values.length - (int) Math.floor(RATE * (values.length + 1))];
            };
        }
        return levels;
    }

    private static double meanAndThreeDeviations(double[] values) {
        double mean = Arrays.stream(values).average().orElseThrow();
        double squares = Arrays.stream(values)
                .map(value -> (value - mean) * (value - mean))
                .sum();
        return mean + 3.0 * Math.sqrt(squares / (values.length - 1));
    }
}
