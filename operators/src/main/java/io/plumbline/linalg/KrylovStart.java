package io.plumbline.linalg;

import java.util.Arrays;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Ritz vectors from a block Krylov space of a positive semidefinite d x d matrix M, to begin a {@link BlockIteration} with; mostly
 * there is nothing left for that to do.
 *
 * <p>A block of {@value #WIDTH} vectors is multiplied by M again and again, each product made orthonormal to all before it (Golub
 * and Underwood 1977, doi:10.1016/B978-0-12-587260-7.50018-2). The space that they span holds every polynomial of M times the
 * first block, among them the one that a filter would have to choose, so it takes a third of a filter's products or some more: for
 * eigenvalues {@code 1 / i} 240 and not 570 at d = 768, r = 32, 360 and not 1,248 at 2,048, 64, to a sine of 1e-3. The restriction of M
 * to it falls out of the orthonormalisation; its leading eigenvectors are found by a {@link BlockIteration} of their own.
 *
 * <p>Blocks lie in strips ({@link TileKernel}): tall ones, a vector per column, and flat ones, which are tiles of them transposed.
 * <b>Cost.</b> {@code 2 d^2} flops a vector, {@code 4 d k^2} to make k of them orthonormal, twice. <b>Size.</b> {@code 8 d (d + 3 k)}
 * bytes.
 * <b>Accuracy.</b> An entry of a product errs by {@code (64 + d / 64) 2^-53 Σ |a_h b_h|}, so that what a combination of k products
 * with weights of length 1 errs by, at most {@code (sqrt(k) (65 + d / 64) + k) 2^-53 ||M||_F}, stays below {@code 6 d 2^-53 ||M||_F}.
 */
final class KrylovStart {

    static final int WIDTH = TileKernel.WIDTH;

    private static final int ROWS = TileKernel.ROWS;
    private static final int TILE = WIDTH * WIDTH;

    /** Rows of a piece: those of two strips fit a first-level cache of 32 KiB together. */
    private static final int INNER = 64;

    /** Most vectors for each wanted one, and some. */
    private static final int MOST = 10;

    /** Of the dimension: at 168 of 384 it takes a third longer than filters, at 264 of 768 a quarter less. */
    private static final double LARGEST_SHARE = 0.4;

    /** What a block takes the residual down by near the end, about. */
    private static final double PER_BLOCK = 8.0;

    /** The restriction's eigenvectors are found to this share of what is wanted of the Ritz vectors. */
    private static final double INNER_SHARE = 0.1;

    private static final int INNER_STEPS = 20;

    /** Least pivot of the Gram matrix of columns of length 1. */
    private static final double LEAST_PIVOT = 1e-12;

    private final TileKernel kernel = UpdateKernels.kernel().tiles();
    private final int d;
    private final int groups;
    private final int rank;
    private final int size;
    private final double[][] matrix;

    /** Blocks of the basis, tall. */
    private final double[][] tall;

    /** Basis and products, flat: for a group of {@value #WIDTH} coordinates a row per vector. */
    private final double[][] basis;

    private final double[][] images;
    private final Matrix restricted;
    private int blocks;

