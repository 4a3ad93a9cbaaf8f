package io.plumbline.topology.operate;

import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/**
 * Options that say where the Kafka cluster is: in the configuration file, which knows the login and the topics too, or
 * by address.
 */
final class ClusterOptions {

    @ArgGroup(multiplicity = "1")
    Where where;

    /** The two options; exactly one of them is given. */
    static final class Where {
        @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
        @Nullable
        Path config;

        @Option(
                names = "--bootstrap-servers",
                required = true,
                paramLabel = "HOST:PORT",
                description = "Where the Kafka cluster is, without a file; topics have their default names.")
        @Nullable
        String bootstrapServers;
    }

    @Option(
            names = "--kafka-property",
            paramLabel = "KEY=VALUE",
            description = "A property for the Kafka clients, such as security.protocol=SSL; it wins over the file's."
                    + " May be repeated.")
    Map<String, String> kafkaProperties = new TreeMap<>();

    /** Reads the file where one is named. */
    Cluster cluster() throws IOException {
        Path file = where.config;
        if (file != null) {
            return Cluster.of(MonitorConfig.load(file), kafkaProperties);
        }
        Map<String, String> client = new TreeMap<>(kafkaProperties);
        client.put("bootstrap.servers", String.valueOf(where.bootstrapServers));
        return Cluster.at(client);
    }
}
