package io.plumbline.records;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MomentTileTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 24, 360, 361, 768})
    void theTilesOfAStateAddUpToItInAnyOrder(int dimension) {
        double[] state = state(dimension);
        List<MomentTile> tiles = new ArrayList<>(MomentTile.cut(dimension, 9, state));
        assertEquals(MomentTile.tilesOf(dimension), tiles.size());
        Collections.shuffle(tiles, new Random(dimension));
        double[] sum = new double[state.length];
        for (MomentTile tile : tiles) {
            MomentTile read = MomentTile.decode(ByteBuffer.wrap(tile.encode()));
            assertEquals(9, read.rows());
            assertEquals(dimension, read.dimension());
            for (int i = 0; i < read.values().length; i++) {
                sum[read.offset() + i] += read.values()[i];
            }
        }
        assertArrayEquals(state, sum);
    }

    @ParameterizedTest
    @CsvSource({"360, 1", "768, 5", "2048, 33", "4096, 129"})
    void aStateHasTheDocumentedNumberOfTiles(int dimension, int tiles) {
        assertEquals(tiles, MomentTile.tilesOf(dimension));
    }

    @Test
    void noTileExceedsHalfOfADefaultRecord() {
        for (MomentTile tile : MomentTile.cut(768, 1, state(768))) {
            assertTrue(tile.encode().length <= 512 * 1024, "tile " + tile.index());
        }
    }

    @Test
    void laterChangesOfTheStateDoNotShowInItsTiles() {
        double[] state = state(3);
        MomentTile tile = MomentTile.cut(3, 1, state).get(0);
        double before = tile.values()[0];
        state[0] = 99;
        assertEquals(before, tile.values()[0]);
    }

    @Test
    void aTileIsReadFromWhereTheBufferStands() {
        byte[] tile = MomentTile.cut(2, 4, state(2)).get(0).encode();
        ByteBuffer framed = ByteBuffer.allocate(tile.length + 5).order(ByteOrder.BIG_ENDIAN);
        framed.position(5);
        framed.put(tile).position(5);
        assertArrayEquals(state(2), MomentTile.decode(framed).values());
    }

    @Test
    void everyPrefixAndEveryWrongFieldIsRefused() {
        byte[] good = MomentTile.cut(4, 6, state(4)).get(0).encode();
        for (int length = 0; length < good.length; length++) {
            assertRefused(Arrays.copyOf(good, length));
        }
        assertRefused(Arrays.copyOf(good, good.length + 8));
        assertRefused(with(good, 0, (byte) 2));
        assertRefused(with(good, 1, 0));
        assertRefused(with(good, 1, -4));
        assertRefused(with(good, 1, Integer.MAX_VALUE));
        assertRefused(with(good, 1, MomentTile.LARGEST_DIMENSION));
        assertRefused(with(good, 13, 1));
        assertRefused(with(good, 13, -1));
        assertRefused(with(good, 17, 2));
        byte[] negativeRows = good.clone();
        ByteBuffer.wrap(negativeRows).order(ByteOrder.LITTLE_ENDIAN).putLong(5, -1);
        assertRefused(negativeRows);
    }

    @Test
    void randomDamageIsReadOrRefusedByName() {
        byte[] good = MomentTile.cut(4, 6, state(4)).get(0).encode();
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = good.clone();
            for (int flips = 0; flips < 3; flips++) {
                bad[random.nextInt(25)] = (byte) random.nextInt(256);
            }
            try {
                MomentTile.decode(ByteBuffer.wrap(bad));
            } catch (IllegalArgumentException refused) {
                assertTrue(refused.getMessage().contains("moment tile")
                        || refused.getMessage().contains("dimension"));
            }
        }
    }

    @Test
    void aStateOfAnotherLengthIsNotCut() {
        assertThrows(IllegalArgumentException.class, () -> MomentTile.cut(4, 1, new double[3]));
        assertThrows(IllegalArgumentException.class, () -> MomentTile.stateLength(0));
        assertThrows(IllegalArgumentException.class, () -> MomentTile.stateLength(MomentTile.LARGEST_DIMENSION + 1));
    }

    private static void assertRefused(byte[] bytes) {
        assertThrows(IllegalArgumentException.class, () -> MomentTile.decode(ByteBuffer.wrap(bytes)));
    }

    private static byte[] with(byte[] good, int offset, int value) {
        byte[] bad = good.clone();
        ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN).putInt(offset, value);
        return bad;
    }

    private static byte[] with(byte[] good, int offset, byte value) {
        byte[] bad = good.clone();
        bad[offset] = value;
        return bad;
    }

    private static double[] state(int dimension) {
        double[] state = new double[MomentTile.stateLength(dimension)];
        for (int i = 0; i < state.length; i++) {
            state[i] = i + 1;
        }
        return state;
    }
}
