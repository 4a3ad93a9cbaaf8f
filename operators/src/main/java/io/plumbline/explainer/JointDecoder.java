package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import java.util.ArrayList;
import java.util.List;

/**
 * The decoders of several blocks of one explainer as one decoder, so that they are published and swapped together: its
 * rows are the features of the block that has most, its columns the targets of all blocks side by side.
 *
 * <pre>
 *              targets of block 0 | of block 1 | of block 2
 * layer 0            W_00         |    W_01    |    W_02
 * layer 1             0           |    W_11    |    W_12
 * layer 2             0           |     0      |    W_22
 * b_dec               b_0         |    b_1     |    b_2
 * </pre>
 *
 * <p>A block that reads the layers up to its own has the first features of those that read more. <b>Size:</b> for L
 * layers {@code 2 L / (L + 1)} times that of the blocks, since what is below the diagonal is 0. Immutable.
 */
public final class JointDecoder {

    private final List<Shape> blocks;
    private final int features;
    private final int dimension;

    /** The place of a block: the first rows, and columns of its own. */
    private record Shape(int features, int from, int dimension) {}

    private JointDecoder(List<Shape> blocks) {
        this.blocks = blocks;
        features = blocks.stream().mapToInt(Shape::features).max().orElseThrow();
        Shape last = blocks.get(blocks.size() - 1);
        dimension = last.from() + last.dimension();
    }

    /**
     * Returns the layout of blocks with decoders of these shapes.
     *
     * @param blocks at least one, in the order of their columns
     * @throws ArithmeticException where there are 2^31 columns or more
     */
    public static JointDecoder of(List<Decoder> blocks) {
        List<Shape> shapes = new ArrayList<>();
        int from = 0;
        for (Decoder block : blocks) {
            shapes.add(new Shape(block.features(), from, block.dimension()));
            from = Math.addExact(from, block.dimension());
        }
        return new JointDecoder(List.copyOf(shapes));
    }

    /** Returns the number of features of all blocks. */
    public int features() {
        return features;
    }

    /** Returns the number of columns of all blocks. */
    public int dimension() {
        return dimension;
    }

    /**
     * Returns the one decoder; that of a single block itself.
     *
     * @param decoders one for each block, of its shape
     * @throws IllegalArgumentException for others, and where there are 2^31 weights or more
     */
    public Decoder join(List<Decoder> decoders) {
        requireShapes(decoders);
        if (blocks.size() == 1) {
            return decoders.get(0);
        }
        if ((long) features * dimension > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(
                    "a decoder of %d features x %d columns of all targets has more than 2^31 weights"
                            .formatted(features, dimension));
        }
        double[] bias = new double[dimension];
        for (int i = 0; i < decoders.size(); i++) {
            System.arraycopy(
                    decoders.get(i).bias(),
                    0,
                    bias,
                    blocks.get(i).from(),
                    blocks.get(i).dimension());
        }
        boolean floats = decoders.stream().allMatch(block -> block.weights().areFloats());
        return new Decoder(floats ? floats(decoders) : doubles(decoders), bias);
    }

    private Weights floats(List<Decoder> decoders) {
        float[] values = new float[features * dimension];
        for (int i = 0; i < decoders.size(); i++) {
            Shape block = blocks.get(i);
            for (int row = 0; row < block.features(); row++) {
                for (int j = 0; j < block.dimension(); j++) {
                    values[row * dimension + block.from() + j] =
                            (float) decoders.get(i).weights().get(row, j);
                }
            }
        }
        return Weights.ofFloats(features, dimension, values);
    }

    private Weights doubles(List<Decoder> decoders) {
        Matrix values = Matrix.zeros(features, dimension);
        for (int i = 0; i < decoders.size(); i++) {
            Shape block = blocks.get(i);
            for (int row = 0; row < block.features(); row++) {
                decoders.get(i)
                        .weights()
                        .copyTo(
                                row * block.dimension(),
                                values.values(),
                                row * dimension + block.from(),
                                block.dimension());
            }
        }
        return Weights.of(values);
    }

    /**
     * Returns the decoder of each block; what lies outside the blocks is not looked at.
     *
     * @throws IllegalArgumentException where it is of another shape
     */
    public List<Decoder> split(Decoder joint) {
        if (joint.features() != features || joint.dimension() != dimension) {
            throw new IllegalArgumentException(
                    "%s: expected %d features x %d, the columns of all targets".formatted(joint, features, dimension));
        }
        if (blocks.size() == 1) {
            return List.of(joint);
        }
        List<Decoder> split = new ArrayList<>();
        for (Shape block : blocks) {
            double[] bias = new double[block.dimension()];
            System.arraycopy(joint.bias(), block.from(), bias, 0, bias.length);
            split.add(new Decoder(columns(joint.weights(), block), bias));
        }
        return split;
    }

    private Weights columns(Weights joint, Shape block) {
        if (!joint.areFloats()) {
            Matrix values = Matrix.zeros(block.features(), block.dimension());
            for (int row = 0; row < block.features(); row++) {
                joint.copyTo(
                        row * dimension + block.from(), values.values(), row * block.dimension(), block.dimension());
            }
            return Weights.of(values);
        }
        float[] values = new float[block.features() * block.dimension()];
        for (int row = 0; row < block.features(); row++) {
            for (int j = 0; j < block.dimension(); j++) {
                values[row * block.dimension() + j] = (float) joint.get(row, block.from() + j);
            }
        }
        return Weights.ofFloats(block.features(), block.dimension(), values);
    }

    private void requireShapes(List<Decoder> decoders) {
        boolean fit = decoders.size() == blocks.size();
        for (int i = 0; fit && i < blocks.size(); i++) {
            fit = decoders.get(i).features() == blocks.get(i).features()
                    && decoders.get(i).dimension() == blocks.get(i).dimension();
        }
        if (!fit) {
            throw new IllegalArgumentException("%s: expected a decoder of each block, %s".formatted(decoders, blocks));
        }
    }
}
