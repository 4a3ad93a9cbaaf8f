package io.plumbline.benchmarks;

import com.sun.jna.Memory;
import java.util.ArrayList;
import java.util.List;

/** Runs OpenBLAS of the system (package libopenblas0-pthread on Debian), through JNA. */
final class OpenBlasRivals implements KernelRivals {

    private static final byte[] LOWER = {'L'};
    private static final int[] NUMBER_OF_ONE = {1};

    private final String missing;

    OpenBlasRivals() {
        String reason = "";
        try {
            OpenBlas.bind();
        } catch (UnsatisfiedLinkError e) {
            // What the linker says is the whole search path, thousands of characters.
            reason = "OpenBLAS is not installed: left out. On Debian: apt-get install libopenblas0-pthread";
        }
        missing = reason;
    }

    @Override
    public List<String> notes() {
        if (!missing.isEmpty()) {
            return List.of(missing);
        }
        String core = OpenBlas.openblas_get_corename();
        List<String> notes = new ArrayList<>();
        notes.add("OpenBLAS: %s, kernels for %s".formatted(OpenBlas.openblas_get_config(), core));
        OpenBlasCore.warning(core).ifPresent(notes::add);
        return notes;
    }

    @Override
    public List<Variant> variants(KernelCase work) {
        if (!missing.isEmpty()) {
            return List.of();
        }
        return switch (work.kind()) {
            case UPDATE -> List.of(dsyrk(work), ssyrk(work));
            case PRODUCT -> List.of(sgemm(work), dgemm(work));
            case TOP_K -> List.of(sgemm(work));
            case CHOLESKY -> List.of(dpotrf(work));
            case EIGENSPACE -> List.of(dsyevr(work));
        };
    }

    private static Variant timed(
            String name, KernelCase work, Runnable run, java.util.function.Supplier<double[]> answer) {
        Runnable threaded = () -> {
            OpenBlas.useThreads(work.threads());
            run.run();
        };
        return new Variant(name, work.threads() > 1, threaded, () -> {
            OpenBlas.useThreads(work.threads());
            return answer.get();
        });
    }

    private static Variant dsyrk(KernelCase work) {
        int d = work.d();
        Memory rows = OpenBlas.of(work.rows());
        Memory moment = OpenBlas.zeros(8L * d * d);
        Runnable update = () -> OpenBlas.cblas_dsyrk(
                OpenBlas.ROW_MAJOR, OpenBlas.LOWER, OpenBlas.TRANSPOSED, d, work.n(), 1.0, rows, d, 1.0, moment, d);
        return timed(DSYRK, work, update, () -> {
            moment.clear();
            update.run();
            return work.entries((i, j) -> moment.getDouble(8L * ((long) i * d + j)));
        });
    }

    private static Variant ssyrk(KernelCase work) {
        int d = work.d();
        Memory rows = OpenBlas.floatsOf(work.rows());
        Memory moment = OpenBlas.zeros(4L * d * d);
        Runnable update = () -> OpenBlas.cblas_ssyrk(
                OpenBlas.ROW_MAJOR, OpenBlas.LOWER, OpenBlas.TRANSPOSED, d, work.n(), 1f, rows, d, 1f, moment, d);
        return timed(SSYRK, work, update, () -> {
            moment.clear();
            update.run();
            return work.entries((i, j) -> moment.getFloat(4L * ((long) i * d + j)));
        });
    }

    /** Returns the bare product: what is above the k-th largest is left to be found. */
    private static Variant sgemm(KernelCase work) {
        int d = work.d();
        int k = work.features();
        Memory rows = OpenBlas.floatsOf(work.rows());
        Memory weights = OpenBlas.floatsOf(work.weights());
        Memory codes = OpenBlas.zeros(4L * work.n() * k);
        Runnable product = () -> OpenBlas.cblas_sgemm(
                OpenBlas.ROW_MAJOR,
                OpenBlas.PLAIN,
                OpenBlas.TRANSPOSED,
                work.n(),
                k,
                d,
                1f,
                rows,
                d,
                weights,
                d,
                0f,
                codes,
                k);
        return timed(SGEMM, work, product, () -> {
            product.run();
            KernelCase.Entry entry = (i, j) -> codes.getFloat(4L * ((long) i * k + j));
            return work.kind() == KernelCase.Kind.TOP_K ? work.sumsOfLargest(entry) : work.entries(entry);
        });
    }

    private static Variant dgemm(KernelCase work) {
        int d = work.d();
        int k = work.features();
        Memory rows = OpenBlas.of(work.rows());
        Memory weights = OpenBlas.of(work.weights());
        Memory codes = OpenBlas.zeros(8L * work.n() * k);
        Runnable product = () -> OpenBlas.cblas_dgemm(
                OpenBlas.ROW_MAJOR,
                OpenBlas.PLAIN,
                OpenBlas.TRANSPOSED,
                work.n(),
                k,
                d,
                1.0,
                rows,
                d,
                weights,
                d,
                0.0,
                codes,
                k);
        return timed("OpenBLAS dgemm", work, product, () -> {
            product.run();
            return work.entries((i, j) -> codes.getDouble(8L * ((long) i * k + j)));
        });
    }

    private static Variant dpotrf(KernelCase work) {
        int d = work.d();
        double[] matrix = work.matrix();
        Memory given = OpenBlas.of(matrix);
        Memory factor = OpenBlas.zeros(given.size());
        int[] n = {d};
        int[] info = {0};
        Runnable factorise = () -> {
            OpenBlas.copy(given, factor);
            OpenBlas.dpotrf_(LOWER, n, factor, n, info);
        };
        return timed("OpenBLAS dpotrf", work, factorise, () -> {
            factorise.run();
            Memory solution = OpenBlas.of(work.rowSums(matrix));
            OpenBlas.dpotrs_(LOWER, n, NUMBER_OF_ONE, factor, n, solution, n, info);
            return solution.getDoubleArray(0, d);
        });
    }

    /** Returns the leading eigenvectors only. */
    private static Variant dsyevr(KernelCase work) {
        int d = work.d();
        int r = work.rank();
        Memory given = OpenBlas.of(work.matrix());
        Memory destroyed = OpenBlas.zeros(given.size());
        Memory values = OpenBlas.zeros(8L * d);
        Memory vectors = OpenBlas.zeros(8L * d * r);
        Memory support = OpenBlas.zeros(8L * d);
        int[] n = {d};
        // Generous: LAPACK's block size is 64 at most.
        int[] workLength = {80 * d};
        int[] integersLength = {10 * d};
        Memory space = OpenBlas.zeros(8L * workLength[0]);
        Memory integers = OpenBlas.zeros(4L * integersLength[0]);
        int[] found = {0};
        int[] info = {0};
        Runnable decompose = () -> {
            OpenBlas.copy(given, destroyed);
            OpenBlas.dsyevr_(
                    new byte[] {'V'},
                    new byte[] {'I'},
                    LOWER,
                    n,
                    destroyed,
                    n,
                    new double[1],
                    new double[1],
                    new int[] {d - r + 1},
                    n,
                    new double[1],
                    found,
                    values,
                    vectors,
                    n,
                    support,
                    space,
                    workLength,
                    integers,
                    integersLength,
                    info);
        };
        return timed(DSYEVR, work, decompose, () -> {
            decompose.run();
            if (info[0] != 0) {
                throw new IllegalStateException("dsyevr ended with %d".formatted(info[0]));
            }
            double[] ascending = values.getDoubleArray(0, r);
            double[] descending = new double[r];
            for (int i = 0; i < r; i++) {
                descending[i] = ascending[r - 1 - i];
            }
            return descending;
        });
    }
}
