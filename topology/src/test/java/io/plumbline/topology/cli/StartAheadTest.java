package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class StartAheadTest {

    @Test
    void everyClassThatItLoadsIsInTheLibrariesOfToday() {
        assertEquals(StartAhead.CLASSES.size(), StartAhead.load(StartAhead.CLASSES));
    }

    @Test
    void aClassThatIsNotThereIsLeftToWhoNeedsIt() {
        assertEquals(1, StartAhead.load(List.of("org.apache.kafka.Gone", "java.lang.String")));
    }
}
