package io.plumbline.topology.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class TopicReaderTest {

    private static final TopicPartition LEFT = new TopicPartition("reports", 0);
    private static final TopicPartition RIGHT = new TopicPartition("reports", 1);

    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
    private final TopicReader reader = new TopicReader(consumer, Duration.ofMinutes(1));

    @Test
    void itReadsWhatLayThereWhenItBeganAndNothingThatCameAfter() {
        assignEnding(Map.of(LEFT, 3L, RIGHT, 1L));
        List<Long> read = new ArrayList<>();
        assertEquals(2, reader.offsets(), "from 1 to 3 and from 1 to 1");
        consumer.schedulePollTask(() -> {
            for (long offset = 1; offset < 5; offset++) {
                add(LEFT, offset);
                add(RIGHT, offset);
            }
        });
        reader.toEnd("", record -> read.add(10L * record.partition() + record.offset()));
        assertEquals(List.of(1L, 2L), read);
        assertTrue(reader.isAtEnd());
    }

    @Test
    void anEndInTheMiddleStopsItThereAndALaterOneDoesNot() {
        assignEnding(Map.of(LEFT, 4L, RIGHT, 1L));
        reader.endAt(LEFT, 9);
        assertEquals(4L, reader.end().get(LEFT));
        reader.endAt(LEFT, 2);
        add(LEFT, 1);
        add(LEFT, 2);
        List<Long> read = new ArrayList<>();
        reader.toEnd("", record -> read.add(record.offset()));
        assertEquals(List.of(1L), read);
    }

    @Test
    void rewoundItBeginsWhereItWasToldToBegin() {
        assignEnding(Map.of(LEFT, 4L, RIGHT, 1L));
        reader.beginAt(LEFT, 2);
        add(LEFT, 2);
        add(LEFT, 3);
        reader.toEnd("", record -> {});
        assertTrue(reader.isAtEnd());
        reader.rewind();
        assertFalse(reader.isAtEnd());
        assertEquals(2, consumer.position(LEFT));
    }

    @Test
    void skippedToTheEndItWaitsForWhatIsToCome() {
        assignEnding(Map.of(LEFT, 4L, RIGHT, 1L));
        reader.skipToEnd();
        assertTrue(reader.isAtEnd());
        assertEquals(4, consumer.position(LEFT));
        add(LEFT, 4);
        assertEquals(1, reader.poll(Duration.ZERO).count());
    }

    @Test
    void anEndAskedForAgainIsAheadOnceMore() {
        assignEnding(Map.of(LEFT, 1L, RIGHT, 1L));
        assertTrue(reader.isAtEnd());
        consumer.updateEndOffsets(Map.of(LEFT, 2L));
        assertTrue(reader.isAtEnd());
        reader.renewEnd();
        assertFalse(reader.isAtEnd());
    }

    @Test
    void fullPartitionsArePausedAndTheOthersResumed() {
        assignEnding(Map.of(LEFT, 4L, RIGHT, 4L));
        reader.pauseOnly(Set.of(LEFT));
        reader.pauseOnly(Set.of(RIGHT));
        assertEquals(Set.of(RIGHT), consumer.paused());
        reader.rewind();
        assertEquals(Set.of(), consumer.paused());
    }

    @Test
    void aTopicThatGivesNothingEndsTheReadingWithWhatToDo() {
        TopicReader impatient = new TopicReader(consumer, Duration.ZERO);
        consumer.updateBeginningOffsets(Map.of(LEFT, 0L));
        consumer.updateEndOffsets(Map.of(LEFT, 1L));
        impatient.assign(List.of(LEFT));
        IllegalStateException silent =
                assertThrows(IllegalStateException.class, () -> impatient.toEnd("run it again", record -> {}));
        assertEquals("topic reports gave nothing for 0 s; run it again", silent.getMessage());
    }

    @Test
    void aTopicThatIsNotThereHasNoPartitions() {
        Node node = new Node(0, "broker", 1);
        consumer.updatePartitions("reports", List.of(new PartitionInfo("reports", 1, node, new Node[0], new Node[0])));
        assertEquals(List.of(RIGHT), reader.partitions("reports"));
        assertEquals(List.of(), reader.partitions("other"));
    }

    private void assignEnding(Map<TopicPartition, Long> ends) {
        consumer.updateBeginningOffsets(Map.of(LEFT, 1L, RIGHT, 1L));
        consumer.updateEndOffsets(ends);
        reader.assign(List.of(LEFT, RIGHT));
    }

    private void add(TopicPartition partition, long offset) {
        consumer.addRecord(
                new ConsumerRecord<>(partition.topic(), partition.partition(), offset, new byte[0], new byte[0]));
    }
}
