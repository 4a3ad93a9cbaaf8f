package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;
import io.plumbline.linalg.TriangularFactor;
import io.plumbline.linalg.Weights;
import io.plumbline.linalg.eigenspace.TopEigenspace;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The directions a dictionary writes in: the span of the {@code rank} leading left singular vectors of the d x k
 * decoder matrix (the paper's {@code Π_dec}).
 *
 * <p><b>Depends on the gauge.</b> Scaling a feature up in the encoder and down in the decoder leaves a ReLU explainer
 * unchanged and moves this subspace. The file's own scale is used.
 *
 * <p><b>Leading or all.</b> From d = {@value #WIDE} on, where the rank is at most a quarter of it, only the leading
 * directions are found, of {@code W W^T}: right up to {@link #sineBound()}, which is proven. {@code k d^2} flops and
 * some {@code d^3 / 3}. All of them ({@link #singularValues}, {@link #leftVectors}) take {@code 2 k d^2} flops and a d
 * x d SVD: 3 s of one core at d = 768, k = 24,576, and the better part of an hour at 8,192. They are computed once, by
 * whoever asks first; {@link #begin} has another thread do it, and {@link #isComplete} says when that is done.
 *
 * <p>Depends on the trained decoder only: compute it once ({@link SubspaceCache} keeps it). Immutable but for that;
 * safe for any number of threads as long as nobody writes to the arrays it hands out.
 */
public final class ExplainerSubspace {

    /** The width from which on only leading directions are found: below it all of them take some seconds. */
    static final int WIDE = 1_024;

    /** The share of the dimension, as a divisor, above which all directions are no slower than the leading ones. */
    private static final int LARGEST_SHARE = 4;

    /** The proven sine up to which leading directions may be off; the true one is some tens of times smaller. */
    static final double TOLERANCE = 1e-4;

    /**
     * One thread, which is not there while there is nothing to do: each dictionary takes all cores, and several of them
     * several times the memory. Not the common pool, whose threads others wait for.
     */
    private static final Executor DIRECTIONS =
            new ThreadPoolExecutor(0, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
                Thread thread = new Thread(work, "plumbline-directions");
                thread.setDaemon(true);
                return thread;
            });

    private final Subspace subspace;
    private final double[] values;
    private final double sineBound;
    private final Source source;

    /**
     * Every direction of a dictionary.
     *
     * @param values d singular values, descending
     * @param vectors d x d, one left singular vector a column
     */
    record Complete(double[] values, Matrix vectors, int size) {

        /** Returns the number of singular values that are not zero to rounding. */
        int rank() {
            double smallest = Identification.roundingOf(values[0], size);
            int nonZero = 0;
            while (nonZero < values.length && values[nonZero] > smallest) {
                nonZero++;
            }
            return nonZero;
        }
    }

    /**
     * The leading directions of a dictionary.
     *
     * @param values at least r + 1 singular values, descending
     * @param basis d x r
     * @param sineBound of the basis, above 0 and at most {@link #TOLERANCE}
     */
    record Leading(double[] values, Matrix basis, double sineBound) {

        Leading {
            // Written so that NaN is caught.
            if (values.length <= basis.columns() || !(sineBound > 0.0 && sineBound <= TOLERANCE)) {
                throw new IllegalArgumentException(
                        "%d singular values and a bound of %s: expected more than %d, and a bound in (0, %s]"
                                .formatted(values.length, sineBound, basis.columns(), TOLERANCE));
            }
        }

        /**
         * Returns those of {@code W W^T}; null where they are not told apart from the next in good time. Half of what
         * they may be off is left to the rounding of the matrix.
         *
         * @param rounding bound of the Frobenius norm of what the matrix is off
         */
        static @Nullable Leading of(Matrix gram, double rounding, int rank) {
            TopEigenspace top =
                    TopEigenspace.of(gram, rank, null, TOLERANCE / 2).orElse(null);
            if (top == null) {
                return null;
            }
            double sineBound =
                    top.sineBound() + DictionarySpace.sineOf(rounding, top.values()[rank - 1] - top.atMost()[rank]);
            return sineBound <= TOLERANCE ? new Leading(roots(top.values()), top.vectors(), sineBound) : null;
        }
    }

    /** The source of the directions of one dictionary: those of another rank, and all of them. */
    private static final class Source {

        private final IntFunction<@Nullable Leading> leading;
        private final Supplier<Complete> all;
        private final Map<Integer, ExplainerSubspace> known = new ConcurrentHashMap<>();
        private final CompletableFuture<Complete> complete = new CompletableFuture<>();
        private final AtomicBoolean begun = new AtomicBoolean();

        Source(IntFunction<@Nullable Leading> leading, Supplier<Complete> all) {
            this.leading = leading;
            this.all = all;
        }

        Complete complete() {
            compute();
            try {
                return complete.join();
            } catch (CompletionException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw e.getCause() instanceof RuntimeException failure ? failure : e;
            }
        }

        /** Computes them unless somebody has begun. No lock is held, so that {@link #isComplete} never waits. */
        private void compute() {
            if (begun.compareAndSet(false, true)) {
                try {
                    complete.complete(all.get());
                } catch (RuntimeException | Error e) {
                    complete.completeExceptionally(e);
                }
            }
        }

        void begin() {
            if (!begun.get()) {
                DIRECTIONS.execute(this::compute);
            }
        }

        boolean isComplete() {
            return complete.isDone();
        }

        ExplainerSubspace ofRank(int rank, int dimension) {
            ActiveSubspace.requireRank(rank, dimension);
            if (isComplete() || !isLeadingEnough(rank, dimension)) {
                return new ExplainerSubspace(complete(), rank, this);
            }
            return known.computeIfAbsent(rank, unused -> {
                Leading found = leading.apply(rank);
                return found == null
                        ? new ExplainerSubspace(complete(), rank, this)
                        : new ExplainerSubspace(found, this);
            });
        }
    }

    private ExplainerSubspace(Complete complete, int rank, Source source) {
        this.subspace = new Subspace(complete.vectors().leadingColumns(rank));
        this.values = complete.values();
        this.sineBound = 0.0;
        this.source = source;
    }

    private ExplainerSubspace(Leading leading, Source source) {
        this.subspace = new Subspace(leading.basis());
        this.values = leading.values();
        this.sineBound = leading.sineBound();
        this.source = source;
    }

    /** Returns whether the leading directions of a wide dictionary are found without the others. */
    public static boolean isLeadingEnough(int rank, int dimension) {
        return dimension >= WIDE && rank <= dimension / LARGEST_SHARE;
    }

    /** Returns the subspace of a dictionary whose every direction is known. */
    static ExplainerSubspace of(Complete complete, int rank) {
        return new Source(any -> null, () -> complete)
                .ofRank(rank, complete.vectors().rows());
    }

    /**
     * Returns the subspace of a dictionary whose leading directions are known.
     *
     * @param others those of other ranks; null where they are not told apart
     * @param all every direction
     */
    static ExplainerSubspace of(Leading leading, IntFunction<@Nullable Leading> others, Supplier<Complete> all) {
        Source source = new Source(others, all);
        ExplainerSubspace subspace = new ExplainerSubspace(leading, source);
        source.known.put(subspace.rank(), subspace);
        return subspace;
    }

    /**
     * Returns the directions that reconstructions take where no decoder is known: the leading ones of their moment.
     *
     * @param moment {@code E[yhat yhat^T]}, d x d
     */
    public static ExplainerSubspace ofReconstructions(Matrix moment, int rank) {
        return new Source(any -> Leading.of(moment, 0.0, any), () -> {
                    ActiveSubspace directions = ActiveSubspace.topEigenspace(moment, rank);
                    return new Complete(roots(directions.eigenvalues()), directions.eigenvectors(), moment.rows());
                })
                .ofRank(rank, moment.rows());
    }

    /** The leading directions of a decoder; {@code rank} in 1 .. d. */
    public static ExplainerSubspace of(Decoder decoder, int rank) {
        return ofWeights(decoder.weights(), rank);
    }

    /**
     * The leading directions of dictionary weights as they lie on file.
     *
     * @param weights k x d, row j = what feature j writes
     * @param rank in 1 .. d
     */
    public static ExplainerSubspace ofWeights(Matrix weights, int rank) {
        return ofWeights(Weights.of(weights), rank);
    }

    private static ExplainerSubspace ofWeights(Weights weights, int rank) {
        return new Source(any -> leadingOf(weights, any), () -> completeOf(weights)).ofRank(rank, weights.columns());
    }

    /** Returns the leading directions of weights; null where they are not told apart from the next. */
    static @Nullable Leading leadingOf(Weights weights, int rank) {
        requireFeatures(weights);
        Matrix gram = DictionarySpace.gram(weights);
        return Leading.of(gram, DictionarySpace.roundingOf(gram, weights.rows()), rank);
    }

    /** Returns every direction of weights. */
    static Complete completeOf(Weights weights) {
        requireFeatures(weights);
        // W = (file)^T, so the left singular vectors of W are the right ones of the rows on file, and of their R.
        Svd triangle = Svd.of(TriangularFactor.of(weights.toMatrix()));
        return new Complete(triangle.values(), triangle.right(), Math.max(weights.rows(), weights.columns()));
    }

    private static void requireFeatures(Weights weights) {
        if (weights.rows() == 0) {
            throw new IllegalArgumentException("a decoder without features has no directions");
        }
    }

    private static double[] roots(double[] squares) {
        double[] roots = squares.clone();
        for (int i = 0; i < roots.length; i++) {
            roots[i] = Math.sqrt(Math.max(0.0, roots[i]));
        }
        return roots;
    }

    /** Returns the same dictionary's subspace at another rank, which is computed once. */
    public ExplainerSubspace ofRank(int rank) {
        return rank == rank() ? this : source.ofRank(rank, dimension());
    }

    /**
     * Returns the same dictionary's subspace as all directions have it, to rounding, also at other ranks; they are
     * computed, or waited for, where they are not known. Bases that are used together with {@link #leftVectors} are
     * taken from here: leading ones are not orthogonal to the others.
     */
    public ExplainerSubspace exact(int rank) {
        ActiveSubspace.requireRank(rank, dimension());
        return new ExplainerSubspace(source.complete(), rank, source);
    }

    /**
     * Begins to compute all directions, on another thread and after those of other dictionaries, unless that was begun
     * before. Does not wait.
     */
    public void begin() {
        source.begin();
    }

    public Subspace subspace() {
        return subspace;
    }

    public int rank() {
        return subspace.rank();
    }

    public int dimension() {
        return subspace.dimension();
    }

    /**
     * Proven upper bound of {@code ‖sin ∠‖_F} between {@link #subspace()} and the leading singular vectors, with what
     * the rounding of {@code W W^T} turns them by; 0 where the subspace is one of all directions.
     */
    public double sineBound() {
        return sineBound;
    }

    /** Singular value {@code i} from 1 to r + 1. */
    public double singularValue(int i) {
        return values[i - 1];
    }

    /** d singular values, descending; with k < d the last d - k are 0. Not copied. */
    public double[] singularValues() {
        return source.complete().values();
    }

    /**
     * All left singular vectors, d x d, one column each. Not copied. Those past the rank of the decoder are any basis.
     */
    public Matrix leftVectors() {
        return source.complete().vectors();
    }

    /**
     * Returns whether nobody has to wait for all directions: they are known, or could not be computed, in which case
     * {@link #leftVectors} throws. Does not wait.
     */
    public boolean isComplete() {
        return source.isComplete();
    }

    /** The number of singular values that are not zero to rounding; r where no more than leading ones are known. */
    public int decoderRank() {
        return sineBound > 0.0 ? rank() : source.complete().rank();
    }

    /** Returns whether the weights determine this subspace: rank W >= r, and no repeated singular value at r. */
    public boolean isIdentified() {
        return sineBound > 0.0 || (decoderRank() >= rank() && separated());
    }

    private boolean separated() {
        Complete complete = source.complete();
        return Identification.separated(complete.values(), rank(), complete.size());
    }
}
