package io.plumbline.benchmarks;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.DoublePanel;
import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.linalg.kernel.MatrixView;
import io.plumbline.linalg.kernel.PackedFloatMatrix;
import io.plumbline.linalg.kernel.PackedMatrix;
import io.plumbline.linalg.kernel.UpdateKernel;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.parallel.Cores;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Runs this program's own ways, the one that runs in production first. */
final class OwnKernels {

    static final String FLOATS = "plumbline, float rows";
    static final String DOUBLES = "plumbline, double rows";
    static final String TWO = "plumbline, float rows, a thread each";
    static final String SHARED = "plumbline, float rows, one moment";
    static final String ONE = "plumbline, float rows, one thread";
    private static final String FLOAT_PRODUCT = "plumbline, float";
    private static final String OURS = "plumbline";

    private OwnKernels() {}

    static List<Variant> variants(KernelCase work) {
        return switch (work.kind()) {
            case UPDATE -> work.threads() == 1 ? updates(work) : updateByTwo(work);
            case PRODUCT -> List.of(floatProduct(work), doubleProduct(work));
            case TOP_K -> List.of(topK(work));
            case CHOLESKY -> List.of(cholesky(work));
            case EIGENSPACE -> List.of(eigenspace(work));
        };
    }

    private static List<Variant> updates(KernelCase work) {
        UpdateKernel kernel = UpdateKernels.kernel();
        List<Variant> variants = new ArrayList<>();
        variants.add(floats(FLOATS, kernel, work));
        variants.add(doubles(kernel, work));
        if (kernel != UpdateKernels.plain() && !work.isLarge()) {
            variants.add(floats("plumbline, without the vector module", UpdateKernels.plain(), work));
        }
        return variants;
    }

    private static Variant floats(String name, UpdateKernel kernel, KernelCase work) {
        FloatUpdate update = new FloatUpdate(kernel, work, 0, work.n());
        return Variant.single(name, update, () -> {
            update.clear();
            update.run();
            return work.entries(update::entry);
        });
    }

    /**
     * Returns one moment to which two cores add, and half of the rows each with a moment each, as threads of one
     * process sum them.
     */
    private static List<Variant> updateByTwo(KernelCase work) {
        FloatUpdate whole = new FloatUpdate(UpdateKernels.kernel(), work, 0, work.n());
        FloatUpdate first = new FloatUpdate(UpdateKernels.kernel(), work, 0, work.n() / 2);
        FloatUpdate second = new FloatUpdate(UpdateKernels.kernel(), work, work.n() / 2, work.n());
        Runnable both = () -> onOneCoreEach(work, () -> {
            CompletableFuture<Void> other = CompletableFuture.runAsync(first);
            second.run();
            other.join();
        });
        Variant two = new Variant(TWO, true, both, () -> {
            first.clear();
            second.clear();
            both.run();
            return work.entries((i, j) -> first.entry(i, j) + second.entry(i, j));
        });
        return List.of(
                byTheWall(SHARED, work, whole, whole),
                two,
                byTheWall(ONE, work, whole, () -> onOneCoreEach(work, whole)));
    }

    private static Variant byTheWall(String name, KernelCase work, FloatUpdate update, Runnable run) {
        return new Variant(name, true, run, () -> {
            update.clear();
            run.run();
            return work.entries(update::entry);
        });
    }

    private static void onOneCoreEach(KernelCase work, Runnable run) {
        System.setProperty(Cores.PROPERTY, "1");
        try {
            run.run();
        } finally {
            System.setProperty(Cores.PROPERTY, Integer.toString(work.threads()));
        }
    }

    private static Variant doubles(UpdateKernel kernel, KernelCase work) {
        int d = work.d();
        double[] rows = work.rows();
        double[] state = new double[d + d * (d + 1) / 2];
        DoublePanel panel = kernel.doubles(d, Math.min(work.n(), DoublePanel.ROWS));
        Runnable update = () -> {
            for (int row = 0; row < work.n(); row++) {
                panel.add(rows, row * d);
                if (panel.isFull()) {
                    panel.drainTo(state);
                }
            }
            panel.drainTo(state);
        };
        return Variant.single(DOUBLES, update, () -> {
            Arrays.fill(state, 0.0);
            update.run();
            return work.entries((i, j) -> state[d + i * (i + 1) / 2 + j]);
        });
    }

