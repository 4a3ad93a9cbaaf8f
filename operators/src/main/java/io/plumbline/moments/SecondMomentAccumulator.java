package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.BrainPanel;
import io.plumbline.linalg.kernel.DoublePanel;
import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.linalg.kernel.UpdateKernel;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.records.EncodedRows;
import io.plumbline.records.MomentRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Accumulates the uncentred second moment {@code M = (1/N) Σ y yᵀ} of activation rows, one batch at a time.
 *
 * <pre>{@code
 * Matrix batch = new Matrix(2, 3, new double[] {1, 2, 3, 4, 5, 6}); // two rows of three values
 * SecondMomentAccumulator window = SecondMomentAccumulator.ofDimension(3).add(batch);
 * window.merge(SecondMomentAccumulator.ofDimension(3).add(batch)); // rows that were summed elsewhere
 * SecondMoment moment = window.snapshot(); // of 4 rows; later ones do not show in it
 * }</pre>
 *
 * <p><b>Size.</b> {@code 4 d(d+3)} bytes: 2.4 MB at d = 768, 17 MB at 2,048; and a {@link FloatPanel} of rows
 * that wait, from {@code addFloats} to the next {@link #state()}. <b>Cost.</b> {@code d(d+1)} flops a row.
 * <p><b>Accuracy.</b> {@link #add} works in double: the sum of N products has a relative error of at most about {@code
 * N 2^-53} on the diagonal, where all terms are non-negative, and on integer-valued rows every sum below {@code 2^53}
 * is exact, in any order and any split. {@code addFloats} is twice as fast on rows that are floats: it multiplies in
 * float and sums 128 rows at a time into double, which leaves an error below 1e-8 of the moment's norm over 2 million
 * rows, and none on integers up to {@value FloatPanel#LARGEST_EXACT_INTEGER} in size ({@link FloatPanel}). Where the
 * kernel has a library for rows of bfloat16, {@link BrainPanel} says it of those.
 * <p><b>Non-finite rows</b> are refused: one NaN would poison the window for its whole life.
 * <p>Not thread-safe; the task that reads the partition is the single writer.
 */
public final class SecondMomentAccumulator {

    /** The largest value: the squares of larger ones, summed and normed once more, could leave the range of double. */
    static final double LARGEST_VALUE = 1e70;

    /** Numbers of a sum that stay in the first-level cache while all parts are added to them. */
    private static final int STRETCH = 1_024;

    private final int dimension;
    private long rows;
    private final double[] state;
    private final UpdateKernel kernel;

    /** Rows counted in {@link #rows} and not yet in {@link #state}; none is kept for a moment that gets no more. */
    private @Nullable FloatPanel waiting;

    /** Rows of bfloat16, as those in {@link #waiting}. */
    private @Nullable BrainPanel waitingBrains;

    private SecondMomentAccumulator(int dimension, long rows, double[] state, UpdateKernel kernel) {
        this.dimension = dimension;
        this.rows = rows;
        this.state = state;
        this.kernel = kernel;
    }

    /** An empty accumulator of rows of {@code dimension} values. */
    public static SecondMomentAccumulator ofDimension(int dimension) {
        return ofDimension(dimension, UpdateKernels.kernel());
    }

    static SecondMomentAccumulator ofDimension(int dimension, UpdateKernel kernel) {
        return new SecondMomentAccumulator(dimension, 0, new double[MomentState.length(dimension)], kernel);
    }

    /** Goes on from an earlier {@link #state()}; the array is taken over, not copied. */
    public static SecondMomentAccumulator ofState(int dimension, long rows, double[] state) {
        MomentState.requireRows(rows);
        MomentState.requireLength(dimension, state.length);
        return new SecondMomentAccumulator(dimension, rows, state, UpdateKernels.kernel());
    }

    /**
     * Adds every row of {@code batch} (n x d), or none.
     *
     * @throws NonFiniteRowException if a value is NaN, infinite or beyond {@code 1e70} in size
     */
    public SecondMomentAccumulator add(Matrix batch) {
        requireWidth(batch.columns());
        requireSummable(batch);
        addDoubles(batch, 0);
        return this;
    }

    /**
     * Adds every row of {@code batch} (n x d), or none, faster than {@link #add} and less precisely, where rows are
     * floats: read from 16- or 32-bit numbers, say. From the first row that is not, or has a value beyond {@code 2^60},
     * on, it is {@link #add}.
     *
     * @throws NonFiniteRowException if a value is NaN, infinite or beyond {@code 1e70} in size
     */
    public SecondMomentAccumulator addFloats(Matrix batch) {
        requireWidth(batch.columns());
        requireSummable(batch);
        FloatPanel panel = waiting();
        int row = 0;
        while (row < batch.rows() && writeFloats(batch, row, panel)) {
            row++;
            rows++;
            if (panel.isFull()) {
                panel.drainTo(state);
            }
        }
        addDoubles(batch, row);
        return this;
    }

    /**
     * Adds rows as they lie in a record, as {@link #addFloats(Matrix)} does to the last bit, but for rows of bfloat16
     * where the kernel has a library for them: 16- and 32-bit numbers go straight into the layout of the kernel, and
     * nothing is allocated for them.
     *
     * @throws NonFiniteRowException if a value is NaN, infinite or beyond {@code 1e70} in size
     */
    public SecondMomentAccumulator addFloats(EncodedRows batch) {
        requireWidth(batch.columns());
        if (!batch.fitFloatPanel()) {
            return addFloats(batch.toMatrix());
        }
        BrainPanel brains = waitingBrains();
        if (brains != null && batch.fitBrainPanel()) {
            addBrains(batch, brains);
            return this;
        }
        FloatPanel panel = waiting();
        int stretch = panel.stretch();
        for (int row = 0; row < batch.rows(); row++) {
            int next = panel.rows();
            float[] target = panel.array(next);
            for (int column = 0; column < dimension; column += stretch) {
                int count = Math.min(stretch, dimension - column);
                batch.copy(row, column, target, panel.index(next, column), count);
            }
            panel.rowWritten();
            rows++;
            if (panel.isFull()) {
                panel.drainTo(state);
            }
        }
        return this;
    }

    private void addBrains(EncodedRows batch, BrainPanel panel) {
        for (int row = 0; row < batch.rows(); row++) {
            batch.copyBytes(row, panel.array(panel.rows()), panel.index(panel.rows()));
            panel.rowWritten();
            rows++;
            if (panel.isFull()) {
                panel.drainTo(state);
            }
        }
    }

    /** Returns the panel for rows of bfloat16; null where the kernel has no library for them. */
    private @Nullable BrainPanel waitingBrains() {
        BrainPanel panel = waitingBrains;
        if (panel == null) {
            panel = kernel.brains(dimension);
            waitingBrains = panel;
        }
        return panel;
    }

    private FloatPanel waiting() {
        FloatPanel panel = waiting;
        if (panel == null) {
            panel = kernel.floats(dimension);
            waiting = panel;
        }
        return panel;
    }

    private void addDoubles(Matrix batch, int from) {
        int count = batch.rows() - from;
        if (count == 0) {
            return;
        }
        DoublePanel panel = kernel.doubles(dimension, Math.min(count, DoublePanel.ROWS));
        for (int row = from; row < batch.rows(); row++) {
            panel.add(batch.values(), row * dimension);
            if (panel.isFull()) {
                panel.drainTo(state);
            }
        }
        panel.drainTo(state);
        rows += count;
    }

    /** Writes a row into the panel; false if its values are no floats, or too large to multiply as such. */
    private boolean writeFloats(Matrix batch, int row, FloatPanel panel) {
        double[] values = batch.values();
        float[] target = panel.array(panel.rows());
        boolean floats = true;
        for (int column = 0; column < dimension; column += panel.stretch()) {
            int from = row * dimension + column;
            int at = panel.index(panel.rows(), column);
            int length = Math.min(panel.stretch(), dimension - column);
            for (int j = 0; j < length; j++) {
                float value = (float) values[from + j];
                floats &= value == values[from + j] && Math.abs(value) <= FloatPanel.LARGEST;
                target[at + j] = value;
            }
        }
        if (floats) {
            panel.rowWritten();
        }
        return floats;
    }

    private void requireWidth(int columns) {
        if (columns != dimension) {
            throw new IllegalArgumentException("rows of %d values: this accumulator takes %d; the batch was not added"
                    .formatted(columns, dimension));
        }
    }

    private void requireSummable(Matrix batch) {
        double[] values = batch.values();
        for (int i = 0; i < values.length; i++) {
            // Written so that NaN fails it.
            if (!(Math.abs(values[i]) <= LARGEST_VALUE)) {
                throw new NonFiniteRowException(i / dimension, i % dimension, values[i]);
            }
        }
    }

    /**
     * The rows of all {@code parts}, added in their order, in one pass through memory: as much faster than a {@link
     * #merge} of each as the moment is larger than the cache. Parts without waiting rows are only read.
     */
    public static SecondMoment sum(int dimension, List<SecondMomentAccumulator> parts) {
        double[] sum = new double[MomentState.length(dimension)];
        double[][] states = new double[parts.size()][];
        long rows = 0;
        for (int part = 0; part < states.length; part++) {
            MomentState.requireSameDimension(dimension, parts.get(part).dimension);
            states[part] = parts.get(part).state();
            rows += parts.get(part).rows;
        }
        for (int from = 0; from < sum.length; from += STRETCH) {
            int to = Math.min(sum.length, from + STRETCH);
            for (double[] state : states) {
                for (int i = from; i < to; i++) {
                    sum[i] += state[i];
                }
            }
        }
        return new SecondMoment(dimension, rows, sum);
    }

    /** Adds someone else's rows. The other accumulator is not changed. */
    public SecondMomentAccumulator merge(SecondMomentAccumulator other) {
        MomentState.requireSameDimension(dimension, other.dimension);
        addState(other.rows, other.state(), 0);
        return this;
    }

    /** Adds someone else's rows. */
    public SecondMomentAccumulator merge(SecondMoment other) {
        MomentState.requireSameDimension(dimension, other.dimension());
        addState(other.rows(), other.sharedState(), 0);
        return this;
    }

    /** Adds the rows of a moment that came as a record. {@value #STRETCH} numbers at a time are copied. */
    public SecondMomentAccumulator merge(MomentRecord record) {
        MomentState.requireSameDimension(dimension, record.dimension());
        double[] some = new double[STRETCH];
        for (int from = 0; from < state.length; from += STRETCH) {
            int count = record.copyState(from, some);
            for (int i = 0; i < count; i++) {
                state[from + i] += some[i];
            }
        }
        rows += record.counts().rows();
        return this;
    }

    /**
     * Adds a stretch of a state, so that a state which travels in pieces needs no buffer on arrival.
     *
     * @param addedRows rows this piece stands for: give them with one piece only, and 0 with the rest of the same state
     * @param values summands of {@code state()[offsetInState ..]}
     */
    public void addState(long addedRows, double[] values, int offsetInState) {
        MomentState.requireRows(addedRows);
        if (offsetInState < 0 || values.length > state.length - offsetInState) {
            throw new IllegalArgumentException(
                    "%d values at %d: the state of a moment of dimension %d has %d; nothing was added"
                            .formatted(values.length, offsetInState, dimension, state.length));
        }
        for (int i = 0; i < values.length; i++) {
            state[offsetInState + i] += values[i];
        }
        rows += addedRows;
    }

    /**
     * Returns what has been added so far, as a value; later adds do not show in it. {@code 4 d(d+3)} bytes are copied.
     */
    public SecondMoment snapshot() {
        return new SecondMoment(dimension, rows, state().clone());
    }

    public int dimension() {
        return dimension;
    }

    /** Rows added so far. */
    public long rows() {
        return rows;
    }

    /**
     * The live numbers, not a copy: {@code [ sum of rows (d) | packed lower triangle of sum y yᵀ (d(d+1)/2) ]}, entry
     * (i, j), j <= i, of the triangle at {@code d + i(i+1)/2 + j}. Rows that were waiting are in it.
     */
    public double[] state() {
        FloatPanel panel = waiting;
        if (panel != null) {
            panel.drainTo(state);
            waiting = null;
        }
        BrainPanel brains = waitingBrains;
        if (brains != null) {
            brains.drainTo(state);
            waitingBrains = null;
        }
        return state;
    }
}
