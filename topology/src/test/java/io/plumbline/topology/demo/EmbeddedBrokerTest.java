package io.plumbline.topology.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

class EmbeddedBrokerTest {

    /** Nobody holds a free port between two questions. */
    @Test
    void theControllerHasAPortOfItsOwnAlsoWhereTheSystemGivesOneTwice() {
        Iterator<Integer> free = List.of(4711, 4711, 4712).iterator();
        assertEquals(4712, EmbeddedBroker.otherThan(4711, free::next));
    }
}