    /** Returns the product with every entry stored, as the libraries do; the encoder does not. */
    private static Variant floatProduct(KernelCase work) {
        PackedFloatMatrix factor =
                UpdateKernels.kernel().packFloats(weights(work).transposedView());
        Matrix rows = new Matrix(work.n(), work.d(), work.rows());
        float[] bias = new float[work.features()];
        float[] codes = new float[work.n() * work.features()];
        int together = factor.blockRows(work.n());
        int blocks = (work.n() - 1) / together + 1;
        Runnable product = () -> Cores.each(blocks, block -> {
            int from = block * together;
            int to = Math.min(from + together, work.n());
            factor.multiply(
                    rows.rowsView(from, to),
                    bias,
                    (row, column, values, at, count) ->
                            System.arraycopy(values, at, codes, (from + row) * work.features() + column, count));
        });
        return timed(FLOAT_PRODUCT, work, product, () -> {
            product.run();
            return work.entries((i, j) -> codes[i * work.features() + j]);
        });
    }

    private static Variant doubleProduct(KernelCase work) {
        PackedMatrix factor = UpdateKernels.kernel().pack(weights(work).transposedView());
        MatrixView rows = new Matrix(work.n(), work.d(), work.rows()).view();
        double[] codes = new double[work.n() * work.features()];
        return timed("plumbline, double", work, () -> factor.addProduct(rows, codes), () -> {
            Arrays.fill(codes, 0.0);
            factor.addProduct(rows, codes);
            return work.entries((i, j) -> codes[i * work.features() + j]);
        });
    }

    private static Variant topK(KernelCase work) {
        TopKEncoder encoder = TopKEncoder.of(weights(work), new double[work.features()], KernelCase.TOP_K);
        Matrix rows = new Matrix(work.n(), work.d(), work.rows());
        return timed(OURS, work, () -> encoder.encode(rows), () -> {
            SparseCodes codes = encoder.encode(rows);
            double[] sums = new double[work.comparedRows()];
            for (int row = 0; row < sums.length; row++) {
                for (int at = codes.rowStart()[row]; at < codes.rowStart()[row + 1]; at++) {
                    sums[row] += codes.value()[at];
                }
            }
            return sums;
        });
    }

    private static Matrix weights(KernelCase work) {
        return new Matrix(work.features(), work.d(), work.weights());
    }

    private static Variant timed(String name, KernelCase work, Runnable run, Supplier<double[]> answer) {
        return new Variant(name, work.threads() > 1, run, answer);
    }

    private static Variant cholesky(KernelCase work) {
        Matrix matrix = new Matrix(work.d(), work.d(), work.matrix());
        return Variant.single(OURS, () -> Cholesky.of(matrix), () -> Cholesky.of(matrix)
                .solve(new Matrix(work.d(), 1, work.rowSums(matrix.values())))
                .values());
    }

    /** Returns the eigenspace from nowhere: a site's windows start from its baseline's, which is faster. */
    private static Variant eigenspace(KernelCase work) {
        Matrix matrix = new Matrix(work.d(), work.d(), work.matrix());
        return Variant.single(OURS, () -> ActiveSubspace.leadingOnly(matrix, work.rank(), null), () -> {
            ActiveSubspace found = ActiveSubspace.leadingOnly(matrix, work.rank(), null);
            double[] values = new double[work.rank()];
            Arrays.setAll(values, i -> found.eigenvalue(i + 1));
            return values;
        });
    }

    /** The rows and the moment of one thread. */
    private static final class FloatUpdate implements Runnable {

        private final int d;
        private final int count;
        private final float[] rows;
        private final double[] state;
        private final FloatPanel panel;

        FloatUpdate(UpdateKernel kernel, KernelCase work, int from, int to) {
            d = work.d();
            count = to - from;
            double[] all = work.rows();
            rows = new float[count * d];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = (float) all[from * d + i];
            }
            state = new double[d + d * (d + 1) / 2];
            panel = kernel.floats(d);
        }

        void clear() {
            Arrays.fill(state, 0.0);
        }

        @Override
        public void run() {
            for (int row = 0; row < count; row++) {
                panel.add(rows, row * d);
                if (panel.isFull()) {
                    panel.drainTo(state);
                }
            }
            panel.drainTo(state);
        }

        double entry(int i, int j) {
            return state[d + i * (i + 1) / 2 + j];
        }
    }
}
