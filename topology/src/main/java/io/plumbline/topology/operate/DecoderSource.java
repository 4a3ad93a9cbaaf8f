package io.plumbline.topology.operate;

import io.plumbline.topology.emission.DecoderSubscription;
import java.io.IOException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that say where the topic of decoders is. */
final class DecoderSource {

    @Mixin
    ClusterOptions options;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            description = "Default: what the configuration file calls it, otherwise decoders.")
    @Nullable
    String topic;

    /** Reads the topic; what is found is handed to the calling thread in order. */
    DecoderReading read(DecoderSubscription subscription) throws IOException {
        Cluster cluster = options.cluster();
        String decoders = topic == null ? cluster.topics().decoders() : topic;
        cluster.require(decoders);
        Properties client = new Properties();
        client.putAll(cluster.consumer());
        return new DecoderReading(client, decoders, subscription);
    }
}
