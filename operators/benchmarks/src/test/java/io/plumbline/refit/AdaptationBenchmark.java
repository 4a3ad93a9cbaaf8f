package io.plumbline.refit;

import com.sun.management.OperatingSystemMXBean;
import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.benchmarks.operators.Figures;
import io.plumbline.benchmarks.operators.Figures.Unit;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.SubspaceCache;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.moments.SecondMoment;
import io.plumbline.requests.UsualRows;
import io.plumbline.wire.ByteSink;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Measures one adaptation at the paper's sizes, with random weights: the time of each stage as it is computed, on the
 * wall and of all processors with the compiler and collector, and of the whole, from the sampled rows to the decoder
 * that passed or failed the gate, as the paper prints it and as {@code auto} searches.
 *
 * <p>Arguments: {@code gpt2}, {@code pythia} or {@code small}; then {@code paper}, {@code auto} or both; then how many
 * rounds, or {@code heap} for the smallest heap in which one adaptation runs; then a CSV file; then, if wished, a
 * folder where the trained decoder's directions are kept between runs.
 */
public final class AdaptationBenchmark {

    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private static final int ROWS = 2048;
    private static final int REQUEST = 32;
    private static final int TOP_K = 32;
    private static final double OFFSET = 0.3;
    private static final String SINGLE = "a single refit, with the gate";
    private static final String AUTO = "profile auto, with the gate";
    private static final int YOUNG_MIB = 16;
    private static final int STEP_MIB = 4;
    private static final int MOST_MIB = 1 << 16;
    private static final long SEED = 20_261_121;

    private final int rank;
    private final Decoder trained;
    private final Encoder encoder;
    private final ExplainerSubspace subspace;
    private final Matrix activations;
    private final BaselineRows baseline;
    private final Map<String, List<Double>> wall = new LinkedHashMap<>();
    private final Map<String, List<Double>> cpu = new LinkedHashMap<>();

    /** Width of the rows, features of the dictionary, rank of the subspaces. */
    private record Size(int d, int features, int rank) {

        static Size named(String name) {
            return switch (name) {
                case "gpt2" -> new Size(768, 24_576, 32);
                case "pythia" -> new Size(2048, 65_536, 64);
                case "small" -> new Size(256, 4_096, 16);
                default -> throw new IllegalArgumentException(name + ": expected gpt2, pythia or small");
            };
        }
    }

    private AdaptationBenchmark(Size size, @Nullable Path folder) {
        int dimension = size.d();
        int features = size.features();
        rank = size.rank();
        Matrix weights = floats(features, dimension, 1, 1.0 / Math.sqrt(dimension));
        trained = new Decoder(weights, new double[dimension]);
        encoder = TopKEncoder.of(weights, new double[features], TOP_K);
        long begin = System.nanoTime();
        subspace = folder == null
                ? ExplainerSubspace.of(trained, rank)
                : SubspaceCache.of(folder, trained, trained.sha256(), rank, System.out::println);
        System.out.printf("the trained decoder's subspace, once per explainer or read: %.1f s%n", seconds(begin));
        activations = drifted(dimension, 2);
        Matrix clean = floats(ROWS, dimension, 3, 1.0);
        baseline = new BaselineRows(
                rows(clean, 0, ROWS / 2), rows(clean, ROWS / 2, ROWS), UsualRows.Longest.of(List.of()));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length < 4) {
            throw new IllegalArgumentException("expected a size, a profile, rounds or heap, a CSV file");
        }
        String profile = arguments[1];
        Figures figures = new Figures();
        if (arguments[2].equals("heap")) {
            Map<String, double[]> heaps = new LinkedHashMap<>();
            for (String one : profile.equals("both") ? List.of("paper", "auto") : List.of(profile)) {
                heaps.put(one, new double[] {smallestHeap(arguments, one)});
            }
            figures.add("smallest heap of a refit, " + arguments[0], Unit.MEGABYTES, heaps);
        } else {
            System.out.println(UpdateKernels.chosen().reason());
            Path folder = arguments.length > 4 ? Path.of(arguments[4]) : null;
            AdaptationBenchmark benchmark = new AdaptationBenchmark(Size.named(arguments[0]), folder);
            benchmark.run(!profile.equals("auto"), !profile.equals("paper"), Integer.parseInt(arguments[2]));
            figures.add(arguments[0] + ", by the wall", Unit.MILLISECONDS, doubles(benchmark.wall));
            figures.add(arguments[0] + ", of all processors", Unit.MILLISECONDS, doubles(benchmark.cpu));
        }
        figures.print(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
        figures.write(Path.of(arguments[3]));
    }

    private static Map<String, double[]> doubles(Map<String, List<Double>> times) {
        Map<String, double[]> all = new LinkedHashMap<>();
        times.forEach((stage, each) ->
                all.put(stage, each.stream().mapToDouble(Double::doubleValue).toArray()));
        return all;
    }

