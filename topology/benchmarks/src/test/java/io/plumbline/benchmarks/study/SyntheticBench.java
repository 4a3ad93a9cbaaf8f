package io.plumbline.benchmarks.study;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.RecordedWindow;
import io.plumbline.detection.DetectionBench;
import io.plumbline.detection.Levels;
import io.plumbline.detection.Scores;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.features.FailingFeature;
import io.plumbline.features.FailingFeatures;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.records.ActivationBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Compares Plumbline's statistics, {@link Rivals} and an online covariance on windows of a {@link SyntheticWorld}, and
 * the list of failing features with the truth. The explainer is the true dictionary. No request is in two windows.
 */
final class SyntheticBench {

    /** The rate of false alarms in clean windows. */
    static final double RATE = 0.05;

    /**
     * The exponentially weighted covariance of the leading 32 components, each in units of its clean standard
     * deviation: Frobenius distance from the identity. Windows must come in order.
     */
    private static final String ONLINE = "online covariance";

    /** The weight of the windows before. */
    private static final double MEMORY = 0.75;

    private static final int FOLLOWED = 32;

    /** Principal components that the rivals look at. */
    private static final int COMPONENTS = 64;

    static final List<String> COLUMNS = Stream.of(DetectionBench.STATISTICS, Rivals.NAMES, List.of(ONLINE))
            .flatMap(List::stream)
            .toList();

    private final Size size;
    private final SyntheticWorld world;
    private final Explainer explainer;
    private final List<ActivationBatch> baseline;
    private final Baseline built;
    private final SiteGeometry geometry;
    private final Rivals rivals;
    private final Levels levels;
    private final SplittableRandom random;

    /**
     * @param kept largest inner products that the encoder keeps
     * @param requestRows rows of a request
     * @param requests in a window
     * @param baselineRequests that everything is fitted on
     * @param cleanWindows that levels are taken from
     * @param windows of each kind that is asked about
     */
    record Size(
            int features,
            int dimension,
            int kept,
            int rank,
            int requestRows,
            int requests,
            int baselineRequests,
            int cleanWindows,
            int windows) {}

