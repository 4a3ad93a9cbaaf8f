package io.plumbline.linalg.kernel;

/** Another kernel, but for rows of bfloat16: those are multiplied by a library of the machine. */
final class NativeKernel implements UpdateKernel {

    /** The fewest and the most rows of a result. */
    private static final int[] RESULTS = {BrainOrder.STEP, BrainPanel.BLOCK};

    private final UpdateKernel base;
    private final BrainProduct product;
    private final int together;

    NativeKernel(UpdateKernel base, BrainProduct product) {
        this(base, product, together(product));
    }

    NativeKernel(UpdateKernel base, BrainProduct product, int together) {
        this.base = base;
        this.product = product;
        this.together = together;
    }

    /** Returns how many rows may be multiplied at once, so that no entry errs more than in a {@link FloatPanel}. */
    private static int together(BrainProduct product) {
        for (int count = BrainPanel.TOGETHER; count > FloatPanel.ROWS; count /= 2) {
            int depth = 0;
            for (int m : RESULTS) {
                depth = Math.max(depth, BrainOrder.depth(product, count, m));
            }
            if (depth <= FloatPanel.ROWS) {
                return count;
            }
        }
        // So many additions at most, in any order.
        return FloatPanel.ROWS;
    }

    @Override
    public String name() {
        return UpdateKernels.NATIVE;
    }

    @Override
    public BrainPanel brains(int dimension) {
        return new BrainPanel(dimension, together, product, base.floatRowOps());
    }

    @Override
    public FloatPanel floats(int dimension) {
        return base.floats(dimension);
    }

    @Override
    public DoublePanel doubles(int dimension, int capacity) {
        return base.doubles(dimension, capacity);
    }

    @Override
    public PackedMatrix pack(MatrixView b) {
        return base.pack(b);
    }

    @Override
    public PackedFloatMatrix packFloats(MatrixRows b) {
        return base.packFloats(b);
    }

    @Override
    public TileKernel tiles() {
        return base.tiles();
    }

    @Override
    public FloatTileKernel floatTiles() {
        return base.floatTiles();
    }

    @Override
    public FloatRowOps floatRowOps() {
        return base.floatRowOps();
    }

    /** Says what the library does. */
    String library() {
        return "rows of BF16 are multiplied by %s, %d at once".formatted(product, together);
    }

    @Override
    public String toString() {
        return "%s; all others by %s".formatted(library(), base);
    }
}