    /**
     * Returns the smallest heap, in MB (10^6 bytes) and to within {@value #STEP_MIB} MiB, in which a process makes the
     * explainer and adapts it once. With a young generation of {@value #YOUNG_MIB} MiB nothing but that and what is
     * alive has to fit: so this is the most that is alive at any moment, and cannot miss a short peak.
     */
    private static double smallestHeap(String[] arguments, String profile) throws IOException, InterruptedException {
        int enough = 2 * YOUNG_MIB;
        while (!runs(arguments, profile, enough)) {
            enough *= 2;
            if (enough > MOST_MIB) {
                throw new IllegalStateException("an adaptation does not run in %d MiB either".formatted(MOST_MIB));
            }
        }
        int tooSmall = enough / 2;
        while (enough - tooSmall > STEP_MIB) {
            int middle = (enough + tooSmall) / 2;
            if (runs(arguments, profile, middle)) {
                enough = middle;
            } else {
                tooSmall = middle;
            }
        }
        return enough * 1.048576;
    }

    private static boolean runs(String[] arguments, String profile, int heap) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "-Dplumbline.kernel=" + UpdateKernels.chosen().kernel().name(),
                "-XX:+UseSerialGC",
                "-Xms%dm".formatted(heap),
                "-Xmx%dm".formatted(heap),
                "-Xmn%dm".formatted(YOUNG_MIB),
                "-cp",
                System.getProperty("java.class.path"),
                AdaptationBenchmark.class.getName(),
                arguments[0],
                profile,
                "0",
                arguments[3]));
        command.addAll(List.of(arguments).subList(4, arguments.length));
        Process process = new ProcessBuilder(command)
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        boolean fits = process.waitFor() == 0;
        System.out.printf("%s in %d MiB: %s%n", profile, heap, fits ? "runs" : "does not run");
        return fits;
    }

    /** Times so many rounds; 0 adapts once, and holds nothing but what that needs. */
    private void run(boolean paper, boolean auto, int rounds) {
        Matrix shifted = paper ? shifted(activations) : activations;
        for (int round = 0; round < Math.max(1, rounds); round++) {
            if (paper) {
                AdaptationProfile profile = new AdaptationProfile.Paper(paperSettings());
                whole(SINGLE, profile, () -> rows(shifted, 0, ROWS), round);
                if (rounds > 0) {
                    stages(shifted);
                }
            }
            if (auto) {
                whole(AUTO, new AdaptationProfile.Auto(), () -> rows(activations, 0, ROWS), round);
            }
        }
    }

    private GaeSettings paperSettings() {
        return new GaeSettings(rank, Rotation.PRINTED, Regularisation.relative(2.0, 1.0), 0.0);
    }

    /** Measures the stages of a single refit, one after the other. */
    private void stages(Matrix shifted) {
        SampleRows rows = time("encoder and TopK", () -> rows(shifted, 0, ROWS));
        Matrix moment = time("second moment of the rows", () -> SecondMoment.of(rows.targets())
                .matrix());
        ActiveSubspace window = time("top-r eigenspace", () -> ActiveSubspace.leadingOnly(moment, rank, null));
        ActiveSubspace wider =
                time("the same at four times the rank", () -> ActiveSubspace.leadingOnly(moment, 4 * rank, null));
        time("full-rank rotation", () -> StepOne.of(subspace, wider, Rotation.FULL_RANK));
        StepOne stepOne = time("Procrustes", () -> StepOne.of(subspace, window, Rotation.PRINTED));
        time("Z D", () -> SparseProducts.multiply(rows.codes(), trained.weights()));
        Regularisation absolute = paperSettings().regularisation().inUnitsOf(rows.codes());
        Cholesky cholesky = time("Gram matrix of the codes and Cholesky, one level", () -> new CentredGram(rows.codes())
                .factored(ROWS * absolute.preservation()));
        time("solve, d right-hand sides", () -> cholesky.solve(rows.targets()));
        FittedRows fitted = FittedRows.of(trained, rows.codes(), rows.targets());
        FittedDecoder fit = time(
                "all of Step 2 in factors (two levels)",
                () -> PlannedRefits.single(paperSettings(), fitted, stepOne, Refit::fitted));
        Decoder decoder = time("assembling W, as float32, and its bias", () -> fit.decoder("the refit", DType.F32));
        FittedDecoder withProducts = PlannedRefits.single(
                paperSettings(),
                fitted,
                stepOne,
                refit -> time("the sum of Step 2 and W W^T from factors", () -> refit.fitted(subspace)));
        SampleRows heldOut = rows.select(IntStream.range(0, ROWS / 4).toArray());
        time("gate", () -> new SwapGate(GateLimits.DEFAULTS)
                .judge(
                        SiteDecoders.servingTrained(trained, subspace, rank),
                        new SwapGate.Proposal(decoder, withProducts.products()),
                        heldOut,
                        null));
        time("hashing and writing as float32", () -> hash(decoder));
    }

    /** Measures from the sampled rows on, with the parts a window of this size is split into. */
    private void whole(String name, AdaptationProfile profile, Supplier<SampleRows> rowsOfWindow, int round) {
        GatedAdaptation adaptation = time(
                name,
                () -> GatedAdaptation.of(
                        profile,
                        new SwapGate(GateLimits.DEFAULTS),
                        SiteDecoders.servingTrained(trained, subspace, rank),
                        inParts(rowsOfWindow.get()),
                        DType.F32));
        if (round == 0) {
            System.out.printf(
                    "%s: %s; %s%n",
                    name,
                    adaptation.search().best().candidate().describe(),
                    adaptation.decision().reason());
        }
    }

    private AdaptationRows inParts(SampleRows all) {
        return new AdaptationRows(
                part(all, 0, ROWS / 2),
                part(all, ROWS / 2, 3 * ROWS / 4),
                part(all, 0, 3 * ROWS / 4),
                part(all, 3 * ROWS / 4, ROWS),
                all,
                baseline.anchor(),
                baseline.check());
    }

    private <T> T time(String stage, Supplier<T> work) {
        long begin = System.nanoTime();
        long before = PROCESS.getProcessCpuTime();
        T result = work.get();
        double milliseconds = 1e3 * seconds(begin);
        double busy = (PROCESS.getProcessCpuTime() - before) / 1e6;
        wall.computeIfAbsent(stage, unused -> new ArrayList<>()).add(milliseconds);
        cpu.computeIfAbsent(stage, unused -> new ArrayList<>()).add(busy);
        return result;
    }

    private SampleRows rows(Matrix all, int from, int to) {
        Matrix rows = all.rowRange(from, to);
        SparseCodes codes = encoder.encode(rows);
        long[] requests = new long[to - from];
        for (int i = 0; i < requests.length; i++) {
            int request = (from + i) / REQUEST;
            requests[i] = request;
        }
        return new SampleRows(codes, rows, requests);
    }

    private static SampleRows part(SampleRows rows, int from, int to) {
        return rows.select(IntStream.range(from, to).toArray());
    }

    /** Returns sparse mixtures of features whose directions moved, so that there is something to learn. */
    private Matrix drifted(int dimension, long seed) {
        SplittableRandom random = new SplittableRandom(SEED + seed);
        Matrix rows = Matrix.zeros(ROWS, dimension);
        Weights weights = trained.weights();
        for (int i = 0; i < ROWS; i++) {
            for (int active = 0; active < TOP_K; active++) {
                // Skewed towards the first features.
                int feature = (int) (weights.rows() * Math.pow(random.nextDouble(), 4));
                double code = 1.0 + random.nextDouble();
                for (int j = 0; j < dimension; j++) {
                    double turned = weights.get(feature, j) + 0.6 * weights.get(feature, (j + 1) % dimension);
                    rows.values()[i * dimension + j] += code * turned;
                }
            }
        }
        for (int i = 0; i < rows.values().length; i++) {
            rows.values()[i] = (float) rows.values()[i];
        }
        return rows;
    }

    /** Shifts rows by a mean that the trained bias knows nothing of: also the printed form is better than none. */
    private static Matrix shifted(Matrix rows) {
        Matrix shifted = rows.copy();
        double[] offset = floats(1, rows.columns(), 4, OFFSET).values();
        for (int i = 0; i < shifted.values().length; i++) {
            shifted.values()[i] = (float) (shifted.values()[i] + offset[i % offset.length]);
        }
        return shifted;
    }

    private static Matrix floats(int rows, int columns, long seed, double scale) {
        SplittableRandom random = new SplittableRandom(SEED + seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            // A sum of three uniform numbers of variance 1, near enough to a normal one.
            double sum = random.nextDouble() + random.nextDouble() + random.nextDouble();
            matrix.values()[i] = (float) (scale * 2.0 * (sum - 1.5));
        }
        return matrix;
    }

    private static byte[] hash(Decoder decoder) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        writer.add("W_dec", DType.F32, decoder.weights());
        writer.addVector("b_dec", DType.F32, decoder.bias());
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            ByteSink hashed = digest::update;
            writer.writeTo(hashed);
            return digest.digest();
        } catch (IOException | NoSuchAlgorithmException e) {
            throw new IllegalStateException("nothing here is a file, and every Java has SHA-256", e);
        }
    }

    private static double seconds(long begin) {
        return (System.nanoTime() - begin) / 1e9;
    }
}
