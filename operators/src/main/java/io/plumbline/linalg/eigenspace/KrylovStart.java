package io.plumbline.linalg.eigenspace;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.TileKernel;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.parallel.Cores;
import java.util.Arrays;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Ritz vectors from a block Krylov space of a positive semidefinite d x d matrix M, to begin a {@link BlockIteration}
 * with; mostly there is nothing left for that to do.
 *
 * <p>A block of {@value #BLOCK} vectors is multiplied by M again and again, each product made orthonormal to all before
 * it (Golub and Underwood 1977, doi:10.1016/B978-0-12-587260-7.50018-2). The space that they span holds every
 * polynomial of M times the first block, among them the one that a filter would have to choose. The narrower the block,
 * the higher the polynomials and the fewer vectors it takes: for eigenvalues {@code 1 / i} and a sine of 1e-4 152 at d
 * = 768, r = 32, where 24 at a time take 264, and 248 and not 384 at 2,048, 64. The restriction of M to it falls out of
 * the orthonormalisation; {@link LeadingEigenpairs} decomposes it.
 *
 * <p>A product is orthogonal to all but the last two blocks, were it not for rounding: these are taken from it first,
 * and then, once it is orthonormal in itself, whatever is left of all.
 *
 * <p>The basis lies in strips ({@link TileKernel}): tall ones, a vector per column, and flat ones, which are tiles of
 * them transposed. <b>Cost.</b> {@code 2 d^2} flops a vector, {@code 2 d k^2} to make k of them orthonormal.
 * <b>Size.</b> {@code 8 d (d + 3 k)} bytes. <b>Accuracy.</b> An entry of a product errs by {@code (64 + d / 64) 2^-53 Σ
 * |a_h b_h|}, so that what a combination of k products with weights of length 1 errs by, at most {@code (sqrt(k) (65 +
 * d / 64) + k) 2^-53 ||M||_F}, stays below {@code 6 d 2^-53 ||M||_F}.
 */
final class KrylovStart {

    static final int BLOCK = TileKernel.ROWS;

    private static final int WIDTH = TileKernel.WIDTH;
    private static final int BLOCKS_A_STRIP = WIDTH / BLOCK;

    /** Entries of a block, flat, in {@value TileKernel#WIDTH} coordinates. */
    private static final int TILE = BLOCK * WIDTH;

    /** Rows of a piece: those of two strips fit a first-level cache of 32 KiB together. */
    private static final int INNER = 64;

    /** The most vectors for each wanted one; {@link #most} adds some. */
    private static final int VECTORS_PER_RANK = 10;

    private static final int EXTRA_VECTORS = 144;

    /** The largest share of the dimension that the space may fill: a larger one takes longer than filters. */
    private static final double LARGEST_SHARE = 0.4;

    /**
     * The powers of ten that a block takes the residual down by near the end: {@code 1 / i} 0.7, flatter spectra 0.3 to
     * 0.5.
     */
    private static final double USUAL_RATE = 0.7;

    private static final double LEAST_RATE = 0.3;

    /** The share of a block in the basis above which once is not enough to take it out to rounding. */
    private static final double MUCH = 0.5;

    private final TileKernel kernel = UpdateKernels.kernel().tiles();
    private final int d;
    private final int groups;
    private final int rank;
    private final int size;
    private final int most;
    private final double[][] matrix;

    /** The basis and the block to come, tall, {@value #BLOCKS_A_STRIP} blocks a strip. */
    private final double[][] tall;

    /** Basis and products, flat: for a group of {@value TileKernel#WIDTH} coordinates a row per vector. */
    private final double[][] basis;

    private final double[][] images;

    /** The products of each block with the block before it and with itself: a row for each vector of the two. */
    private final double[][] couplings;

    private int blocks;

    private KrylovStart(Matrix psd, int rank, int size, int most) {
        this.d = psd.rows();
        this.groups = (d + WIDTH - 1) / WIDTH;
        this.rank = rank;
        this.size = size;
        this.most = most;
        this.tall = new double[most / BLOCKS_A_STRIP + 1][];
        this.basis = new double[groups][];
        this.images = new double[groups][];
        this.couplings = new double[most][];
        this.matrix = new double[groups][groups * WIDTH * WIDTH];
        Cores.each(groups, 30.0 * d * d, group -> {
            int count = Math.min(WIDTH, d - group * WIDTH);
            for (int row = 0; row < d; row++) {
                System.arraycopy(psd.values(), row * d + group * WIDTH, matrix[group], row * WIDTH, count);
            }
        });
    }

    /** Ritz vectors and their products with the matrix, one per row, and how many products with a vector it took. */
    record Found(Matrix vectors, Matrix images, int products) {}

    /**
     * Returns the leading {@code size} Ritz vectors. The first {@code rank} of them are as good as wanted where the
     * space may grow that far. Null where it holds no {@code size} vectors, or the matrix is too small for them.
     *
     * @param start d x s, one start vector per column, or null
     * @param tolerance of the sine of the leading eigenspace
     * @param floor the least residual that rounding lets a vector have
     */
    static @Nullable Found of(
            Matrix psd, int rank, int size, @Nullable Matrix start, double tolerance, double floor, Random random) {
        int most = Math.min(3 * psd.rows() / 5, VECTORS_PER_RANK * rank + EXTRA_VECTORS) / BLOCK;
        if (most * BLOCK < size + BLOCK) {
            return null;
        }
        KrylovStart space = new KrylovStart(psd, rank, size, most);
        return space.grow(space.first(start, random), tolerance, floor);
    }

    /** Returns whether it is faster than filters: not in a space that it would fill nearly half of. */
    static boolean pays(int d, int rank, double tolerance) {
        return firstLook(rank, tolerance) * BLOCK <= LARGEST_SHARE * d;
    }

    /** Blocks that eigenvalues {@code 1 / i} take. */
    private static int firstLook(int rank, double tolerance) {
        return (int) (3.0 * rank - BLOCK / USUAL_RATE * Math.log10(tolerance) + 14.0) / BLOCK;
    }

    /** Returns the first block, a row for each coordinate, those of a strip. */
    private double[] first(@Nullable Matrix start, Random random) {
        double[] block = new double[groups * TILE];
        Matrix noise = Matrix.zeros(d, BLOCK);
        for (int i = 0; i < noise.values().length; i++) {
            noise.values()[i] = random.nextDouble() - 0.5;
        }
        Matrix columns = noise;
        if (start != null) {
            // Each column mixes all start vectors and a little noise: an eigenvector may be orthogonal to them.
            Matrix weights = Matrix.zeros(start.columns(), BLOCK);
            for (int i = 0; i < weights.values().length; i++) {
                weights.values()[i] = random.nextGaussian();
            }
            double disturbance = BlockIteration.DISTURBANCE * Math.sqrt(start.columns() / (double) d);
            columns = Kernels.multiply(start, weights).plus(disturbance, noise);
        }
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < BLOCK; j++) {
                block[i / WIDTH * TILE + j * WIDTH + i % WIDTH] = columns.get(i, j);
            }
        }
        return block;
    }

    private @Nullable Found grow(double[] first, double tolerance, double floor) {
        int least = size / BLOCK + 1;
        int look = Math.max(least, Math.min(most, firstLook(rank, tolerance)));
        makeRoom(look);
        double[] next = first;
        // The second time to rounding.
        for (int pass = 0; pass < 2; pass++) {
            Orthonormal made = orthonormal(next, 0);
            if (made == null) {
                return null;
            }
            next = made.block();
        }
        double excessBefore = 0.0;
        int lookBefore = 0;
        while (true) {
            append(next);
            double[] image = product();
            copyFlat(image, images, blocks - 1);
            Orthonormal made = orthogonal(image);
            if (made == null || blocks == most) {
                return blocks < least ? null : found(leading());
            }
            if (blocks == look) {
                LeadingEigenpairs.Found leading = leading();
                double excess = Math.log10(residual(leading.vectors(), made.factor())
                        / BlockIteration.wanted(leading.values(), rank, tolerance, floor));
                if (excess <= 0.0) {
                    return found(leading);
                }
                double rate = lookBefore == 0 ? USUAL_RATE : (excessBefore - excess) / (look - lookBefore);
                rate = Math.max(LEAST_RATE, Math.min(rate, USUAL_RATE));
                excessBefore = excess;
                lookBefore = look;
                look = Math.min(most, look + (int) Math.ceil(excess / rate));
                makeRoom(look);
            }
            next = made.block();
        }
    }

    /**
     * Makes room for so many blocks: room for {@link #most} would take longer to clear than it takes to fill what is
     * needed.
     */
    private void makeRoom(int blocksInAll) {
        for (int group = 0; group < groups; group++) {
            basis[group] = withRoom(basis[group], blocksInAll);
            images[group] = withRoom(images[group], blocksInAll);
        }
    }

    private double[] withRoom(double @Nullable [] rows, int blocksInAll) {
        double[] larger = new double[blocksInAll * TILE];
        if (rows != null) {
            System.arraycopy(rows, 0, larger, 0, blocks * TILE);
        }
        return larger;
    }

    private Found found(LeadingEigenpairs.Found leading) {
        return new Found(combined(basis, leading.vectors()), combined(images, leading.vectors()), blocks * BLOCK);
    }

    /** Makes the block, which is laid in tall strips already, one of the basis. */
    private void append(double[] block) {
        layTall(block);
        copyFlat(block, basis, blocks);
        blocks++;
    }

    private static void copyFlat(double[] block, double[][] flat, int number) {
        for (int group = 0; group < flat.length; group++) {
            System.arraycopy(block, group * TILE, flat[group], number * TILE, TILE);
        }
    }

    /** Appends a block as the next columns of the tall strips. */
    private void layTall(double[] block) {
        int column = blocks % BLOCKS_A_STRIP * BLOCK;
        if (column == 0 && tall[blocks / BLOCKS_A_STRIP] == null) {
            tall[blocks / BLOCKS_A_STRIP] = new double[groups * WIDTH * WIDTH];
        }
        double[] strip = tall[blocks / BLOCKS_A_STRIP];
        for (int group = 0; group < groups; group++) {
            for (int i = 0; i < WIDTH; i++) {
                int to = (group * WIDTH + i) * WIDTH + column;
                for (int j = 0; j < BLOCK; j++) {
                    strip[to + j] = block[group * TILE + j * WIDTH + i];
                }
            }
        }
    }

    /** The product of M and the newest block, flat. */
    private double[] product() {
        double[] product = new double[groups * TILE];
        Cores.each(groups, 2.0 * d * d * BLOCK, group -> multiply(blocks - 1, matrix[group], product, group * TILE));
        return product;
    }

    /**
     * Computes {@code A^T B} of a block and a strip, piece by piece: what rounding takes grows with a piece, not with
     * d.
     */
    private void multiply(int block, double[] strip, double[] tile, int at) {
        double[] left = tall[block / BLOCKS_A_STRIP];
        int column = block % BLOCKS_A_STRIP * BLOCK;
        double[] piece = new double[TILE];
        for (int row = 0; row < groups * WIDTH; row += INNER) {
            int count = Math.min(INNER, groups * WIDTH - row);
            Arrays.fill(piece, 0.0);
            kernel.add(left, row * WIDTH + column, strip, row * WIDTH, count, piece, 0);
            for (int i = 0; i < TILE; i++) {
                tile[at + i] += piece[i];
            }
        }
    }

    /**
     * A block made orthonormal.
     *
     * @param block flat
     * @param overlap the largest share it held of a vector of the basis before
     * @param factor the upper triangle R that gives back what was outside, {@code outside = block R}
     */
    private record Orthonormal(double[] block, double overlap, double[] factor) {}

    /**
     * The product of M and the newest block made orthonormal to the basis and in itself; null where nothing is left of
     * some of its columns.
     */
    private @Nullable Orthonormal orthogonal(double[] image) {
        int before = Math.max(blocks - 2, 0);
        int strip = before / BLOCKS_A_STRIP;
        layTall(image);
        double[] inside = inside(strip);
        int vectors = strip * BLOCKS_A_STRIP;
        // Also where nothing is left of it: the restriction holds the newest block either way.
        couplings[blocks - 1] = Arrays.copyOfRange(inside, (before - vectors) * TILE, (blocks - vectors) * TILE);
        Orthonormal rough = orthonormal(image, inside, strip);
        if (rough == null) {
            return null;
        }
        Orthonormal made = orthonormal(rough.block(), 0);
        while (made != null && made.overlap() > MUCH) {
            made = orthonormal(made.block(), 0);
        }
        return made == null ? null : new Orthonormal(made.block(), made.overlap(), rough.factor());
    }

    /**
     * Takes what a block holds of the basis, from a strip on, from it, and makes it orthonormal in itself; null as
     * above.
     */
    private @Nullable Orthonormal orthonormal(double[] block, int firstStrip) {
        layTall(block);
        return orthonormal(block, inside(firstStrip), firstStrip);
    }

    private @Nullable Orthonormal orthonormal(double[] block, double[] inside, int firstStrip) {
        int known = blocks * BLOCK - firstStrip * WIDTH;
        double[] gram = Arrays.copyOfRange(inside, known * WIDTH, (known + BLOCK) * WIDTH);
        double[] negative = new double[known * WIDTH];
        double overlap = 0.0;
        for (int i = 0; i < negative.length; i++) {
            negative[i] = -inside[i];
            overlap = Math.max(overlap, Math.abs(inside[i]));
        }
        double[] factor = BlockTriangle.of(gram, inside, known);
        if (factor == null) {
            return null;
        }
        double[] inverse = BlockTriangle.inverse(factor);
        double[] orthonormal = new double[block.length];
        Cores.each(groups, 2.0 * d * known * BLOCK, group -> {
            double[] tile = Arrays.copyOfRange(block, group * TILE, (group + 1) * TILE);
            kernel.add(negative, 0, basis[group], firstStrip * WIDTH * WIDTH, known, tile, 0);
            kernel.add(inverse, 0, tile, 0, BLOCK, orthonormal, group * TILE);
        });
        return new Orthonormal(orthonormal, overlap, factor);
    }

    /**
     * Returns the block to come beside each vector of the strips from a first one on, itself included: a row for each
     * of these.
     */
    private double[] inside(int firstStrip) {
        int count = blocks / BLOCKS_A_STRIP + 1 - firstStrip;
        double[] rows = new double[count * WIDTH * WIDTH];
        Cores.each(count, 2.0 * d * BLOCK * WIDTH * count, strip -> {
            double[] tile = new double[TILE];
            multiply(blocks, tall[firstStrip + strip], tile, 0);
            for (int i = 0; i < WIDTH; i++) {
                for (int j = 0; j < BLOCK; j++) {
                    rows[(strip * WIDTH + i) * WIDTH + j] = tile[j * WIDTH + i];
                }
            }
        });
        return rows;
    }

    /** Leading eigenvectors of the restriction of M, and its eigenvalues. */
    private LeadingEigenpairs.Found leading() {
        int count = blocks * BLOCK;
        Matrix restricted = Matrix.zeros(count, count);
        for (int block = 0; block < blocks; block++) {
            int from = Math.max(block - 1, 0) * BLOCK;
            for (int i = from; i < (block + 1) * BLOCK; i++) {
                for (int j = 0; j < BLOCK; j++) {
                    double value = couplings[block][(i - from) * WIDTH + j];
                    restricted.set(i, block * BLOCK + j, value);
                    restricted.set(block * BLOCK + j, i, value);
                }
            }
        }
        return LeadingEigenpairs.of(restricted, size);
    }

    /**
     * The residual of the leading Ritz vectors: what the basis lacks of M times one of them is {@code R s}, R of the
     * block to come and s its coordinates in the newest.
     */
    private double residual(Matrix vectors, double[] factor) {
        double residual = 0.0;
        int newest = (blocks - 1) * BLOCK;
        for (int vector = 0; vector < rank; vector++) {
            for (int i = 0; i < BLOCK; i++) {
                double sum = 0.0;
                for (int j = i; j < BLOCK; j++) {
                    sum += factor[i * WIDTH + j] * vectors.get(newest + j, vector);
                }
                residual += sum * sum;
            }
        }
        return Math.sqrt(residual);
    }

    /** The rows of {@code flat} combined, a row for each column of {@code weights}. */
    private Matrix combined(double[][] flat, Matrix weights) {
        Matrix rows = Matrix.zeros(size, d);
        for (int from = 0; from < size; from += WIDTH) {
            int first = from;
            int count = Math.min(WIDTH, size - from);
            double[] strip = new double[blocks * TILE];
            for (int i = 0; i < blocks * BLOCK; i++) {
                System.arraycopy(weights.values(), i * size + from, strip, i * WIDTH, count);
            }
            Cores.each(groups, 2.0 * d * blocks * BLOCK * WIDTH, group -> {
                double[] square = new double[WIDTH * WIDTH];
                kernel.square(flat[group], 0, strip, 0, blocks * BLOCK, WIDTH, count, square, 0);
                for (int vector = 0; vector < count; vector++) {
                    for (int i = group * WIDTH; i < Math.min((group + 1) * WIDTH, d); i++) {
                        rows.set(first + vector, i, square[(i - group * WIDTH) * WIDTH + vector]);
                    }
                }
            });
        }
        return rows;
    }
}
