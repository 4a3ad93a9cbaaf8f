package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.broker.StartException;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what is refused before anything starts. No broker answers here: whoever asked it first would say so instead.
 */
class PlumblineRuntimeTest {

    @TempDir
    private Path folder;

    @Test
    void aPortInUseIsNamedBeforeTheBrokerIsAsked() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String sentence = refusal("", taken.getLocalPort());
            assertTrue(sentence.contains("http.port = " + taken.getLocalPort()), sentence);
            assertTrue(sentence.contains("nothing was started"), sentence);
        }
    }

    @Test
    void propertiesThatKafkaStreamsRefusesAreNamedBeforeTheBrokerIsAsked() {
        String sentence = refusal(", num.stream.threads: two", 0);
        assertTrue(sentence.contains("two for configuration num.stream.threads"), sentence);
    }

    private String refusal(String property, int port) {
        MonitorConfig config = MonitorConfig.parse("""
                kafka: {bootstrap.servers: "127.0.0.1:1"%s}
                http: {port: %d}
                sites:
                  layer.a: {explainer: sae, baseline: base.safetensors, rank: 2, threshold: 1.0}
                """.formatted(property, port), "unanswered.yaml", folder);
        return String.valueOf(
                assertThrows(StartException.class, () -> PlumblineRuntime.start(config, Map.of(), Role.ALL))
                        .getMessage());
    }
}
