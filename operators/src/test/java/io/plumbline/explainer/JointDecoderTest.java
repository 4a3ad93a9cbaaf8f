package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JointDecoderTest {

    private static final List<Decoder> BLOCKS = List.of(decoder(1, 4, 3, true), decoder(2, 8, 2, true));

    @Test
    void theColumnsOfAllTargetsStandSideBySideAndOtherFeaturesWriteNothing() {
        Decoder joint = JointDecoder.of(BLOCKS).join(BLOCKS);
        assertEquals(8, joint.features());
        assertEquals(5, joint.dimension());
        assertEquals(BLOCKS.get(0).weights().get(3, 2), joint.weights().get(3, 2));
        assertEquals(BLOCKS.get(1).weights().get(7, 1), joint.weights().get(7, 4));
        assertEquals(0.0, joint.weights().get(4, 0), "feature 4 is none of the first block");
        assertEquals(BLOCKS.get(1).bias()[0], joint.bias()[3]);
    }

    @Test
    void itReconstructsWhatTheBlocksReconstruct() {
        SparseCodes codes = new SparseCodes(1, 8, new int[] {0, 3}, new int[] {0, 2, 7}, new double[] {1.5, 2.0, 3.0});
        SparseCodes ofFirst = new SparseCodes(1, 4, new int[] {0, 2}, new int[] {0, 2}, new double[] {1.5, 2.0});
        double[] joint = JointDecoder.of(BLOCKS).join(BLOCKS).reconstruct(codes).values();
        double[] first = BLOCKS.get(0).reconstruct(ofFirst).values();
        double[] second = BLOCKS.get(1).reconstruct(codes).values();
        assertArrayEquals(new double[] {first[0], first[1], first[2], second[0], second[1]}, joint, 1e-12);
    }

    @Test
    void splittingGivesTheBlocksBackWhicheverTypeTheirWeightsHave() {
        assertEquals(
                BLOCKS, JointDecoder.of(BLOCKS).split(JointDecoder.of(BLOCKS).join(BLOCKS)));
        List<Decoder> mixed = List.of(BLOCKS.get(0), decoder(3, 8, 2, false));
        Decoder joint = JointDecoder.of(mixed).join(mixed);
        assertTrue(!joint.weights().areFloats());
        assertEquals(mixed, JointDecoder.of(mixed).split(joint));
    }

    @Test
    void theDecoderOfASingleBlockIsItself() {
        List<Decoder> one = BLOCKS.subList(0, 1);
        JointDecoder joint = JointDecoder.of(one);
        assertSame(one.get(0), joint.join(one));
        assertSame(one.get(0), joint.split(one.get(0)).get(0));
        assertThrows(IllegalArgumentException.class, () -> joint.split(BLOCKS.get(1)));
    }

    @Test
    void decodersOfOtherShapesAreRefused() {
        JointDecoder joint = JointDecoder.of(BLOCKS);
        assertThrows(IllegalArgumentException.class, () -> joint.join(BLOCKS.subList(0, 1)));
        assertThrows(IllegalArgumentException.class, () -> joint.join(List.of(BLOCKS.get(1), BLOCKS.get(0))));
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> joint.split(BLOCKS.get(1)))
                .getMessage());
        assertEquals("Decoder[8 features x 2]: expected 8 features x 5, the columns of all targets", message);
    }

    @Test
    void moreWeightsThanAnArrayHoldsAreRefused() {
        List<Decoder> blocks = List.of(decoder(1, 1 << 20, 1, true), decoder(2, 1, 2_047, true));
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> JointDecoder.of(blocks)
                        .join(blocks))
                .getMessage());
        assertEquals("a decoder of 1048576 features x 2048 columns of all targets has more than 2^31 weights", message);
    }

    private static Decoder decoder(long seed, int features, int dimension, boolean floats) {
        Random random = new Random(seed);
        Matrix weights = Matrix.zeros(features, dimension);
        for (int i = 0; i < weights.values().length; i++) {
            weights.values()[i] = floats ? (float) random.nextGaussian() : random.nextGaussian();
        }
        double[] bias = new double[dimension];
        for (int i = 0; i < dimension; i++) {
            bias[i] = (float) random.nextGaussian();
        }
        return new Decoder(weights, bias);
    }
}
