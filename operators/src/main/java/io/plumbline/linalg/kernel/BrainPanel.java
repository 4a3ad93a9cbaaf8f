package io.plumbline.linalg.kernel;

import io.plumbline.parallel.Cores;
import io.plumbline.parallel.SharedWork;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * Rows of bfloat16 that wait to be added to a second moment by a {@link BrainProduct}: the twin of {@link FloatPanel},
 * with twice its rows in as many bytes. Writers copy the bytes of a row, little-endian, to {@link #array} from {@link
 * #index} on.
 *
 * <p><b>Accuracy.</b> That of a {@link FloatPanel}, {@code 128 * 2^-24 Σ |x_i x_j|} for the rows that are added to the
 * moment together: as many of them are multiplied at once as {@link BrainOrder} allows, at most {@value #TOGETHER}.
 * Sums of integers are exact while {@code Σ |x_i x_j| <= 2^24}, so for rows of integers up to
 * {@value #LARGEST_EXACT_INTEGER} in size.
 *
 * <p><b>Range.</b> 0, and sizes from {@link #SMALLEST} to {@link #LARGEST}: such numbers are multiples of {@code
 * 2^-63}, so products and their sums are multiples of {@code 2^-126}, and none is subnormal. Some processors take
 * subnormal numbers for 0 here.
 *
 * <p><b>Size.</b> That of a {@link FloatPanel} at most; and outside of the heap, for each thread, a copy of the widest
 * panel that it has added and {@code 1 MiB}. Not thread-safe; one owner.
 */
public final class BrainPanel {

    /** The largest value that is taken: {@code 1,024 * (2^58)^2 < 2^128}. */
    public static final float LARGEST = 0x1p58f;

    /** The smallest value but 0 that is taken. */
    public static final float SMALLEST = 0x1p-56f;

    /** Most rows that are multiplied at once: those of a panel. */
    static final int TOGETHER = 2 * FloatPanel.MOST_BATCHES * FloatPanel.ROWS;

    /** The largest integer whose products are exact: {@code 1,024 * 128^2 = 2^24}. */
    public static final int LARGEST_EXACT_INTEGER = 128;

    /** Rows of an array. */
    private static final int ROWS = 2 * FloatPanel.ROWS;

    /** Most rows of the moment that one core adds before it takes the next. */
    static final int BLOCK = 256;

    /** Most columns of the moment that are multiplied together: a block of them is half of a second-level cache. */
    private static final int GROUP = 1_024;

    private static final int STEP = BrainOrder.STEP;

    private static final byte[] ZEROS = new byte[Short.BYTES * STEP];

    /** Memory that a panel's rows are copied to: a library reads no array of Java's. */
    private static final ThreadLocal<ByteBuffer> OUTSIDE = ThreadLocal.withInitial(() -> ByteBuffer.allocate(0));

    private static final ThreadLocal<FloatBuffer> BLOCK_OF_PRODUCTS =
            ThreadLocal.withInitial(() -> aligned(Float.BYTES * BLOCK * GROUP).asFloatBuffer());

    /** A row of a block of products. */
    private static final ThreadLocal<float[]> ROW = ThreadLocal.withInitial(() -> new float[GROUP]);

    private final int dimension;
    private final int pitch;
    private final int blocks;
    private final int together;
    private final BrainProduct product;
    private final FloatRowOps loops;
    private final byte[][] batches;
    private int rows;

    private final SharedWork shared = new SharedWork(this::addPart);

    // What is being added, and to what.
    private double[] batchState = {};
    private int batchRows;
    private ByteBuffer outside = ByteBuffer.allocate(0);

    /** @param together most rows that are multiplied at once */
    BrainPanel(int dimension, int together, BrainProduct product, FloatRowOps loops) {
        this.dimension = dimension;
        this.together = together;
        this.product = product;
        this.loops = loops;
        pitch = (dimension + STEP - 1) / STEP * STEP;
        blocks = (pitch - 1) / BLOCK + 1;
        batches = new byte[capacity(dimension) / ROWS][0];
    }

    /** Rows a panel of this width holds. */
    public static int capacity(int dimension) {
        return 2 * FloatPanel.capacity(dimension);
    }

    /** The array that holds a row, which may be the next one; it is there from its first row on. */
    public byte[] array(int row) {
        byte[] array = batches[row / ROWS];
        if (array.length == 0) {
            array = new byte[Short.BYTES * dimension * ROWS];
            batches[row / ROWS] = array;
        }
        return array;
    }

    /** Returns where in {@link #array} a row begins. */
    public int index(int row) {
        return Short.BYTES * dimension * (row % ROWS);
    }

    /** Rows that are filled, and so the number of the next one. */
    public int rows() {
        return rows;
    }

    public boolean isFull() {
        return rows == capacity(dimension);
    }

    /** Says that row number {@link #rows} has been written. */
    public void rowWritten() {
        if (isFull()) {
            throw new IllegalStateException("a panel holds %d rows; drain it first".formatted(capacity(dimension)));
        }
        rows++;
    }

    /**
     * Adds the rows to {@code state}, which is {@code [ sum of rows (d) | packed lower triangle (d(d+1)/2) ]}, and
     * empties the panel.
     */
    public void drainTo(double[] state) {
        int count = rows;
        rows = 0;
        if (count > 0) {
            batchState = state;
            batchRows = count;
            outside = copied(count);
            double flops = (double) count * dimension * (dimension + 1);
            shared.each(1 + blocks, Cores.areWorthSharing(flops) ? Cores.threads() : 1);
        }
    }

    /** Copies the rows out of the heap, each filled up with zeros to {@link #pitch} numbers. */
    private ByteBuffer copied(int count) {
        int own = Short.BYTES * dimension;
        int bytes = Short.BYTES * pitch;
        ByteBuffer target = OUTSIDE.get();
        if (target.capacity() < capacity(dimension) * bytes) {
            target = aligned(capacity(dimension) * bytes);
            OUTSIDE.set(target);
        }
        for (int row = 0; row < count; row++) {
            target.put(row * bytes, array(row), index(row), own);
            target.put(row * bytes + own, ZEROS, 0, bytes - own);
        }
        return target;
    }

    /** Returns memory that begins with a line of the cache. */
    private static ByteBuffer aligned(int bytes) {
        int line = 64;
        return ByteBuffer.allocateDirect(bytes + line).alignedSlice(line).order(ByteOrder.nativeOrder());
    }

    private void addPart(int part) {
        if (part == 0) {
            for (int from = 0; from < batchRows; from += ROWS) {
                loops.addBrains(array(from), Math.min(ROWS, batchRows - from), batchState, dimension);
            }
            return;
        }
        int first = startOf(part - 1);
        int end = startOf(part);
        int middle = first + (end - first) / 2 / STEP * STEP;
        for (int from = 0; from < batchRows; from += together) {
            for (int column = 0; column < first; column += GROUP) {
                addBlock(from, first, end, column, Math.min(column + GROUP, first));
            }
            // A quarter of the square on the diagonal is above it, and left out.
            addBlock(from, first, middle, first, middle);
            addBlock(from, middle, end, first, end);
        }
    }

    /** Returns the first row of a block: as many as the others, in steps. */
    private int startOf(int block) {
        return (int) ((long) (pitch / STEP) * block / blocks) * STEP;
    }

    /** Adds columns {@code left} to {@code right - 1} of rows {@code first} to {@code end - 1}, but what is above. */
    private void addBlock(int from, int first, int end, int left, int right) {
        if (first == end) {
            return;
        }
        FloatBuffer products = BLOCK_OF_PRODUCTS.get();
        float[] row = ROW.get();
        int start = from * pitch;
        int width = right - left;
        int count = Math.min(together, batchRows - from);
        product.multiply(outside, pitch, count, start + first, end - first, start + left, width, products);
        for (int i = first; i < Math.min(end, dimension); i++) {
            int length = Math.min(i + 1 - left, width);
            products.get((i - first) * width, row, 0, length);
            loops.add(1.0, row, 0, batchState, dimension + (int) ((long) i * (i + 1) / 2) + left, length);
        }
    }
}
