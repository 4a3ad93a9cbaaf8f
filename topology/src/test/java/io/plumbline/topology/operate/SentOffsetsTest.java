package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.junit.jupiter.api.Test;

class SentOffsetsTest {

    @Test
    void remembersWhatASetWouldAlsoWhenItComesBackFromTheGroup() {
        for (long seed = 0; seed < 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            long beginning = random.nextInt(20);
            SentOffsets sent = SentOffsets.none(beginning);
            TreeSet<Long> truth = new TreeSet<>();
            for (int i = random.nextInt(60); i > 0; i--) {
                long from = beginning + random.nextInt(200);
                long to = from + 1 + random.nextInt(random.nextBoolean() ? 3 : 40);
                sent.add(from, to);
                for (long offset = from; offset < to; offset++) {
                    truth.add(offset);
                }
            }
            assertSame(seed, beginning, truth, sent);
            assertSame(seed, beginning, truth, SentOffsets.of(sent.committed()));
        }
    }

    private static void assertSame(long seed, long beginning, Set<Long> truth, SentOffsets sent) {
        for (long offset = beginning; offset < 260; offset++) {
            assertEquals(truth.contains(offset), sent.contains(offset), "seed %d, offset %d".formatted(seed, offset));
        }
        long below = beginning;
        while (truth.contains(below)) {
            below++;
        }
        assertEquals(below, sent.below(), "seed " + seed);
    }

    @Test
    void moreStretchesThanABrokerTakesAreRefusedWithWhatToDo() {
        SentOffsets sent = SentOffsets.none(0);
        for (long offset = 1; offset < 3_000; offset += 2) {
            sent.add(offset, offset + 1);
        }
        assertTrue(sent.committed().metadata().length() <= SentOffsets.LARGEST_METADATA);
        for (long offset = 3_001; offset < 6_000; offset += 2) {
            sent.add(offset, offset + 1);
        }
        IllegalStateException refused = assertThrows(IllegalStateException.class, sent::committed);
        assertTrue(refused.getMessage().contains("--offsets"), refused.getMessage());
    }

    @Test
    void metadataOfSomeoneElseIsRefused() {
        for (String foreign : new String[] {"no base64!", "gA==", "AAA=", "/////////////w=="}) {
            OffsetAndMetadata committed = new OffsetAndMetadata(7, foreign);
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> SentOffsets.of(committed), foreign);
            assertTrue(refused.getMessage().contains("name another --group"), refused.getMessage());
        }
    }
}
