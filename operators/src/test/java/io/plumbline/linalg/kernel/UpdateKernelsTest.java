package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.linalg.kernel.UpdateKernels.Choice;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the choice of a kernel; the build runs it with the vector module, with shorter vectors, and without the module.
 */
class UpdateKernelsTest {

    static final Duration LONG = Duration.ofMinutes(1);

    static boolean moduleIsThere() {
        return ModuleLayer.boot().findModule(UpdateKernels.MODULE).isPresent();
    }

    @Test
    void withTheModuleTheVectorKernelIsChosenBecauseItIsFaster() {
        assumeTrue(moduleIsThere());
        Choice choice = UpdateKernels.choose(null, UpdateKernels.VECTOR_KERNEL, LONG);
        assertEquals("vector", choice.kernel().name(), choice.reason());
        assertFalse(choice.lost());
        assertTrue(
                choice.reason().matches("vector, \\d+ bits.* GFLOP/s( against .* of plain)? in a trial"),
                choice.reason());
    }

    @Test
    void withoutTheModuleThePlainKernelIsChosenAndTheReasonSaysWhatIsLost() {
        assumeFalse(moduleIsThere());
        Choice choice = UpdateKernels.choose(null, UpdateKernels.VECTOR_KERNEL, LONG);
        assertEquals("plain", choice.kernel().name());
        assertTrue(choice.lost());
        assertTrue(choice.reason().contains("--add-modules jdk.incubator.vector"), choice.reason());
        assertTrue(choice.reason().contains("several times slower"), choice.reason());
    }

    @Test
    void aForcedVectorKernelThatCannotBeHadFailsWithTheRemedy() {
        assumeFalse(moduleIsThere());
        String message = refusal("vector", UpdateKernels.VECTOR_KERNEL);
        assertTrue(message.startsWith("-Dplumbline.kernel=vector: "), message);
        assertTrue(message.contains("--add-modules jdk.incubator.vector"), message);
    }

    @Test
    void aForcedKernelIsTakenWithoutATrial() {
        Choice plain = UpdateKernels.choose("plain", UpdateKernels.VECTOR_KERNEL, LONG);
        assertInstanceOf(PlainKernel.class, plain.kernel());
        assertFalse(plain.lost());
        assertEquals("-Dplumbline.kernel=plain asks for it", plain.reason());
        assumeTrue(moduleIsThere());
        Choice vector = UpdateKernels.choose("vector", UpdateKernels.VECTOR_KERNEL, LONG);
        assertEquals("vector", vector.kernel().name());
        assertEquals("-Dplumbline.kernel=vector asks for it", vector.reason());
    }

    @ParameterizedTest
    @ValueSource(strings = {"fast", "", "Vector", "native"})
    void anUnknownKernelIsRefused(String wish) {
        assertEquals(
                "-Dplumbline.kernel=" + wish + ": expected plain or vector, or nothing for the faster one",
                refusal(wish, UpdateKernels.VECTOR_KERNEL));
    }

    @Test
    void aKernelThatSumsWronglyIsNeverTaken() {
        Choice choice = UpdateKernels.choose(null, WrongKernel.class.getName(), LONG);
        assertEquals("plain", choice.kernel().name());
        assertTrue(choice.lost());
        assertTrue(choice.reason().contains("does not compute what the plain loops do"), choice.reason());
        assertTrue(refusal("vector", WrongKernel.class.getName()).contains("does not compute"));
    }

    @Test
    void aKernelThatIsNoFasterIsNotTaken() {
        Choice choice = UpdateKernels.choose(null, SlowKernel.class.getName(), Duration.ofSeconds(1));
        assertEquals("plain", choice.kernel().name());
        assertTrue(choice.reason().startsWith("the vector kernel is no faster here: "), choice.reason());
    }

