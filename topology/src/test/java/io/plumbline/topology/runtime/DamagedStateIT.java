package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.broker.StartException;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a state folder in which one bit is not what was written. */
class DamagedStateIT {

    @TempDir
    private Path folder;

    @Test
    void aFlippedBitInTheStateIsASentenceThatSaysWhatToDo() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            new BrokerClient(broker.bootstrapServers()).createTopic("activations", 1, Map.of());
            Path site = folder.resolve("site");
            WatchedFolder.create(site, broker.bootstrapServers());
            Path file = site.resolve(WatchedFolder.FILE);
            Files.writeString(file, Files.readString(file).replace("store: memory", "store: rocksdb"));
            MonitorConfig config = MonitorConfig.load(file);
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                BrokerClient.awaitThat(() -> !files(config).isEmpty(), () -> "no store in " + config.stateDirectory());
                assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
            }
            for (Path current : files(config)) {
                byte[] bytes = Files.readAllBytes(current);
                bytes[3] ^= 1;
                Files.write(current, bytes);
            }
            StartException refused =
                    assertThrows(StartException.class, () -> PlumblineRuntime.start(config, Role.MONITOR));
            assertTrue(
                    String.valueOf(refused.getMessage())
                            .endsWith("; delete it, the state is read again from the change-logs"),
                    refused.getMessage());
        }
    }

    /** Returns the files that name what belongs to a store; none while files come and go. */
    private static List<Path> files(MonitorConfig config) {
        try (Stream<Path> all = Files.walk(config.stateDirectory())) {
            return all.filter(path -> path.endsWith("CURRENT")).toList();
        } catch (IOException | UncheckedIOException changedMeanwhile) {
            return List.of();
        }
    }
}
