package io.plumbline.linalg.kernel;

/**
 * The update by {@code jdk.incubator.vector}, in tiles of one shape.
 *
 * <p>That is a module which is there only where Java was started with {@code --add-modules}: so this class and those it
 * uses are named in a string only, see {@link UpdateKernels}.
 */
final class VectorKernel implements UpdateKernel {

    private final VectorTiles shape;

    /**
     * Makes the kernel in the shape that suits this machine.
     *
     * @throws UnsupportedOperationException if no shape does
     */
    VectorKernel() {
        this(VectorTiles.ofMachine());
    }

    VectorKernel(VectorTiles shape) {
        this.shape = shape;
    }

    @Override
    public String name() {
        return UpdateKernels.VECTOR;
    }

    @Override
    public FloatPanel floats(int dimension) {
        return new VectorFloatPanel(dimension, floatTiles());
    }

    @Override
    public DoublePanel doubles(int dimension, int capacity) {
        return new VectorDoublePanel(dimension, capacity, tiles());
    }

    @Override
    public PackedMatrix pack(MatrixView b) {
        return new VectorPackedMatrix(b, tiles());
    }

    @Override
    public PackedFloatMatrix packFloats(MatrixRows b) {
        return new VectorPackedFloatMatrix(b, floatTiles());
    }

    @Override
    public VectorTileKernel tiles() {
        return new VectorTileKernel(shape);
    }

    @Override
    public VectorFloatTileKernel floatTiles() {
        return new VectorFloatTileKernel(shape);
    }

    @Override
    public FloatRowOps floatRowOps() {
        return new VectorFloatRowOps();
    }

    @Override
    public String toString() {
        return UpdateKernels.VECTOR + ", " + shape;
    }
}
