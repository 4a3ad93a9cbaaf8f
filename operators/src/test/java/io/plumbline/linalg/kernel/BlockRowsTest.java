package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.parallel.Cores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockRowsTest {

    @AfterEach
    void asManyThreadsAsBefore() {
        System.clearProperty(Cores.PROPERTY);
    }

    @Test
    void narrowerRowsMakeBlocksOfMore() {
        System.setProperty(Cores.PROPERTY, "1");
        assertEquals(264, blockRows(768, 256), "all of them, in whole tiles");
        assertEquals(264, blockRows(2_048, 256));
        assertEquals(288, blockRows(2_048, 2_048 * 9));
        assertEquals(144, blockRows(4_096, 144 * 9));
        assertEquals(144, blockRows(8_192, 10_000));
        assertEquals(384, blockRows(16, 10_000));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void everyCoreHasAsManyBlocksAsTheOthers(int threads) {
        System.setProperty(Cores.PROPERTY, Integer.toString(threads));
        int cores = Cores.threads();
        for (int rows : new int[] {48, 200, 256, 1_000, 2_048, 5_000}) {
            int together = blockRows(768, rows);
            assertTrue(together >= 48 && together <= PackedFloatMatrix.BLOCK_ROWS, () -> rows + " rows: " + together);
            int blocks = (rows + together - 1) / together;
            int rounds = (blocks + cores - 1) / cores;
            // A block is rounded up to whole tiles of 24 rows, and has 48 at least.
            int busiest = rounds * together;
            assertTrue(busiest <= rows / cores + rounds * 48, () -> "%d rows: %d".formatted(rows, busiest));
        }
    }

    private static int blockRows(int m, int rows) {
        return UpdateKernels.plain().packFloats(Matrix.zeros(m, 1).view()).blockRows(rows);
    }
}
