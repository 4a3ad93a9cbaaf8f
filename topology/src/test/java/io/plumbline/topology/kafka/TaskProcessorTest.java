package io.plumbline.topology.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedPunctuator;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.junit.jupiter.api.Test;

class TaskProcessorTest {

    private final List<String> heard = new ArrayList<>();
    private int lives;

    private final Processor<String, String, String, String> processor =
            TaskProcessor.<String, String, String, String>supplier(Set.of(), context -> new Counted(++lives))
                    .get();

    private final class Counted implements Task<String, String> {

        private final int life;

        Counted(int life) {
            this.life = life;
        }

        @Override
        public void process(Record<String, String> record) {
            heard.add(life + " " + record.value());
        }

        @Override
        public void close() {
            heard.add(life + " closed");
        }
    }

    @Test
    void aTaskThatComesBackBeginsWithNothingOfItsEarlierLife() {
        processor.init(new MockProcessorContext<>());
        processor.process(new Record<>("", "a", 0));
        processor.close();
        processor.init(new MockProcessorContext<>());
        processor.process(new Record<>("", "b", 0));
        processor.close();
        assertEquals(List.of("1 a", "1 closed", "2 b", "2 closed"), heard);
    }

    @Test
    void aProcessorClosedTwiceOrBeforeItBeganClosesEachTaskOnce() {
        processor.close();
        processor.init(new MockProcessorContext<>());
        processor.close();
        processor.close();
        assertEquals(List.of("1 closed"), heard);
    }

    @Test
    void aTaskThatEndedIsCalledByNoClock() {
        MockProcessorContext<String, String> context = new MockProcessorContext<>();
        Processor<String, String, String, String> scheduling = TaskProcessor.<String, String, String, String>supplier(
                        Set.of(), life -> {
                            life.schedule(Duration.ofSeconds(1), PunctuationType.WALL_CLOCK_TIME, wallMs -> {});
                            return new Counted(++lives);
                        })
                .get();
        scheduling.init(context);
        scheduling.close();
        scheduling.init(context);
        assertEquals(
                List.of(true, false),
                context.scheduledPunctuators().stream()
                        .map(CapturedPunctuator::cancelled)
                        .toList());
    }

    @Test
    void aRecordBeforeTheTaskBeganIsAMistake() {
        assertThrows(IllegalStateException.class, () -> processor.process(new Record<>("", "a", 0)));
    }
}
