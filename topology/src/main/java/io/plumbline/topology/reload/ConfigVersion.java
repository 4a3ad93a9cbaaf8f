package io.plumbline.topology.reload;

import io.plumbline.topology.report.Json;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A configuration that the instances of an application have agreed to go over to.
 *
 * @param schema of this record, 1
 * @param version one more than the offset of its record
 * @param sha256 of what it says of sites and models, and of the files that these name
 * @param fromMs event time: a window that begins then or later is judged by it
 * @param publishedMs when it was published, by the publisher's clock
 * @param publishedBy host that published it
 * @param topicMs when the first record of its topic came, by the broker: of a topic that was made anew, whose versions
 *     begin at 1 again, it is later
 * @param changes what it has otherwise than the one before, each as {@code key: before -> after}
 */
public record ConfigVersion(
        int schema,
        long version,
        String sha256,
        long fromMs,
        long publishedMs,
        String publishedBy,
        long topicMs,
        List<String> changes) {

    /** The schema that this program writes, and the newest that it reads. */
    static final int SCHEMA = 1;

    public ConfigVersion {
        if (schema < 1 || fromMs < 0 || !sha256.matches("[0-9a-f]{64}") || publishedBy.isBlank()) {
            throw new IllegalArgumentException(
                    "schema %d, hash \"%s\", from %d: not written by this program".formatted(schema, sha256, fromMs));
        }
        changes = List.copyOf(changes);
    }

    /** Returns this as the one by which a process has judged from its start. */
    ConfigVersion fromTheStart() {
        return new ConfigVersion(schema, version, sha256, 0, publishedMs, publishedBy, topicMs, changes);
    }

    /**
     * Returns what a record of the topic holds, with its number there.
     *
     * @param firstRecordMs when the first record of the topic came
     * @throws IllegalArgumentException when this program did not write it, or a newer one did
     */
    public static ConfigVersion of(ConsumerRecord<byte[], byte[]> record, long firstRecordMs) {
        ConfigVersion version = Json.read(record.value() == null ? new byte[0] : record.value(), ConfigVersion.class);
        if (version.schema() > SCHEMA) {
            throw new IllegalArgumentException("schema " + version.schema());
        }
        return version.at(record.offset(), firstRecordMs);
    }

    /** Returns this with the version that its record has on a topic. */
    ConfigVersion at(long offset, long firstRecordMs) {
        return new ConfigVersion(schema, offset + 1, sha256, fromMs, publishedMs, publishedBy, firstRecordMs, changes);
    }
}
