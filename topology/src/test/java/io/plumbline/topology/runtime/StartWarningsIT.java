package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Tests what the log says at the start of a process whose configuration is sound. */
class StartWarningsIT {

    @TempDir
    private Path folder;

    @Test
    void aStartWithASoundConfigurationWarnsOfNothing() throws Exception {
        try (EmbeddedBroker broker = startBroker()) {
            MonitorConfig config = WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
            List<String> warnings = warningsDuring(() -> {
                try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL)) {
                    BrokerClient.awaitThat(() -> isReady(runtime), () -> "not ready");
                }
            });
            assertEquals(List.of(), warnings);
        }
    }

    /** Tests tasks that move, which belong to nobody for one rebalance: Kafka's consumer warns of them. */
    @Test
    void aSecondInstanceThatTakesTasksOverWarnsOfNothing() throws Exception {
        try (EmbeddedBroker broker = startBroker()) {
            MonitorConfig first = WatchedFolder.create(folder.resolve("first"), broker.bootstrapServers());
            MonitorConfig second = WatchedFolder.create(folder.resolve("second"), broker.bootstrapServers());
            List<String> warnings = warningsDuring(() -> {
                try (PlumblineRuntime runtime = PlumblineRuntime.start(first, Role.MONITOR)) {
                    BrokerClient.awaitThat(() -> isReady(runtime), () -> "not ready");
                    try (PlumblineRuntime joining = PlumblineRuntime.start(second, Role.MONITOR)) {
                        BrokerClient.awaitThat(() -> isReady(joining), () -> "the second not ready");
                    }
                }
            });
            assertEquals(List.of(), warnings);
        }
    }

    private EmbeddedBroker startBroker() throws Exception {
        EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"));
        new BrokerClient(broker.bootstrapServers()).createTopic("activations", 1, Map.of("retention.ms", "-1"));
        return broker;
    }

    private interface Run {
        void run() throws Exception;
    }

    private static List<String> warningsDuring(Run run) throws Exception {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        // Not shown to users, who may write what it warns of; it must not have a reason to.
        context.getLogger("org.apache.kafka.streams.StreamsConfig").setLevel(Level.WARN);
        ListAppender<ILoggingEvent> warnings = new ListAppender<>();
        warnings.start();
        root.addAppender(warnings);
        try {
            run.run();
        } finally {
            root.detachAppender(warnings);
        }
        return List.copyOf(warnings.list).stream()
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    static boolean isReady(PlumblineRuntime runtime) {
        URI readyz = URI.create(
                "http://127.0.0.1:%d/readyz".formatted(runtime.httpAddress().getPort()));
        try {
            return HttpClient.newHttpClient()
                            .send(HttpRequest.newBuilder(readyz).build(), HttpResponse.BodyHandlers.discarding())
                            .statusCode()
                    == 200;
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