    private KrylovStart(Matrix psd, int rank, int size, int most) {
        this.d = psd.rows();
        this.groups = (d + WIDTH - 1) / WIDTH;
        this.rank = rank;
        this.size = size;
        this.tall = new double[most + 1][];
        this.basis = new double[groups][most * TILE];
        this.images = new double[groups][most * TILE];
        this.restricted = Matrix.zeros(most * WIDTH, most * WIDTH);
        this.matrix = new double[groups][groups * TILE];
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
     * The leading {@code size} Ritz vectors, of which {@code rank} are as good as wanted where the space may grow that far; null
     * where it holds no {@code size} vectors, or the matrix is too small for them.
     *
     * @param start d x s, one start vector per column, or null
     * @param tolerance of the sine of the leading eigenspace
     * @param floor the least residual that rounding lets a vector have
     */
    static @Nullable Found of(
            Matrix psd, int rank, int size, @Nullable Matrix start, double tolerance, double floor, Random random) {
        int most = Math.min(3 * psd.rows() / 5, MOST * rank + 6 * WIDTH) / WIDTH;
        if (most * WIDTH < size + WIDTH) {
            return null;
        }
        KrylovStart space = new KrylovStart(psd, rank, size, most);
        return space.grow(space.first(start, random), tolerance, floor, most);
    }

    /** Whether it is faster than filters: not in a space that it would fill nearly half of. */
    static boolean pays(int d, int rank, double tolerance) {
        return firstLook(rank, tolerance) * WIDTH <= LARGEST_SHARE * d;
    }

    private double[] first(@Nullable Matrix start, Random random) {
        double[] block = new double[groups * TILE];
        for (int i = 0; i < d * WIDTH; i++) {
            block[i] = random.nextDouble() - 0.5;
        }
        if (start == null) {
            return block;
        }
        // All of the start vectors in each, and a little of a random direction, lest an eigenvector be orthogonal to
        // all.
        Matrix weights = Matrix.zeros(start.columns(), WIDTH);
        for (int i = 0; i < weights.values().length; i++) {
            weights.values()[i] = random.nextGaussian();
        }
        Matrix mixed = Kernels.multiply(start, weights);
        double disturbance = BlockIteration.DISTURBANCE * Math.sqrt(start.columns() / (double) d);
        for (int i = 0; i < d * WIDTH; i++) {
            block[i] = mixed.values()[i] + disturbance * block[i];
        }
        return block;
    }

    private @Nullable Found grow(double[] first, double tolerance, double floor, int most) {
        // The second time to rounding.
        for (int pass = 0; pass < 2; pass++) {
            if (orthonormalise(first) == null) {
                return null;
            }
        }
        double[] next = first;
        double[] factor = null;
        int least = size / WIDTH + 1;
        int look = Math.max(least, firstLook(rank, tolerance));
        do {
            append(next);
            next = product(next);
            flatten(next, images, blocks - 1);
            factor = orthogonalise(next);
            if (factor != null && blocks == look && look < most) {
                BlockIteration inner = leading(tolerance, floor);
                double excess = residual(inner, factor) / inner.wanted(tolerance, floor);
                if (excess <= 1.0) {
                    return found(inner);
                }
                look += (int) Math.min(most, Math.ceil(Math.log(excess) / Math.log(PER_BLOCK)));
            }
        } while (factor != null && blocks < most);
        return blocks < least ? null : found(leading(tolerance, floor));
    }

    /** Blocks that eigenvalues {@code 1 / i} take; to look costs as much as three more. */
    private static int firstLook(int rank, double tolerance) {
        return (int) (4.0 * rank - WIDTH * Math.log10(tolerance) + 40.0) / WIDTH;
    }

    private Found found(BlockIteration inner) {
        return new Found(combined(basis, inner.vectors()), combined(images, inner.vectors()), blocks * WIDTH);
    }

    private void append(double[] block) {
        tall[blocks] = block;
        flatten(block, basis, blocks);
        blocks++;
    }

    private static void flatten(double[] block, double[][] flat, int number) {
        for (int group = 0; group < flat.length; group++) {
            transposeTile(block, group * TILE, flat[group], number * TILE);
        }
    }

    private static void transposeTile(double[] from, int at, double[] to, int start) {
        for (int i = 0; i < WIDTH; i++) {
            for (int j = 0; j < WIDTH; j++) {
                to[start + j * WIDTH + i] = from[at + i * WIDTH + j];
            }
        }
    }

    private double[] product(double[] block) {
        double[] product = new double[groups * TILE];
        Cores.each(groups, 2.0 * d * d * WIDTH, group -> multiply(matrix[group], block, product, group * TILE));
        return product;
    }

    /** {@code A^T B} of two tall blocks into a square tile, piece by piece: what rounding takes grows with a piece, not with d. */
    private void multiply(double[] a, double[] b, double[] square, int at) {
        double[] sum = new double[TILE];
        double[] piece = new double[TILE];
        for (int row = 0; row < groups * WIDTH; row += INNER) {
            int count = Math.min(INNER, groups * WIDTH - row);
            Arrays.fill(piece, 0.0);
            for (int i = 0; i < WIDTH; i += ROWS) {
                kernel.add(a, row * WIDTH + i, b, row * WIDTH, count, piece, i * WIDTH);
            }
            for (int i = 0; i < TILE; i++) {
                sum[i] += piece[i];
            }
        }
        System.arraycopy(sum, 0, square, at, TILE);
    }

    /**
     * Makes the product of M and the newest block orthonormal to the basis and in itself; what its columns were made of beside the
     * basis, or null where nothing is left of some of them.
     */
    private double @Nullable [] orthogonalise(double[] block) {
        double[] inside = project(block);
        int newest = (blocks - 1) * WIDTH;
        for (int i = 0; i < blocks * WIDTH; i++) {
            for (int j = 0; j < WIDTH; j++) {
                // What is left of the part below the diagonal of blocks is rounding.
                restricted.set(i, newest + j, inside[i * WIDTH + j]);
                restricted.set(newest + j, i, inside[i * WIDTH + j]);
            }
        }
        double[] factor = orthonormalise(block);
        if (factor == null) {
            return null;
        }
        project(block);
        return orthonormalise(block) == null ? null : factor;
    }

    /** Takes the part inside of the basis from a block; its coordinates, a row for each vector of the basis. */
    private double[] project(double[] block) {
        double[] inside = new double[blocks * TILE];
        double flops = 2.0 * d * WIDTH * WIDTH * blocks;
        Cores.each(blocks, flops, number -> multiply(tall[number], block, inside, number * TILE));
        double[] negative = new double[inside.length];
        for (int i = 0; i < inside.length; i++) {
            negative[i] = -inside[i];
        }
        Cores.each(groups, flops, group -> combine(basis[group], negative, block, group));
        return inside;
    }

    /** Adds the combination of the basis with a column of {@code weights} each to a group of a tall block. */
    private void combine(double[] flat, double[] weights, double[] block, int group) {
        for (int i = 0; i < WIDTH; i += ROWS) {
            kernel.add(flat, i, weights, 0, blocks * WIDTH, block, group * TILE + i * WIDTH);
        }
    }

    /** Makes the columns of a block orthonormal by its Gram matrix: the triangle R that gives the old ones back, or null. */
    private double @Nullable [] orthonormalise(double[] block) {
        double[] gram = new double[TILE];
        multiply(block, block, gram, 0);
        double[] r = new double[TILE];
        double[] inverse = new double[TILE];
        for (int j = 0; j < WIDTH; j++) {
            for (int i = 0; i <= j; i++) {
                double rest = gram[i * WIDTH + j];
                for (int h = 0; h < i; h++) {
                    rest -= r[h * WIDTH + i] * r[h * WIDTH + j];
                }
                if (i < j) {
                    r[i * WIDTH + j] = rest / r[i * WIDTH + i];
                } else if (rest > LEAST_PIVOT * gram[j * WIDTH + j]) {
                    r[j * WIDTH + j] = Math.sqrt(rest);
                } else {
                    return null;
                }
            }
        }
        for (int j = 0; j < WIDTH; j++) {
            inverse[j * WIDTH + j] = 1.0 / r[j * WIDTH + j];
            for (int i = j - 1; i >= 0; i--) {
                double sum = 0.0;
                for (int h = i + 1; h <= j; h++) {
                    sum += r[i * WIDTH + h] * inverse[h * WIDTH + j];
                }
                inverse[i * WIDTH + j] = -sum / r[i * WIDTH + i];
            }
        }
        double[] transposed = new double[TILE];
        for (int group = 0; group < groups; group++) {
            transposeTile(block, group * TILE, transposed, 0);
            Arrays.fill(block, group * TILE, (group + 1) * TILE, 0.0);
            for (int i = 0; i < WIDTH; i += ROWS) {
                kernel.add(transposed, i, inverse, 0, WIDTH, block, group * TILE + i * WIDTH);
            }
        }
        return r;
    }

    /** Leading eigenvectors of the restriction, one per row, and its eigenvalues. */
    private BlockIteration leading(double tolerance, double floor) {
        int count = blocks * WIDTH;
        Matrix known = Matrix.zeros(count, count);
        for (int i = 0; i < count; i++) {
            System.arraycopy(restricted.values(), i * restricted.columns(), known.values(), i * count, count);
        }
        BlockIteration inner = BlockIteration.fromAnywhere(known, rank, size);
        for (int step = 0; step < INNER_STEPS; step++) {
            double share = Math.max(INNER_SHARE * inner.wanted(tolerance, floor), inner.floor());
            if (inner.residual() <= share) {
                break;
            }
            inner.step(share);
        }
        return inner;
    }

    /**
     * The residual of the leading Ritz vectors: what the basis lacks of M times one of them is {@code R s}, R of the block to come and s
     * its coordinates in the newest.
     */
    private double residual(BlockIteration inner, double[] factor) {
        double residual = 0.0;
        int newest = (blocks - 1) * WIDTH;
        for (int vector = 0; vector < rank; vector++) {
            for (int i = 0; i < WIDTH; i++) {
                double sum = 0.0;
                for (int j = i; j < WIDTH; j++) {
                    sum += factor[i * WIDTH + j] * inner.vectors().get(vector, newest + j);
                }
                residual += sum * sum;
            }
        }
        return Math.sqrt(residual);
    }

    /** {@code weights} times the rows of {@code flat}. */
    private Matrix combined(double[][] flat, Matrix weights) {
        Matrix rows = Matrix.zeros(size, d);
        for (int from = 0; from < size; from += WIDTH) {
            int first = from;
            int count = Math.min(WIDTH, size - from);
            double[] strip = new double[blocks * TILE];
            for (int vector = 0; vector < count; vector++) {
                for (int i = 0; i < blocks * WIDTH; i++) {
                    strip[i * WIDTH + vector] = weights.get(from + vector, i);
                }
            }
            double[] block = new double[groups * TILE];
            Cores.each(groups, 2.0 * d * blocks * TILE, group -> {
                combine(flat[group], strip, block, group);
                for (int vector = 0; vector < count; vector++) {
                    for (int i = group * WIDTH; i < Math.min((group + 1) * WIDTH, d); i++) {
                        rows.set(first + vector, i, block[i * WIDTH + vector]);
                    }
                }
            });
        }
        return rows;
    }
}
