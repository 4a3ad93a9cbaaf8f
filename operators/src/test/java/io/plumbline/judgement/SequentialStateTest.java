package io.plumbline.judgement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SequentialStateTest {

    private static SequentialState some() {
        double[] clean = new Random(1).doubles(20).toArray();
        SequentialDetector detector = SequentialDetector.ofRunLength(1_000).withTailModel();
        SequentialState state = SequentialState.INITIAL;
        for (int i = 0; i < 5; i++) {
            state = detector.next(state, new double[] {0.1 * i, 0.97}, clean, true)
                    .state();
        }
        return state;
    }

    @Test
    void stateSurvivesItsBytes() {
        SequentialState state = some();
        SequentialState read = SequentialState.decode(ByteBuffer.wrap(state.encode()));
        assertEquals(state, read);
        assertEquals(5, read.windows());
        assertEquals(10, read.values());
        assertNotEquals(SequentialState.INITIAL, read);
        assertEquals(
                SequentialState.INITIAL, SequentialState.decode(ByteBuffer.wrap(SequentialState.INITIAL.encode())));
    }

    @Test
    void bytesThatAreNoStateAreRefused() {
        byte[] bytes = some().encode();
        for (int cut = 0; cut < bytes.length; cut++) {
            ByteBuffer part = ByteBuffer.wrap(bytes, 0, cut);
            assertThrows(IllegalArgumentException.class, () -> SequentialState.decode(part));
        }
        // The first byte of: windows, values, a rank, how many are above it, evidence.
        for (int at : new int[] {4, 12, 23, 27, bytes.length - 8}) {
            byte[] broken = bytes.clone();
            broken[at] = (byte) 0xFF;
            assertThrows(
                    IllegalArgumentException.class,
                    () -> SequentialState.decode(ByteBuffer.wrap(broken)),
                    "byte " + at);
        }
    }
}
