package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Tests what the watcher of the activations topic says when it is closed. */
class SourceWatcherIT {

    /** A look every three seconds, which waits for an answer as long again. */
    private static final Duration IDLE_CLOSE = Duration.ofSeconds(30);

    private static final long LOOKING_MS = 4_000;

    @TempDir
    private Path folder;

    @Test
    void aLookThatItsEndCutsShortIsNoNews() throws Exception {
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        said.start();
        Logger log = (Logger) LoggerFactory.getLogger(SourceWatcher.class);
        log.addAppender(said);
        try {
            SourceWatcher watcher;
            long began;
            try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
                new BrokerClient(broker.bootstrapServers()).createTopic("activations", 1, Map.of());
                watcher = SourceWatcher.start(
                        Map.of("bootstrap.servers", broker.bootstrapServers()),
                        "activations",
                        1,
                        "group",
                        IDLE_CLOSE,
                        (partition, lost) -> {},
                        remade -> {},
                        new PartitionTimes(1, IDLE_CLOSE, IDLE_CLOSE, IDLE_CLOSE, System::currentTimeMillis));
                began = System.nanoTime();
            }
            long left = LOOKING_MS - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
            boolean unused = new CountDownLatch(1).await(left, TimeUnit.MILLISECONDS);
            watcher.close();
        } finally {
            log.detachAppender(said);
        }
        assertEquals(
                List.of(),
                said.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
    }
}
