package io.plumbline.linalg.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import io.plumbline.linalg.kernel.BrainPanels;
import io.plumbline.linalg.kernel.BrainProduct;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** Tests the library of this machine, where it has one: MKL, or what {@code plumbline.kernel.library} names. */
class LibraryProductTest {

    private static BrainProduct product() {
        try {
            return ServiceLoader.load(BrainProduct.Finder.class)
                    .findFirst()
                    .orElseThrow()
                    .find();
        } catch (UnsupportedOperationException e) {
            return abort(e.getMessage());
        }
    }

    @Test
    void theBoundOfFloatsHoldsOnEveryShape() {
        BrainPanels.holdTheBoundOnEveryShape(BrainPanels.kernel(product()));
    }

    @Test
    void sumsOfIntegersAreExact() {
        BrainPanels.areExactOnIntegers(BrainPanels.kernel(product()), 545);
        BrainPanels.areExactOnIntegers(BrainPanels.kernel(product()), 1_101);
    }

    @Test
    void theSmallestAndTheLargestValuesAreTaken() {
        BrainPanels.takeWhatTheyClaimTo(BrainPanels.kernel(product()));
    }

    @Test
    void severalCoresGiveTheBitsOfOne() {
        BrainPanels.haveTheSameBitsOnAnyCores(BrainPanels.kernel(product()));
    }

    @Test
    void nothingIsReadOrWrittenBeyondItsPlace() {
        BrainProduct product = product();
        ByteBuffer numbers = ByteBuffer.allocateDirect(2 * 32 * 32);
        FloatBuffer c = ByteBuffer.allocateDirect(4 * 32 * 32)
                .order(ByteOrder.nativeOrder())
                .asFloatBuffer();
        product.multiply(numbers, 32, 32, 0, 32, 0, 32, c);
        for (int[] wrong : new int[][] {{33, 0, 32}, {32, 1, 32}, {32, 0, 33}, {32, -1, 32}}) {
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> product.multiply(numbers, 32, wrong[0], wrong[1], 32, 0, wrong[2], c));
        }
    }

    @Test
    void aLibraryThatIsNotThereIsRefusedWithWhatToInstall() {
        String message = refusal("/nowhere/libmkl_rt.so.3");
        if (message.startsWith("this processor ")) {
            abort(message);
        }
        assertEquals(
                "there is no library /nowhere/libmkl_rt.so.3 with a product of bfloat16 (cblas_gemm_bf16bf16f32,"
                        + " cblas_sbgemm); " + LibraryFinder.INSTALL,
                message);
    }

    @Test
    void aLibraryWithoutTheProductIsRefused() {
        String message = refusal("m");
        assertTrue(message.startsWith("this processor ") || message.startsWith("there is no library m "), message);
    }

    private static String refusal(String library) {
        String before = System.getProperty(LibraryFinder.PROPERTY);
        System.setProperty(LibraryFinder.PROPERTY, library);
        try {
            return String.valueOf(assertThrows(UnsupportedOperationException.class, () -> new LibraryFinder().find())
                    .getMessage());
        } finally {
            if (before == null) {
                System.clearProperty(LibraryFinder.PROPERTY);
            } else {
                System.setProperty(LibraryFinder.PROPERTY, before);
            }
        }
    }
}