    @Test
    void theShapeIsOneWhoseSumsTheRegistersHold() {
        assumeTrue(moduleIsThere());
        assertEquals(VectorTiles.SIX_BY_TWO, VectorTiles.of(256, "amd64"));
        assertEquals(VectorTiles.SIX_BY_THREE, VectorTiles.of(512, "amd64"));
        assertEquals(VectorTiles.SIX_BY_THREE, VectorTiles.of(512, "aarch64"));
        assertEquals(VectorTiles.THREE_BY_SIX, VectorTiles.of(128, "aarch64"));
        assertEquals(VectorTiles.THREE_BY_SIX, VectorTiles.of(256, "aarch64"));
        assertEquals(VectorTiles.THREE_BY_SIX, VectorTiles.of(128, "amd64"));
    }

    @Test
    void theKernelOfTheProcessIsChosenOnce() {
        assertEquals(UpdateKernels.chosen(), UpdateKernels.chosen());
        assertEquals(
                moduleIsThere() ? "vector" : "plain", UpdateKernels.kernel().name());
    }

    private static String refusal(String wish, String vectorKernel) {
        return String.valueOf(
                assertThrows(IllegalStateException.class, () -> UpdateKernels.choose(wish, vectorKernel, LONG))
                        .getMessage());
    }

    /** Forgets the last column. */
    static final class WrongKernel implements UpdateKernel {
        private final UpdateKernel plain = new PlainKernel();

        @Override
        public String name() {
            return "wrong";
        }

        @Override
        public FloatPanel floats(int dimension) {
            return plain.floats(dimension);
        }

        @Override
        public PackedMatrix pack(MatrixView b) {
            return plain.pack(b);
        }

        @Override
        public PackedFloatMatrix packFloats(MatrixRows b) {
            return plain.packFloats(b);
        }

        @Override
        public TileKernel tiles() {
            return plain.tiles();
        }

        @Override
        public FloatTileKernel floatTiles() {
            return plain.floatTiles();
        }

        @Override
        public FloatRowOps floatRowOps() {
            return plain.floatRowOps();
        }

        @Override
        public DoublePanel doubles(int dimension, int capacity) {
            return new DoublePanel(dimension, capacity, dimension) {
                private final double[] row = new double[dimension];

                @Override
                public double[] array(int number) {
                    return row;
                }

                @Override
                public int index(int number, int column) {
                    return column;
                }

                @Override
                void addProducts(double[] packed, int offset, int count) {}
            };
        }
    }

    /** A kernel of plain loops with a burden. */
    static final class SlowKernel implements UpdateKernel {
        private final UpdateKernel plain = new PlainKernel();

        @Override
        public String name() {
            return "slow";
        }

        @Override
        public FloatPanel floats(int dimension) {
            FloatPanel twin = plain.floats(dimension);
            return new FloatPanel(dimension, dimension) {
                @Override
                public float[] array(int row) {
                    return twin.array(row);
                }

                @Override
                public int index(int row, int column) {
                    return column;
                }

                @Override
                void addSums(double[] sums, int count) {
                    twin.addSums(sums, count);
                }

                @Override
                int parts() {
                    return twin.parts();
                }

                @Override
                void addProducts(double[] packed, int offset, int count, int part) {
                    double[] elsewhere = new double[packed.length];
                    twin.addProducts(elsewhere, offset, count, part);
                    twin.addProducts(elsewhere, offset, count, part);
                    twin.addProducts(packed, offset, count, part);
                }
            };
        }

        @Override
        public PackedMatrix pack(MatrixView b) {
            return plain.pack(b);
        }

        @Override
        public PackedFloatMatrix packFloats(MatrixRows b) {
            return plain.packFloats(b);
        }

        @Override
        public TileKernel tiles() {
            return plain.tiles();
        }

        @Override
        public FloatTileKernel floatTiles() {
            return plain.floatTiles();
        }

        @Override
        public FloatRowOps floatRowOps() {
            return plain.floatRowOps();
        }

        @Override
        public DoublePanel doubles(int dimension, int capacity) {
            return plain.doubles(dimension, capacity);
        }
    }
}
