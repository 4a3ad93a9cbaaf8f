package io.plumbline.linalg;

/**
 * The update by {@code jdk.incubator.vector}, a module that is there only where Java was started with {@code --add-modules}: so
 * this class and those it uses are named in a string only, see {@link UpdateKernels}.
 */
final class VectorKernel implements UpdateKernel {

    VectorKernel() {}

    @Override
    public String name() {
        return UpdateKernels.VECTOR;
    }

    @Override
    public FloatPanel floats(int dimension) {
        return new VectorFloatPanel(dimension);
    }

    @Override
    public DoublePanel doubles(int dimension, int capacity) {
        return new VectorDoublePanel(dimension, capacity);
    }

    @Override
    public RightFactor rightFactor(Operand b) {
        return new VectorRightFactor(b);
    }

    @Override
    public FloatFactor floatFactor(Operand b) {
        return new VectorFloatFactor(b);
    }

    @Override
    public TileKernel tiles() {
        return new VectorTileKernel();
    }

    @Override
    public FloatTileKernel floatTiles() {
        return new VectorFloatTileKernel();
    }

    @Override
    public WideRows wideRows() {
        return new VectorWideRows();
    }

    @Override
    public String toString() {
        return UpdateKernels.VECTOR + ", " + VectorTiles.SHAPE;
    }
}
