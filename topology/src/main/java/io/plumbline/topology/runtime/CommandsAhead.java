package io.plumbline.topology.runtime;

import io.plumbline.topology.adaptation.WaitingCommands;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks through a partition of the requests for commands, with a reader of its own that commits nothing.
 *
 * <p><b>Cost:</b> every record is read at most once more than the adapter reads it anyway. A look ends after
 * {@value #LONGEST_SECONDS} s and the next goes on from there.
 */
final class CommandsAhead implements WaitingCommands {

    private static final Logger LOG = LoggerFactory.getLogger(CommandsAhead.class);
    private static final int LONGEST_SECONDS = 10;
    private static final Duration POLL = Duration.ofMillis(100);

    private final Map<String, String> kafka;
    private final Map<String, Object> reading;
    private final String topic;

    private CommandsAhead(Map<String, String> kafka, String group, String topic) {
        this.kafka = kafka;
        this.topic = topic;
        reading = Map.of(
                ConsumerConfig.GROUP_ID_CONFIG,
                group, // its committed offsets are read; nobody joins
                ConsumerConfig.GROUP_PROTOCOL_CONFIG,
                "classic",
                ConsumerConfig.CLIENT_ID_CONFIG,
                group + "-commands",
                ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
                LONGEST_SECONDS * 1000,
                ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG,
                LONGEST_SECONDS * 1000);
    }

    static CommandsAhead of(MonitorConfig config) {
        return new CommandsAhead(
                config.subscriberProperties(),
                config.adapterApplicationId(),
                config.topics().adaptationRequests());
    }

    @Override
    public Found after(int partition, long from) {
        TopicPartition place = new TopicPartition(topic, partition);
        try (TopicReader reader = TopicReader.open(kafka, reading)) {
            reader.assign(List.of(place));
            reader.beginAt(
                    place,
                    Math.max(
                            reader.begin().getOrDefault(place, 0L),
                            from == FROM_COMMITTED ? committed(reader, place) : from));
            List<Waiting> found = new ArrayList<>();
            long deadline =
                    System.nanoTime() + Duration.ofSeconds(LONGEST_SECONDS).toNanos();
            while (!reader.isAtEnd() && System.nanoTime() < deadline) {
                reader.poll(POLL).forEach(record -> take(record, found));
            }
            return new Found(found, reader.consumer().position(place));
        } catch (KafkaException unanswered) {
            LOG.warn(
                    "a partition could not be searched for commands, which are carried out when their records are "
                            + "reached: topic={} partition={} reason={}",
                    topic,
                    partition,
                    Printable.value(unanswered.getMessage()));
            return new Found(List.of(), from);
        }
    }

    private static long committed(TopicReader reader, TopicPartition place) {
        OffsetAndMetadata stored = reader.consumer().committed(Set.of(place)).get(place);
        return stored == null ? 0 : stored.offset();
    }

    private static void take(ConsumerRecord<byte[], byte[]> record, List<Waiting> found) {
        if (record.key() == null || record.value() == null) {
            return;
        }
        try {
            if (AdaptationMessage.decode(record.value()) instanceof AdaptationMessage.Command command) {
                String site = new String(record.key(), StandardCharsets.UTF_8);
                found.add(new Waiting(record.offset(), site, command, record.timestamp()));
            }
        } catch (IllegalArgumentException foreign) {
            LOG.debug(
                    "a record is no adaptation message and was passed over: topic={} partition={} offset={}",
                    record.topic(),
                    record.partition(),
                    record.offset());
        }
    }
}
