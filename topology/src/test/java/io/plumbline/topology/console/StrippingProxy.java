package io.plumbline.topology.console;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A reverse proxy that serves a page under a path of its own, takes that path away when it asks, names the user, and
 * has nothing at any other path.
 */
final class StrippingProxy implements AutoCloseable {

    private static final String PATH = "/plumbline";

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpClient client = HttpClient.newHttpClient();
    private final String behind;
    private final HttpServer server;

    private StrippingProxy(String behind) throws IOException {
        this.behind = behind;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext(PATH + "/", this::pass);
        server.start();
    }

    /** @param behind address of what is served, without a slash at its end */
    static StrippingProxy before(String behind) throws IOException {
        return new StrippingProxy(behind);
    }

    String address(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + PATH + path;
    }

    private void pass(HttpExchange exchange) throws IOException {
        String asked = exchange.getRequestURI().toString().substring(PATH.length());
        HttpRequest request = HttpRequest.newBuilder(URI.create(behind + asked))
                .header("X-Forwarded-User", "Ada Lovelace")
                .build();
        try (exchange) {
            HttpResponse<InputStream> answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            answer.headers().firstValue("Content-Type").ifPresent(type -> exchange.getResponseHeaders()
                    .set("Content-Type", type));
            exchange.sendResponseHeaders(answer.statusCode(), 0);
            try (InputStream body = answer.body()) {
                byte[] piece = new byte[4096];
                for (int read = body.read(piece); read >= 0; read = body.read(piece)) {
                    exchange.getResponseBody().write(piece, 0, read);
                    exchange.getResponseBody().flush();
                }
            }
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
