package io.plumbline.topology.emission;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.StreamPartitioner;

/** Keeps the chunks of a site in the partition of its manifest, where their order is that of writing. */
public final class DecoderPartitioner implements StreamPartitioner<byte[], byte[]> {

    // The other method, which knows the headers, calls this one, and this one is still abstract.
    @Override
    @SuppressWarnings("removal")
    public Optional<Set<Integer>> partitions(String topic, byte[] key, byte[] value, int partitions) {
        byte[] site = DecoderKey.parse(key).site().getBytes(StandardCharsets.UTF_8);
        return Optional.of(Set.of(Utils.toPositive(Utils.murmur2(site)) % partitions));
    }
}