    SyntheticBench(Size size, long seed) {
        this.size = size;
        world = SyntheticWorld.of(size.features(), size.dimension(), seed);
        explainer = world.explainer(size.kept());
        random = new SplittableRandom(seed + 1);
        baseline = IntStream.range(0, size.baselineRequests())
                .mapToObj(i -> world.request(size.requestRows(), random))
                .toList();
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(size.rank()), List.of());
        baseline.forEach(builder::add);
        built = builder.build();
        geometry = SiteGeometry.of(explainer.decoder(), built.moment(), built.reconstructionMoment(), size.rank());
        rivals = new Rivals(stack(baseline), COMPONENTS);
        levels = new Levels(windows(world, 0.0, size.cleanWindows()), RATE);
    }

    SyntheticWorld world() {
        return world;
    }

    List<SyntheticDrift> drifts(long seed) {
        return SyntheticDrift.all(world, size.dimension(), seed);
    }

    /** Scores windows; each request comes from the drifted world with the chance {@code share}. */
    Scores windows(SyntheticWorld drifted, double share, int count) {
        Matrix online = Matrix.identity(FOLLOWED);
        Scores scores = new Scores();
        for (int window = 0; window < count; window++) {
            List<ActivationBatch> requests = IntStream.range(0, size.requests())
                    .mapToObj(i -> (random.nextDouble() < share ? drifted : world).request(size.requestRows(), random))
                    .toList();
            Matrix rows = stack(requests);
            RecordedWindow recorded = new RecordedWindow(built);
            requests.forEach(request -> recorded.add(
                    request, explainer.decoder().reconstruct(explainer.encoder().encode(request.activations()))));
            GapAssessment assessment = recorded.addTo(geometry.assess(SecondMoment.of(rows)));
            for (String statistic : DetectionBench.STATISTICS) {
                scores.add(statistic, assessment.statistic(statistic).orElseThrow());
            }
            List<Rivals.Request> parts = requests.stream()
                    .map(request -> rivals.request(request.activations()))
                    .toList();
            double[] ofRivals = rivals.scores(parts);
            for (int i = 0; i < ofRivals.length; i++) {
                scores.add(Rivals.NAMES.get(i), ofRivals[i]);
            }
            scores.add(ONLINE, followed(online, parts));
        }
        return scores;
    }

    private static double followed(Matrix online, List<Rivals.Request> window) {
        Matrix rows = Rivals.stack(
                        window.stream().map(Rivals.Request::components).toList())
                .leadingColumns(FOLLOWED);
        Matrix second = Kernels.transposeMultiply(rows, rows);
        for (int at = 0; at < second.values().length; at++) {
            online.values()[at] = MEMORY * online.values()[at] + (1.0 - MEMORY) * second.values()[at] / rows.rows();
        }
        return online.distance(Matrix.identity(FOLLOWED));
    }

    /** Share of the windows above its level. */
    double power(Scores scores, String column) {
        return Scores.shareAbove(scores.of(column), levels.alone(column));
    }

    /** A line of the table: power in percent, and windows until the first alarm. */
    String line(String name, Scores scores) {
        List<String> cells = new ArrayList<>(List.of(name));
        for (String column : COLUMNS) {
            double delay = Scores.delay(scores.of(column), levels.alone(column));
            cells.add(String.format(
                    Locale.ROOT,
                    "%.0f / %s",
                    100.0 * power(scores, column),
                    Double.isInfinite(delay) ? "never" : String.format(Locale.ROOT, "%.1f", delay)));
        }
        return "| " + String.join(" | ", cells) + " |";
    }

    /** Writes the table, a line as soon as it is known. */
    void table(int[] percent, Consumer<String> lines) {
        lines.accept("| | `" + String.join("` | `", COLUMNS) + "` |");
        lines.accept("|---|" + "---|".repeat(COLUMNS.size()));
        lines.accept(line("none: clean windows not calibrated on", windows(world, 0.0, 2 * size.windows())));
        for (SyntheticDrift drift : drifts(7)) {
            for (int share : percent) {
                lines.accept(line(
                        drift.name() + ", " + share + " % of requests",
                        windows(drift.world(), share / 100.0, size.windows())));
            }
        }
    }

    /**
     * The worth of a list of features.
     *
     * @param listed how many there are, at most 50
     * @param precision share of them that is wrong in truth
     * @param recall share of the wrong ones that is listed
     */
    record Attribution(int listed, double precision, double recall) {

        private static Attribution of(List<Integer> listed, Set<Integer> wrong) {
            long hits = listed.stream().filter(wrong::contains).count();
            return new Attribution(
                    listed.size(),
                    listed.isEmpty() ? Double.NaN : (double) hits / listed.size(),
                    wrong.isEmpty() ? Double.NaN : (double) hits / wrong.size());
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%d | %.2f | %.2f", listed, precision, recall);
        }
    }

    /** Scores the list on requests with a drifted share, and as a rival the fifty features that write most. */
    Attribution[] attribution(SyntheticDrift drift, double share, int requests) {
        List<ActivationBatch> drawn = IntStream.range(0, requests)
                .mapToObj(
                        i -> (random.nextDouble() < share ? drift.world() : world).request(size.requestRows(), random))
                .toList();
        Matrix rows = stack(drawn);
        Matrix clean =
                stack(baseline.subList(0, Math.min(baseline.size(), FailingFeatures.ROWS / 2 / size.requestRows())));
        SparseCodes codes = explainer.encoder().encode(rows);
        List<Integer> failing = FailingFeatures.of(
                        explainer.decoder(), explainer.encoder().encode(clean), clean, requestOf(clean))
                .list(codes, rows, requestOf(rows), null, FailingFeatures.REPORTED)
                .stream()
                .map(FailingFeature::feature)
                .toList();
        double[] written = new double[codes.features()];
        for (int entry = 0; entry < codes.nonZeros(); entry++) {
            written[codes.feature()[entry]] += codes.value()[entry] * codes.value()[entry];
        }
        List<Integer> mostActive = IntStream.range(0, written.length)
                .boxed()
                .sorted((i, j) -> Double.compare(written[j], written[i]))
                .limit(FailingFeatures.REPORTED)
                .toList();
        return new Attribution[] {Attribution.of(failing, drift.wrong()), Attribution.of(mostActive, drift.wrong())};
    }

    private long[] requestOf(Matrix rows) {
        return IntStream.range(0, rows.rows())
                .mapToLong(row -> row / size.requestRows())
                .toArray();
    }

    private static Matrix stack(List<ActivationBatch> requests) {
        return Rivals.stack(requests.stream().map(ActivationBatch::activations).toList());
    }
}
