package io.plumbline.benchmarks.operators;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.apache.commons.math3.linear.BlockRealMatrix;
import org.apache.commons.math3.linear.RealMatrix;
import org.ojalgo.OjAlgoUtils;
import org.ojalgo.matrix.store.MatrixStore;
import org.ojalgo.matrix.store.R064Store;

/**
 * Does the kernels' work by other libraries: the system's OpenBLAS through JNA, on memory outside of the heap, so that
 * nothing is copied; ojAlgo and Commons Math, which have no update and compute {@code X^T X} from nothing.
 */
final class Rivals {

    private static final int ROW_MAJOR = 101;
    private static final int PLAIN = 111;
    private static final int TRANSPOSED = 112;
    private static final int LOWER = 122;
    private static final Set<String> VECTORS_OF_256 = Set.of("haswell", "zen");
    private static final Set<String> VECTORS_OF_512 = Set.of("skylakex", "cooperlake", "sapphirerapids");

    private Rivals() {}

    static Variant dsyrk(double[] rows, int d) {
        int n = rows.length / d;
        Memory x = doubles(rows);
        Memory moment = zeros(8L * d * d);
        Runnable update = () -> OpenBlas.cblas_dsyrk(ROW_MAJOR, LOWER, TRANSPOSED, d, n, 1.0, x, d, 1.0, moment, d);
        return new Variant(update, () -> {
            moment.clear();
            update.run();
            return Inputs.probes(d, (i, j) -> moment.getDouble(8L * ((long) i * d + j)));
        });
    }

    static Variant ssyrk(double[] rows, int d) {
        int n = rows.length / d;
        Memory x = floats(rows);
        Memory moment = zeros(4L * d * d);
        Runnable update = () -> OpenBlas.cblas_ssyrk(ROW_MAJOR, LOWER, TRANSPOSED, d, n, 1f, x, d, 1f, moment, d);
        return new Variant(update, () -> {
            moment.clear();
            update.run();
            return Inputs.probes(d, (i, j) -> moment.getFloat(4L * ((long) i * d + j)));
        });
    }

    static Variant ojAlgo(double[] rows, int d) {
        OjAlgoUtils.limitThreadsTo(1);
        R064Store x = R064Store.FACTORY.make(rows.length / d, d);
        for (int i = 0; i < rows.length; i++) {
            x.set(i / d, i % d, rows[i]);
        }
        MatrixStore<Double> transposed = x.transpose().copy();
        R064Store product = R064Store.FACTORY.make(d, d);
        Runnable multiply = () -> product.fillByMultiplying(transposed, x);
        return new Variant(multiply, () -> {
            multiply.run();
            return Inputs.probes(d, product::doubleValue);
        });
    }

    static Variant commonsMath(double[] rows, int d) {
        RealMatrix x = new BlockRealMatrix(rows.length / d, d);
        for (int i = 0; i < rows.length; i++) {
            x.setEntry(i / d, i % d, rows[i]);
        }
        return new Variant(
                () -> x.transpose().multiply(x),
                () -> Inputs.probes(d, x.transpose().multiply(x)::getEntry));
    }

    /** Returns the bare product: what is above the k-th largest is left to be found. */
    static Variant sgemm(Matrix rows, Matrix weights) {
        int n = rows.rows();
        int k = weights.rows();
        int d = rows.columns();
        Memory x = floats(rows.values());
        Memory w = floats(weights.values());
        Memory codes = zeros(4L * n * k);
        Runnable product =
                () -> OpenBlas.call("cblas_sgemm", ROW_MAJOR, PLAIN, TRANSPOSED, n, k, d, 1f, x, d, w, d, 0f, codes, k);
        return new Variant(product, () -> {
            product.run();
            return KernelBenchmark.Encoder.sumsOfLargest((i, j) -> codes.getFloat(4L * ((long) i * k + j)), k);
        });
    }

    static Variant dpotrf(Matrix matrix) {
        int[] n = {matrix.rows()};
        int[] info = {0};
        byte[] lower = {'L'};
        Memory given = doubles(matrix.values());
        Memory factor = zeros(given.size());
        Runnable factorise = () -> {
            copy(given, factor);
            OpenBlas.call("dpotrf_", lower, n, factor, n, info);
        };
        return new Variant(factorise, () -> {
            factorise.run();
            Memory solution = doubles(Inputs.rowSums(matrix));
            OpenBlas.call("dpotrs_", lower, n, new int[] {1}, factor, n, solution, n, info);
            return solution.getDoubleArray(0, n[0]);
        });
    }

