package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Shell;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HealthCommandTest {

    private HttpServer server;
    private String address;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        address = "http://127.0.0.1:" + server.getAddress().getPort();
        answer("/healthz", 200, "ok\n");
        answer("/readyz", 503, "monitor: REBALANCING\n");
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void readyIsZeroAndAnythingElseIsAFailureWithItsSentence() {
        Shell alive = Shell.run("health", "--url", address + "/healthz");
        assertEquals("ok", alive.out().strip());
        assertEquals(ExitCodes.FINE, alive.exitCode());
        Shell starting = Shell.run("health", "--url", address + "/readyz");
        assertEquals("monitor: REBALANCING", starting.out().strip());
        assertEquals(ExitCodes.FAILURE, starting.exitCode());
    }

    @Test
    void nobodyThereIsAFailureAndNoAddressAMistake() {
        server.stop(0);
        Shell nobody = Shell.run("health", "--url", address + "/healthz");
        assertEquals(ExitCodes.FAILURE, nobody.exitCode());
        assertTrue(nobody.err().contains("no answer from " + address), nobody.err());
        assertEquals(ExitCodes.USAGE, Shell.run("health", "--url", "localhost").exitCode());
    }

    private void answer(String path, int status, String body) {
        server.createContext(path, exchange -> {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
    }
}
