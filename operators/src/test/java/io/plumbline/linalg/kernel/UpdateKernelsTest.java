package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.linalg.kernel.UpdateKernels.Choice;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the choice of a kernel; the build runs it with the vector module, with shorter vectors, and without the module.
 */
class UpdateKernelsTest {

    static boolean moduleIsThere() {
        return ModuleLayer.boot().findModule(UpdateKernels.MODULE).isPresent();
    }

    @Test
    void withTheModuleTheVectorKernelIsChosen() {
        assumeTrue(moduleIsThere());
        Choice choice = UpdateKernels.choose(null);
        assertEquals("vector", choice.kernel().name(), choice.reason());
        assertFalse(choice.lost());
        assertTrue(choice.reason().matches("vector, \\d+ bits, tiles of \\d by \\d vectors"), choice.reason());
    }

    @Test
    void withoutTheModuleThePlainKernelIsChosenAndTheReasonSaysWhatIsLost() {
        assumeFalse(moduleIsThere());
        Choice choice = UpdateKernels.choose(null);
        assertEquals("plain", choice.kernel().name());
        assertTrue(choice.lost());
        assertTrue(choice.reason().contains("--add-modules jdk.incubator.vector"), choice.reason());
        assertTrue(choice.reason().contains("several times slower"), choice.reason());
    }

    @Test
    void aForcedVectorKernelThatCannotBeHadFailsWithTheRemedy() {
        assumeFalse(moduleIsThere());
        String message = refusal("vector");
        assertTrue(message.startsWith("-Dplumbline.kernel=vector: "), message);
        assertTrue(message.contains("--add-modules jdk.incubator.vector"), message);
    }

    @Test
    void aForcedKernelIsTaken() {
        Choice plain = UpdateKernels.choose("plain");
        assertInstanceOf(PlainKernel.class, plain.kernel());
        assertFalse(plain.lost());
        assertEquals("-Dplumbline.kernel=plain asks for it", plain.reason());
        assumeTrue(moduleIsThere());
        Choice vector = UpdateKernels.choose("vector");
        assertEquals("vector", vector.kernel().name());
        assertEquals("-Dplumbline.kernel=vector asks for it", vector.reason());
    }

    @ParameterizedTest
    @ValueSource(strings = {"fast", "", "Vector", "Native"})
    void anUnknownKernelIsRefused(String wish) {
        assertEquals(
                "-Dplumbline.kernel=" + wish
                        + ": expected plain, vector or native, or nothing for what suits the processor",
                refusal(wish));
    }

    @Test
    void aLibraryIsRefusedWhereNothingCallsIt() {
        assumeTrue(ServiceLoader.load(BrainProduct.Finder.class).findFirst().isEmpty());
        assertEquals(
                "-Dplumbline.kernel=native: plumbline-native and JNA are not on the class path, where the launcher puts"
                        + " them",
                refusal("native"));
    }

    @Test
    void nobodySpeaksOfALibraryThatNobodyAskedFor() {
        assertEquals(Optional.empty(), UpdateKernels.library());
    }

    @Test
    void theShapeIsOneWhoseSumsTheRegistersHold() {
        assumeTrue(moduleIsThere());
        assertEquals(VectorTiles.SIX_BY_TWO, VectorTiles.of(256, "amd64"));
        assertEquals(VectorTiles.SIX_BY_THREE, VectorTiles.of(512, "amd64"));
        assertEquals(VectorTiles.SIX_BY_THREE, VectorTiles.of(512, "aarch64"));
        assertEquals(VectorTiles.THREE_BY_SIX, VectorTiles.of(128, "aarch64"));
        assertEquals(VectorTiles.THREE_BY_SIX, VectorTiles.of(256, "aarch64"));
    }

    @ParameterizedTest
    @CsvSource({"128, amd64", "64, amd64", "64, aarch64", "1024, aarch64"})
    void whereVectorsAreTooShortOrTooLongThereIsNoVectorKernel(int bits, String architecture) {
        assumeTrue(moduleIsThere());
        String message = String.valueOf(
                assertThrows(UnsupportedOperationException.class, () -> VectorTiles.of(bits, architecture))
                        .getMessage());
        assertEquals("vectors of %d bits on %s".formatted(bits, architecture), message);
    }

    @Test
    void theKernelOfTheProcessIsChosenOnce() {
        assertEquals(UpdateKernels.chosen(), UpdateKernels.chosen());
        assertEquals(
                moduleIsThere() ? "vector" : "plain", UpdateKernels.kernel().name());
    }

    private static String refusal(String wish) {
        return String.valueOf(assertThrows(IllegalStateException.class, () -> UpdateKernels.choose(wish))
                .getMessage());
    }
}
