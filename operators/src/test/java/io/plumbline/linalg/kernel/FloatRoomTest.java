package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class FloatRoomTest {

    @Test
    void withTheRegionsOfTheLauncherRoomBeginsWithALineOfTheCache() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseG1GC",
                        "-XX:G1HeapRegionSize=8m",
                        "-XX:-UseCompressedOops",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FloatRoomAddresses.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD) // newer Javas warn of how an address is read
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        assertEquals(Collections.nCopies(7, "0"), said.lines().toList());
    }

    @Test
    void noPieceReachesIntoAnother() {
        List<FloatRoom> rooms = new ArrayList<>();
        // More than one slab, in lengths that are no whole lines, and too long for one.
        for (int length : new int[] {16_384, 99_999, 700_001, 1_000_003, 33_333, 2_000_000, 2_500_000, 100, 16_385}) {
            FloatRoom room = FloatRoom.piece(length);
            assertArrayEquals(new float[length], Arrays.copyOfRange(room.array(), room.start(), room.start() + length));
            Arrays.fill(room.array(), room.start(), room.start() + length, rooms.size() + 1f);
            rooms.add(room);
            for (int i = 0; i < rooms.size(); i++) {
                assertEquals(i + 1f, rooms.get(i).array()[rooms.get(i).start()]);
            }
            assertEquals(rooms.size(), room.array()[room.start() + length - 1]);
        }
    }

    @Test
    void whatIsKeptHoldsNoSlab() {
        FloatRoom piece = FloatRoom.piece(20_000);
        FloatRoom kept = FloatRoom.whole(20_000);
        assertNotSame(piece.array(), kept.array());
        assertTrue(kept.array().length < 20_000 + 16, "no more than it needs");
        assertEquals(100, FloatRoom.piece(100).array().length, "too short to matter");
    }
}
