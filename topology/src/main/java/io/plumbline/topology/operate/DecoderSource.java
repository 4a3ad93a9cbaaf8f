package io.plumbline.topology.operate;

import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.TrustedKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that say where the topic of decoders is, and whose decoders are taken. */
final class DecoderSource {

    @Mixin
    ClusterOptions options;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            description = "Default: what the configuration file calls it, otherwise decoders.")
    @Nullable
    String topic;

    @Option(
            names = "--key",
            split = ",",
            paramLabel = "FILE",
            description = "Public keys in PEM: one of them must have signed a decoder. Default: signatures are not"
                    + " checked.")
    List<Path> keys = List.of();

    /** Returns the keys that are asked for; null: none is. */
    @Nullable
    TrustedKeys trusted() {
        try {
            return keys.isEmpty() ? null : TrustedKeys.read(keys);
        } catch (IllegalArgumentException e) {
            throw new UsageException("--key = " + e.getMessage());
        }
    }

    /** Reads the topic as {@link #read}; what none of the keys signed is refused. */
    DecoderReading readSigned(DecoderSubscription subscription) throws IOException {
        TrustedKeys trusted = trusted();
        return read(trusted == null ? subscription : subscription.signedBy(trusted));
    }

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
