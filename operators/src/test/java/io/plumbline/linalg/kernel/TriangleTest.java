package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests the squares at the diagonal of a moment, whose tiles may have another height than those beside it. */
class TriangleTest {

    private static final int WIDTH = FloatTileKernel.WIDTH;
    private static final int COUNT = 10;
    private static final float UNTOUCHED = 0.5f;

    @Test
    void aTriangleIsThatOfTheProductsAndNothingIsWrittenBehindItsSquare() {
        assumeTrue(UpdateKernelsTest.moduleIsThere());
        PanelTwinsTest.vectorKernels().forEach(TriangleTest::requireTriangle);
    }

    private static void requireTriangle(UpdateKernel kernel) {
        VectorFloatTileKernel tiles = ((VectorKernel) kernel).floatTiles();
        SplittableRandom random = new SplittableRandom(1);
        int[][] x = new int[COUNT][];
        Arrays.setAll(x, h -> random.ints(WIDTH, -50, 51).toArray());
        float[] left = new float[tiles.leftSize(COUNT) + WIDTH];
        float[] right = new float[WIDTH * COUNT];
        int stretch = tiles.stretch();
        for (int h = 0; h < COUNT; h++) {
            for (int j = 0; j < WIDTH; j++) {
                left[tiles.leftIndex(j, COUNT) + h * tiles.leftPitch()] = x[h][j];
                right[j / stretch * stretch * COUNT + h * stretch + j % stretch] = x[h][j];
            }
        }
        float[] after = new float[WIDTH * WIDTH + 8 * WIDTH];
        Arrays.fill(after, UNTOUCHED);
        tiles.lowerTriangle(left, 0, COUNT, right, 0, COUNT, COUNT, WIDTH, after, 0);
        for (int i = 0; i < WIDTH; i++) {
            for (int j = 0; j <= i; j++) {
                float sum = 0f;
                for (int[] row : x) {
                    sum += row[i] * row[j];
                }
                assertEquals(sum, after[i * WIDTH + j], kernel::toString);
            }
        }
        for (int k = WIDTH * WIDTH; k < after.length; k++) {
            assertEquals(UNTOUCHED, after[k], kernel::toString);
        }
    }
}
