package io.plumbline.benchmarks.operators;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.eigenspace.TopEigenspace;
import io.plumbline.linalg.kernel.BrainPanel;
import io.plumbline.linalg.kernel.DoublePanel;
import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.linalg.kernel.PackedFloatMatrix;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.parallel.Cores;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the kernels beside other libraries, on the same numbers. JMH runs the variants of one piece of work one
 * after the other, since their parameter is the last by name; what runs in production is the first of them.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
        value = 1,
        jvmArgsPrepend = {"--add-modules", "jdk.incubator.vector", "-Dplumbline.kernel=vector", "-Xmx4g"})
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class KernelBenchmark {

    static final String OURS = "plumbline";
    static final String LIBRARY = "plumbline by a library";
    static final String DOUBLES = "plumbline, doubles";
    static final String TOP_K = "plumbline, TopK of 32";
    static final String TWO = "plumbline, two threads";
    static final String WARM = "plumbline, from the baseline's";
    static final String DSYRK = "OpenBLAS dsyrk";
    static final String SSYRK = "OpenBLAS ssyrk";
    static final String SGEMM = "OpenBLAS sgemm";
    static final String DPOTRF = "OpenBLAS dpotrf";
    static final String DSYEVR = "OpenBLAS dsyevr";
    static final String OJALGO = "ojAlgo";
    static final String COMMONS_MATH = "Commons Math";

    /** Adds {@code X^T X} of rows to a moment: {@code n d (d + 1)} flops. More variants: a library, ojAlgo. */
    @State(Scope.Thread)
    public static class Update {

        @Param({"768", "2048"})
        public int d;

        @Param({"32", "128", "256", "2048"})
        public int rows;

        @Param({OURS, SSYRK, DOUBLES, DSYRK, TWO})
        public String variant;

        private Runnable work;

        @Setup
        public void setUp() {
            allow(variant.equals(TWO) ? 2 : 1, variant);
            double[] x = Inputs.integers(rows * d, 1);
            Variant made =
                    switch (variant) {
                        case OURS, TWO -> floats(x, d);
                        case LIBRARY -> brains(x, d);
                        case DOUBLES -> doubles(x, d);
                        case SSYRK -> Rivals.ssyrk(x, d);
                        case DSYRK -> Rivals.dsyrk(x, d);
                        case OJALGO -> Rivals.ojAlgo(x, d);
                        case COMMONS_MATH -> Rivals.commonsMath(x, d);
                        default -> throw new IllegalArgumentException(variant);
                    };
            // Sums of integers are exact.
            work = made.checked(variant, Inputs.probes(d, (i, j) -> Inputs.product(x, d, i, j)), 0.0);
        }

        private static Variant floats(double[] x, int d) {
            float[] rows = Inputs.floats(x);
            double[] state = new double[d + d * (d + 1) / 2];
            FloatPanel panel = UpdateKernels.kernel().floats(d);
            Runnable update = () -> {
                for (int at = 0; at < rows.length; at += d) {
                    panel.add(rows, at);
                    if (panel.isFull()) {
                        panel.drainTo(state);
                    }
                }
                panel.drainTo(state);
            };
            return summed(update, state, d);
        }

        /** Adds rows as bytes of bfloat16, which is how they come. */
        private static Variant brains(double[] x, int d) {
            byte[] rows = new byte[Short.BYTES * x.length];
            for (int i = 0; i < x.length; i++) {
                int bits = Float.floatToIntBits((float) x[i]) >>> Short.SIZE;
                rows[Short.BYTES * i] = (byte) bits;
                rows[Short.BYTES * i + 1] = (byte) (bits >>> Byte.SIZE);
            }
            // Each variant has a process of its own, and the kernel is chosen at the first question.
            System.setProperty(UpdateKernels.PROPERTY, "native");
            double[] state = new double[d + d * (d + 1) / 2];
            BrainPanel panel = UpdateKernels.kernel().brains(d);
            int width = Short.BYTES * d;
            Runnable update = () -> {
                for (int at = 0; at < rows.length; at += width) {
                    System.arraycopy(rows, at, panel.array(panel.rows()), panel.index(panel.rows()), width);
                    panel.rowWritten();
                    if (panel.isFull()) {
                        panel.drainTo(state);
                    }
                }
                panel.drainTo(state);
            };
            return summed(update, state, d);
        }

        private static Variant doubles(double[] rows, int d) {
            double[] state = new double[d + d * (d + 1) / 2];
            DoublePanel panel = UpdateKernels.kernel().doubles(d, Math.min(rows.length / d, DoublePanel.ROWS));
            Runnable update = () -> {
                for (int at = 0; at < rows.length; at += d) {
                    panel.add(rows, at);
                    if (panel.isFull()) {
                        panel.drainTo(state);
                    }
                }
                panel.drainTo(state);
            };
            return summed(update, state, d);
        }

        private static Variant summed(Runnable update, double[] state, int d) {
            return new Variant(update, () -> {
                Arrays.fill(state, 0.0);
                update.run();
                return Inputs.probes(d, (i, j) -> state[d + i * (i + 1) / 2 + j]);
            });
        }
    }

    /** Multiplies rows by an encoder's weights, {@code 2 n d features} flops, and keeps all entries or the largest. */
    @State(Scope.Thread)
    public static class Encoder {

        static final int ROWS = 256;
        private static final int CODES = 32;
        private static final int COMPARED_ROWS = 8;

        @Param({"768", "2048"})
        public int d;

        @Param({"1", "2"})
        public int threads;

        @Param({OURS, TOP_K, SGEMM})
        public String variant;

        private Runnable work;

        @Setup
        public void setUp() {
            allow(threads, variant);
            int features = Inputs.features(d);
            Matrix rows = new Matrix(ROWS, d, Inputs.integers(ROWS * d, 1));
            Matrix weights = new Matrix(features, d, Inputs.integers(features * d, 2));
            Variant made =
                    switch (variant) {
                        case OURS -> product(rows, weights);
                        case TOP_K -> topK(rows, weights);
                        case SGEMM -> Rivals.sgemm(rows, weights);
                        default -> throw new IllegalArgumentException(variant);
                    };
            double[] expected = sumsOfLargest(
                    (row, feature) -> {
                        double sum = 0.0;
                        for (int j = 0; j < d; j++) {
                            sum += rows.values()[row * d + j] * weights.values()[feature * d + j];
                        }
                        return sum;
                    },
                    features);
            work = made.checked(variant, expected, 0.0);
        }

        /** Returns the product with every entry stored, as the libraries do; the encoder does not. */
        private static Variant product(Matrix rows, Matrix weights) {
            int features = weights.rows();
            PackedFloatMatrix factor = UpdateKernels.kernel().packFloats(weights.transposedView());
            float[] bias = new float[features];
            float[] codes = new float[rows.rows() * features];
            int together = factor.blockRows(rows.rows());
            int blocks = (rows.rows() - 1) / together + 1;
            Runnable product = () -> Cores.each(blocks, block -> {
                int from = block * together;
                factor.multiply(
                        rows.rowsView(from, Math.min(from + together, rows.rows())),
                        bias,
                        (row, column, values, at, count) ->
                                System.arraycopy(values, at, codes, (from + row) * features + column, count));
            });
            return new Variant(product, () -> {
                product.run();
                return sumsOfLargest((i, j) -> codes[i * features + j], features);
            });
        }

        private static Variant topK(Matrix rows, Matrix weights) {
            TopKEncoder encoder = TopKEncoder.of(weights, new double[weights.rows()], CODES);
            return new Variant(() -> encoder.encode(rows), () -> {
                SparseCodes codes = encoder.encode(rows);
                double[] sums = new double[COMPARED_ROWS];
                Arrays.setAll(
                        sums, row -> Arrays.stream(codes.value(), codes.rowStart()[row], codes.rowStart()[row + 1])
                                .sum());
                return sums;
            });
        }

        /** Returns the sum of the {@value #CODES} largest entries above 0 of each of the first rows of a product. */
        static double[] sumsOfLargest(Inputs.Entry product, int features) {
            double[] sums = new double[COMPARED_ROWS];
            for (int row = 0; row < sums.length; row++) {
                double[] codes = new double[features];
                for (int j = 0; j < features; j++) {
                    codes[j] = product.at(row, j);
                }
                Arrays.sort(codes);
                for (int j = features - Math.min(CODES, features); j < features; j++) {
                    sums[row] += Math.max(0.0, codes[j]);
                }
            }
            return sums;
        }
    }

    /** Factors a positive definite matrix: {@code d^3 / 3} flops. */
    @State(Scope.Thread)
    public static class Factor {

        @Param({"1024", "2048"})
        public int d;

        @Param({OURS, DPOTRF})
        public String variant;

        private Runnable work;

        @Setup
        public void setUp() {
            allow(1, variant);
            Matrix matrix = Inputs.positiveDefinite(d);
            Variant made = variant.equals(OURS)
                    ? new Variant(() -> Cholesky.of(matrix), () -> Cholesky.of(matrix)
                            .solve(new Matrix(d, 1, Inputs.rowSums(matrix)))
                            .values())
                    : Rivals.dpotrf(matrix);
            double[] ones = new double[d];
            Arrays.fill(ones, 1.0);
            // With a condition number below 4, 4 * 8 d 2^-53 times the norm of the solution.
            work = made.checked(variant, ones, 32.0 * d * 0x1p-53 * Math.sqrt(d));
        }
    }

    /**
     * Computes the leading eigenspace of a window's moment with its proof, from nothing and from the leading
     * eigenvectors of other rows of the same distribution, which is what a window of the monitor begins with.
     */
    @State(Scope.Thread)
    public static class Eigenspace {

        @Param({"768", "2048"})
        public int d;

        @Param({OURS, WARM, DSYEVR})
        public String variant;

        private Runnable work;

        @Setup
        public void setUp() {
            allow(1, variant);
            int rank = Inputs.rank(d);
            Matrix moment = Inputs.moment(d, 1);
            Variant made =
                    switch (variant) {
                        case OURS -> ours(moment, rank, null);
                        case WARM ->
                            ours(
                                    moment,
                                    rank,
                                    TopEigenspace.of(Inputs.moment(d, 2), rank, null, 1e-3)
                                            .orElseThrow()
                                            .vectors());
                        case DSYEVR -> Rivals.dsyevr(moment, rank);
                        default -> throw new IllegalArgumentException(variant);
                    };
            double[] expected =
                    TopEigenspace.of(moment, rank, null, 1e-6).orElseThrow().values();
            work = made.checked(variant, Arrays.copyOf(expected, rank), 1e-6 * expected[0]);
        }

        private static Variant ours(Matrix moment, int rank, Matrix start) {
            return new Variant(() -> ActiveSubspace.leadingOnly(moment, rank, start), () -> {
                ActiveSubspace found = ActiveSubspace.leadingOnly(moment, rank, start);
                double[] values = new double[rank];
                Arrays.setAll(values, i -> found.eigenvalue(i + 1));
                return values;
            });
        }
    }

    @Benchmark
    public void update(Update update) {
        update.work.run();
    }

    @Benchmark
    public void encoder(Encoder encoder) {
        encoder.work.run();
    }

    @Benchmark
    public void cholesky(Factor factor) {
        factor.work.run();
    }

    @Benchmark
    public void eigenspace(Eigenspace eigenspace) {
        eigenspace.work.run();
    }

    private static void allow(int threads, String variant) {
        System.setProperty(Cores.PROPERTY, Integer.toString(threads));
        if (variant.startsWith("OpenBLAS")) {
            Rivals.OpenBlas.useThreads(threads);
        }
    }

    /** Returns the flops of a benchmark, where what a library computes twice counts once; NaN where they vary. */
    static double flops(String benchmark, int d, int rows) {
        return switch (benchmark) {
            case "update" -> (double) rows * d * (d + 1);
            case "encoder" -> 2.0 * Encoder.ROWS * d * Inputs.features(d);
            case "cholesky" -> (double) d * d * d / 3.0;
            default -> Double.NaN;
        };
    }
}