    /** Returns the leading eigenvectors only. Names are LAPACK's. */
    static Variant dsyevr(Matrix matrix, int rank) {
        int d = matrix.rows();
        Memory given = doubles(matrix.values());
        Memory a = zeros(given.size());
        Memory w = zeros(8L * d);
        Memory z = zeros(8L * d * rank);
        Memory isuppz = zeros(8L * d);
        // Generous: LAPACK's block size is 64 at most.
        int[] lwork = {80 * d};
        int[] liwork = {10 * d};
        Memory work = zeros(8L * lwork[0]);
        Memory iwork = zeros(4L * liwork[0]);
        int[] n = {d};
        int[] il = {d - rank + 1};
        double[] zero = {0.0};
        int[] m = {0};
        byte[] v = {'V'};
        byte[] i = {'I'};
        byte[] l = {'L'};
        Object[] all = {v, i, l, n, a, n, zero, zero, il, n, zero, m, w, z, n, isuppz, work, lwork, iwork, liwork, m};
        Runnable decompose = () -> {
            copy(given, a);
            OpenBlas.call("dsyevr_", all);
        };
        return new Variant(decompose, () -> {
            decompose.run();
            double[] ascending = w.getDoubleArray(0, rank);
            double[] descending = new double[rank];
            Arrays.setAll(descending, at -> ascending[rank - 1 - at]);
            return descending;
        });
    }

    private static Memory doubles(double[] values) {
        Memory memory = new Memory(8L * values.length);
        memory.write(0, values, 0, values.length);
        return memory;
    }

    private static Memory floats(double[] values) {
        Memory memory = new Memory(4L * values.length);
        memory.write(0, Inputs.floats(values), 0, values.length);
        return memory;
    }

    private static Memory zeros(long bytes) {
        Memory memory = new Memory(bytes);
        memory.clear();
        return memory;
    }

    private static void copy(Memory from, Memory to) {
        to.getByteBuffer(0, to.size()).put(from.getByteBuffer(0, from.size()));
    }

    /** Returns which OpenBLAS this is; where it is older than the processor, with what to do. */
    static String describeOpenBlas() {
        String core = OpenBlas.text("openblas_get_corename");
        Set<String> flags = Set.of(Machine.processor("flags").split("\\s+", -1));
        String warning = System.getenv("OPENBLAS_CORETYPE") != null
                ? ""
                : betterKernels(core, flags)
                        .map(". WARNING: these are older than the processor, and ratios beside them are too good. Run"
                                .concat(" this again with OPENBLAS_CORETYPE=%s")::formatted)
                        .orElse("");
        return "OpenBLAS: %s, kernels for %s%s".formatted(OpenBlas.text("openblas_get_config"), core, warning);
    }

    /**
     * Returns the core type whose kernels use all of a processor's vectors, where others run: an OpenBLAS that does not
     * know a processor takes it for one of twenty years ago, and what is measured beside it looks four times too good.
     *
     * @param flags of the processor, by Linux' names; without them nothing is known
     */
    static Optional<String> betterKernels(String core, Set<String> flags) {
        String name = core.toLowerCase(Locale.ROOT);
        if (VECTORS_OF_512.contains(name)) {
            return Optional.empty();
        }
        if (flags.containsAll(Set.of("avx512f", "avx512bw", "avx512dq", "avx512vl"))) {
            return Optional.of("SkylakeX");
        }
        return flags.containsAll(Set.of("avx2", "fma")) && !VECTORS_OF_256.contains(name)
                ? Optional.of("Haswell")
                : Optional.empty();
    }

    /** Binds the functions of OpenBLAS. */
    static final class OpenBlas {

        private static final NativeLibrary LIBRARY = load();

        static {
            Native.register(OpenBlas.class, LIBRARY);
        }

        private OpenBlas() {}

        private static NativeLibrary load() {
            try {
                return NativeLibrary.getInstance("libopenblas.so.0");
            } catch (UnsatisfiedLinkError e) {
                // What the linker says is the whole search path, thousands of characters.
                throw new IllegalStateException(
                        "OpenBLAS is not installed. On Debian: apt-get install libopenblas0-pthread; without it:"
                                + " '(update|encoder|cholesky|eigenspace)$' -p variant=plumbline");
            }
        }

        static void useThreads(int count) {
            call("openblas_set_num_threads", count);
        }

        /** Calls a function that takes so long that it does not matter how it is called. */
        static void call(String function, Object... arguments) {
            LIBRARY.getFunction(function).invokeVoid(arguments);
        }

        static String text(String function) {
            return LIBRARY.getFunction(function).invokeString(new Object[0], false);
        }

        static native void cblas_dsyrk(
                int order, int part, int turn, int n, int k, double p, Pointer a, int da, double q, Pointer c, int dc);

        static native void cblas_ssyrk(
                int order, int part, int turn, int n, int k, float p, Pointer a, int da, float q, Pointer c, int dc);
    }
}
