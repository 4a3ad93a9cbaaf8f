package io.plumbline.topology.operate;

import io.plumbline.topology.cli.UsageException;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.config.TopicConfig;

/** Finds settings of a topic under which recorded event times would be lost, or the records with them. */
final class EventTimeTraps {

    private EventTimeTraps() {}

    /**
     * Refuses such settings before anything is sent: a broker deletes records by event time, within minutes and without
     * a word to the sender.
     *
     * @param settings of the topic; what it does not tell is not refused
     * @param firstMs event time of the first record
     * @throws UsageException naming the setting and what to write instead
     */
    static void refuse(String topic, Map<String, String> settings, long firstMs, long nowMs) {
        String type = settings.getOrDefault(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "CreateTime");
        if (!type.equals("CreateTime")) {
            throw new UsageException(
                    ("topic %s has %s = %s, so the broker would replace the event times; set it to CreateTime, "
                                    + "or leave out --event-time-step; nothing was sent")
                            .formatted(topic, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, type));
        }
        long ageMs = nowMs - firstMs;
        refuseOlderThan(topic, TopicConfig.RETENTION_MS_CONFIG, settings, ageMs, "-1", "delete");
        refuseOlderThan(
                topic,
                TopicConfig.MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG,
                settings,
                ageMs,
                Long.toString(Long.MAX_VALUE),
                "refuse");
    }

    private static void refuseOlderThan(
            String topic, String key, Map<String, String> settings, long ageMs, String instead, String verb) {
        long limitMs = Long.parseLong(settings.getOrDefault(key, "-1"));
        if (limitMs >= 0 && ageMs > limitMs) {
            throw new UsageException(
                    ("topic %s has %s = %d, and the first record would be %s old: the broker would %s it; "
                                    + "set %s=%s on the topic, or give a later --start; nothing was sent")
                            .formatted(
                                    topic,
                                    key,
                                    limitMs,
                                    Duration.ofMillis(ageMs).truncatedTo(java.time.temporal.ChronoUnit.SECONDS),
                                    verb,
                                    key,
                                    instead));
        }
    }
}
