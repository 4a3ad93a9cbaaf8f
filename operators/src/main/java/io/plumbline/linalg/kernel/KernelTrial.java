package io.plumbline.linalg.kernel;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Times a kernel, and plain loops beside it where it is not fast beyond doubt: which is faster once both are compiled.
 * Turns are short and the best of each counts, in CPU time of the thread, so that other load on the machine matters
 * little. It ends as soon as the kernel is plainly ahead of plain loops: after half a second of warming up, and later
 * where other load keeps the compiler waiting.
 */
final class KernelTrial {

    /** The dimension of the trial, which is not a multiple of any tile. */
    private static final int DIMENSION = 101;

    /**
     * Rows of the comparison: an odd number, for the last step of loops of two. All of it is interpreted, some hundred
     * times slower than it will be.
     */
    private static final int COMPARED_ROWS = 17;

    private static final double FLOPS = (double) FloatPanel.ROWS * DIMENSION * (DIMENSION + 1);

    /**
     * GFLOP/s above which a kernel is not held against plain loops, which compiles those too and takes a tenth of a
     * second: they had 4 to 9 on the processors measured with Java 17, 15 with Java 25.
     */
    private static final double BEYOND_PLAIN = 20.0;

    /** Turns of a kernel after which it is compiled. */
    private static final int LEAST_TURNS = 600;

    private static final double CLEAR_LEAD = 2.0;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final double[] state = new double[DIMENSION + DIMENSION * (DIMENSION + 1) / 2];
    private final Contestant plain;
    private final Contestant other;

    private KernelTrial(UpdateKernel plain, UpdateKernel other) {
        this.plain = new Contestant(plain);
        this.other = new Contestant(other);
    }

    static KernelTrial of(UpdateKernel plain, UpdateKernel other, Duration longest) {
        KernelTrial trial = new KernelTrial(plain, other);
        float[] rows = new float[FloatPanel.ROWS * DIMENSION];
        Arrays.fill(rows, 1f);
        // Of this thread's own time: on a busy machine the compiler gets as little as we do.
        long begin = now();
        long spent = 0;
        int plainTurns = 0;
        for (int turn = 0; spent < longest.toNanos(); turn++) {
            trial.other.run(rows, trial.state);
            if (trial.other.speed() > BEYOND_PLAIN) {
                break;
            }
            // A kernel so slow that its turns would take all the time is held against plain loops too.
            if (turn >= LEAST_TURNS || spent > longest.toNanos() / 4) {
                trial.plain.run(rows, trial.state);
                plainTurns++;
            }
            if (plainTurns >= LEAST_TURNS && trial.other.nanos * CLEAR_LEAD < trial.plain.nanos) {
                break;
            }
            spent = now() - begin;
        }
        return trial;
    }

    /** The best turn of one kernel. */
    private static final class Contestant {

        private final UpdateKernel kernel;
        private final FloatPanel panel;
        private long nanos = Long.MAX_VALUE;

        Contestant(UpdateKernel kernel) {
            this.kernel = kernel;
            this.panel = kernel.floats(DIMENSION);
        }

        void run(float[] rows, double[] state) {
            for (int row = 0; row < FloatPanel.ROWS; row++) {
                panel.add(rows, row * DIMENSION);
            }
            long begin = now();
            panel.drainTo(state);
            nanos = Math.min(nanos, Math.max(1, now() - begin));
        }

        double speed() {
            return FLOPS / nanos;
        }
    }

    private static long now() {
        return THREADS.isCurrentThreadCpuTimeSupported() ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
    }

    /** Returns whether the other kernel is faster than plain loops. */
    boolean isFaster() {
        return other.nanos < plain.nanos;
    }

    /**
     * Returns where the second kernel's sums differ from the first's on integers, of which every sum is exact; or null.
     */
    static @Nullable String difference(UpdateKernel first, UpdateKernel second) {
        SplittableRandom random = new SplittableRandom(7);
        double[] rows = random.ints((long) COMPARED_ROWS * DIMENSION, -50, 51)
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
        for (int row = 0; row < COMPARED_ROWS; row++) {
            single.add(floats, row * DIMENSION);
            twice.add(rows, row * DIMENSION);
        }
        int products = DIMENSION * DIMENSION;
        int tile = TileKernel.WIDTH * TileKernel.WIDTH;
        float[] floatTile = new float[FloatTileKernel.WIDTH * FloatTileKernel.WIDTH];
        double[] sums = new double[2 * length + 2 * products + tile + floatTile.length];
        double[] part = new double[length];
        single.drainTo(part);
        System.arraycopy(part, 0, sums, 0, length);
        Arrays.fill(part, 0.0);
        twice.drainTo(part);
        System.arraycopy(part, 0, sums, length, length);
        MatrixView x = new MatrixView(rows, 0, COMPARED_ROWS, DIMENSION, DIMENSION, 1);
        double[] product = new double[products];
        kernel.pack(x).addProduct(x.transposed(), product);
        System.arraycopy(product, 0, sums, 2 * length, products);
        PackedFloatMatrix factor = kernel.packFloats(x);
        for (int from = 0; from < DIMENSION; from += PackedFloatMatrix.BLOCK_ROWS) {
            MatrixView columns =
                    x.transposed().rowRange(from, Math.min(from + PackedFloatMatrix.BLOCK_ROWS, DIMENSION));
            int first = 2 * length + products + from * DIMENSION;
            factor.multiply(columns, new float[DIMENSION], (row, column, values, at, count) -> {
                for (int j = 0; j < count; j++) {
                    sums[first + row * DIMENSION + column + j] = values[at + j];
                }
            });
        }
        // Of a whole square, and of its first rows once more by eights.
        int squares = 2 * length + 2 * products;
        TileKernel tiles = kernel.tiles();
        int side = TileKernel.WIDTH;
        tiles.square(rows, 0, rows, 7, COMPARED_ROWS, side, side, sums, squares);
        tiles.add(rows, 0, rows, 7, COMPARED_ROWS, sums, squares);
        FloatTileKernel floatTiles = kernel.floatTiles();
        int wide = FloatTileKernel.WIDTH;
        floatTiles.square(floats, 0, floats, 7, COMPARED_ROWS, wide, wide, floatTile, 0);
        floatTiles.add(floats, 0, floats, 7, COMPARED_ROWS, floatTile, 0);
        for (int i = 0; i < floatTile.length; i++) {
            sums[sums.length - floatTile.length + i] = floatTile[i];
        }
        return sums;
    }

    /**
     * Writes the result, for example {@code vector, 512 bits, tiles of 6 by 3 vectors: 62.1 GFLOP/s in a trial}; where
     * plain loops were timed too, with theirs.
     */
    @Override
    public String toString() {
        String own = "%s: %.1f GFLOP/s".formatted(other.kernel, other.speed());
        return plain.nanos == Long.MAX_VALUE
                ? own + " in a trial"
                : "%s against %.1f of %s in a trial".formatted(own, plain.speed(), plain.kernel);
    }
}
