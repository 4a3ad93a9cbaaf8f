package io.plumbline.topology.windows;

import io.plumbline.topology.ingest.SiteId;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.StreamPartitioner;

/**
 * Keeps all blocks of a site with several targets in one partition, so that one task sees how all of them stand. Other
 * sites lie where Kafka's own partitioner puts them.
 */
public final class GroupPartitioner implements StreamPartitioner<byte[], byte[]> {

    // The other method, which knows the headers, calls this one, and this one is still abstract.
    @Override
    @SuppressWarnings("removal")
    public Optional<Set<Integer>> partitions(String topic, byte[] key, byte[] value, int partitions) {
        SiteId site = SiteId.parse(new String(key, StandardCharsets.UTF_8));
        byte[] together = site.isBlock() ? site.group().getBytes(StandardCharsets.UTF_8) : key;
        return Optional.of(Set.of(Utils.toPositive(Utils.murmur2(together)) % partitions));
    }
}
