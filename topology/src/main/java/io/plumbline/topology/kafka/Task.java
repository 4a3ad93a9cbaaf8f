package io.plumbline.topology.kafka;

import org.apache.kafka.streams.processor.api.Record;

/**
 * The work of one processor in one life of a Kafka Streams task. One thread.
 *
 * @param <K> keys of the records read
 * @param <V> values of the records read
 */
public interface Task<K, V> {

    /** Works on one record. */
    void process(Record<K, V> record);

    /**
     * Ends this life of the task: what it showed on this instance must not stay. What it scheduled has been ended
     * before.
     */
    default void close() {}
}
