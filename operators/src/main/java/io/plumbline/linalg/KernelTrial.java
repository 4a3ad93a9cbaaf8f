package io.plumbline.linalg;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Two kernels compared: whether they agree, and which is faster once both are compiled. Turns of a millisecond alternate and the
 * best of each counts, in CPU time of the thread, so that other load on the machine matters little. It ends as soon as the
 * second is plainly ahead: after about a second of warming up, and later where other load keeps the compiler waiting.
 */
final class KernelTrial {

    /** Not a multiple of any tile. */
    private static final int DIMENSION = 101;

    private static final double FLOPS = (double) FloatPanel.ROWS * DIMENSION * (DIMENSION + 1);

    /** Turns after which plain loops are compiled. */
    private static final int LEAST_TURNS = 300;

    private static final double CLEAR_LEAD = 2.0;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final UpdateKernel first;
    private final UpdateKernel second;
    private final double[] state = new double[DIMENSION + DIMENSION * (DIMENSION + 1) / 2];
    private long firstNanos = Long.MAX_VALUE;
    private long secondNanos = Long.MAX_VALUE;

    private KernelTrial(UpdateKernel first, UpdateKernel second) {
        this.first = first;
        this.second = second;
    }

    static KernelTrial of(UpdateKernel first, UpdateKernel second, Duration longest) {
        KernelTrial trial = new KernelTrial(first, second);
        float[] rows = new float[FloatPanel.ROWS * DIMENSION];
        Arrays.fill(rows, 1f);
        FloatPanel firstPanel = first.floats(DIMENSION);
        FloatPanel secondPanel = second.floats(DIMENSION);
        // Of this thread's own time: on a busy machine the compiler gets as little as we do.
        long begin = now();
        for (int turn = 0; now() - begin < longest.toNanos(); turn++) {
            trial.firstNanos = Math.min(trial.firstNanos, trial.nanos(firstPanel, rows));
            trial.secondNanos = Math.min(trial.secondNanos, trial.nanos(secondPanel, rows));
            if (turn >= LEAST_TURNS && trial.secondNanos * CLEAR_LEAD < trial.firstNanos) {
                break;
            }
        }
        return trial;
    }

    private long nanos(FloatPanel panel, float[] rows) {
        for (int row = 0; row < FloatPanel.ROWS; row++) {
            panel.add(rows, row * DIMENSION);
        }
        long begin = now();
        panel.drainTo(state);
        return Math.max(1, now() - begin);
    }

    private static long now() {
        return THREADS.isCurrentThreadCpuTimeSupported() ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
    }

    boolean isFaster() {
        return secondNanos < firstNanos;
    }

    /** Where the second kernel's sums differ from the first's on integers, of which every sum is exact; or null. */
    static @Nullable String difference(UpdateKernel first, UpdateKernel second) {
        SplittableRandom random = new SplittableRandom(7);
        double[] rows = random.ints((long) FloatPanel.ROWS * DIMENSION, -50, 51)
                .asDoubleStream()
                .toArray();
        double[] expected = sums(first, rows);
        double[] found = sums(second, rows);
        int at = Arrays.mismatch(expected, found);
        return at < 0 ? null : "sum %d of a trial is %s instead of %s".formatted(at, found[at], expected[at]);
    }

    private static double[] sums(UpdateKernel kernel, double[] rows) {
        int length = DIMENSION + DIMENSION * (DIMENSION + 1) / 2;
        float[] floats = new float[rows.length];
        for (int i = 0; i < rows.length; i++) {
            floats[i] = (float) rows[i];
        }
        FloatPanel single = kernel.floats(DIMENSION);
        DoublePanel twice = kernel.doubles(DIMENSION, DoublePanel.ROWS);
        for (int row = 0; row < FloatPanel.ROWS; row++) {
            single.add(floats, row * DIMENSION);
            twice.add(rows, row * DIMENSION);
        }
        int products = DIMENSION * DIMENSION;
        int tile = TileKernel.ROWS * TileKernel.WIDTH;
        float[] floatTile = new float[FloatTileKernel.ROWS * FloatTileKernel.WIDTH];
        double[] sums = new double[2 * length + 2 * products + tile + floatTile.length];
        double[] part = new double[length];
        single.drainTo(part);
        System.arraycopy(part, 0, sums, 0, length);
        Arrays.fill(part, 0.0);
        twice.drainTo(part);
        System.arraycopy(part, 0, sums, length, length);
        Matrix x = new Matrix(FloatPanel.ROWS, DIMENSION, rows);
        double[] product = new double[products];
        kernel.rightFactor(Operand.of(x)).addProduct(Operand.transposeOf(x), product);
        System.arraycopy(product, 0, sums, 2 * length, products);
        FloatFactor factor = kernel.floatFactor(Operand.of(x));
        for (int from = 0; from < DIMENSION; from += FloatFactor.BLOCK_ROWS) {
            Operand columns = Operand.transposeOf(x).rowRange(from, Math.min(from + FloatFactor.BLOCK_ROWS, DIMENSION));
            int first = 2 * length + products + from * DIMENSION;
            factor.multiply(columns, new float[DIMENSION], (row, column, values, at, count) -> {
                for (int j = 0; j < count; j++) {
                    sums[first + row * DIMENSION + column + j] = values[at + j];
                }
            });
        }
        kernel.tiles().add(rows, 0, rows, 7, FloatPanel.ROWS, sums, 2 * length + 2 * products);
        kernel.floatTiles().add(floats, 0, floats, 7, FloatPanel.ROWS, floatTile, 0);
        for (int i = 0; i < floatTile.length; i++) {
            sums[sums.length - floatTile.length + i] = floatTile[i];
        }
        return sums;
    }

    /** For example {@code vector, 512 bits, tiles of 8 by 3 vectors: 62.1 GFLOP/s against 9.3 of plain in a trial}. */
    @Override
    public String toString() {
        return "%s: %.1f GFLOP/s against %.1f of %s in a trial"
                .formatted(second, FLOPS / secondNanos, FLOPS / firstNanos, first);
    }
}
