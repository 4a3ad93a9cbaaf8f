package io.plumbline.topology.broker;

import java.util.Map;

/**
 * Topics whose partitions may be read only so far ahead of each other.
 *
 * @param ahead how far, by topic
 */
public record HeldBackTopics(Map<String, ReadAhead> ahead) {

    public HeldBackTopics {
        ahead = Map.copyOf(ahead);
    }
}
