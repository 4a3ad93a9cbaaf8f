package io.plumbline.topology.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class RepeatsTest {

    private static final TopicPartition REQUESTS = new TopicPartition("adaptation-requests", 0);

    private final Repeats repeats = new Repeats();

    @Test
    void readingOnIsNoRepeat() {
        hand(0, 1, 2, 7);
        assertEquals(0, repeats.at(REQUESTS, 0));
        assertTrue(repeats.reached(REQUESTS, 7));
        assertFalse(repeats.reached(REQUESTS, 8));
        assertFalse(repeats.reached(new TopicPartition("adaptation-requests", 1), 0));
    }

    @Test
    void theFirstRecordOfAllCanBeTheOneThatDoesNotPass() {
        hand(5, 5, 5);
        assertEquals(2, repeats.at(REQUESTS, 5));
    }

    /** Tests two parts that go through while their request at 12 does not: the turns begin at the committed 10. */
    @Test
    void turnsAreCountedWhereTheyBegin() {
        hand(8, 9, 10, 11, 12);
        hand(10, 11, 12);
        hand(10, 11, 12);
        hand(10, 11, 12);
        assertEquals(3, repeats.at(REQUESTS, 10));
        assertEquals(3, repeats.at(REQUESTS, 9), "a control record stood at the committed offset");
        assertEquals(0, repeats.at(REQUESTS, 11), "the offset moved");
    }

    @Test
    void progressBetweenTwoTurnsBeginsTheCountAnew() {
        hand(0, 1, 2);
        hand(1, 2);
        hand(1, 2, 3, 4);
        hand(3, 4);
        assertEquals(1, repeats.at(REQUESTS, 3));
    }

    private void hand(long... offsets) {
        for (long offset : offsets) {
            repeats.handed(REQUESTS.topic(), REQUESTS.partition(), offset);
        }
    }
}
