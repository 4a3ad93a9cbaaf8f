package io.plumbline.topology;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Takes what an on-call person's system would get of Alertmanager, on loopback. */
public final class Webhook implements AutoCloseable {

    private final HttpServer http;
    private final List<JsonNode> notices = new CopyOnWriteArrayList<>();

    private Webhook(HttpServer http) {
        this.http = http;
        http.createContext("/", exchange -> {
            try (exchange) {
                notices.add(new ObjectMapper().readTree(exchange.getRequestBody()));
                exchange.sendResponseHeaders(200, -1);
            }
        });
    }

    public static Webhook start() throws IOException {
        Webhook webhook = new Webhook(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
        webhook.http.start();
        return webhook;
    }

    public InetSocketAddress address() {
        return http.getAddress();
    }

    /** Returns every notification that came, in order. */
    public List<JsonNode> notices() {
        return List.copyOf(notices);
    }

    /** Returns every alert that came, in order, as often as it came. */
    public List<JsonNode> alerts() {
        List<JsonNode> alerts = new ArrayList<>();
        notices.forEach(notice -> notice.path("alerts").forEach(alerts::add));
        return alerts;
    }

    /** Returns the alerts of this name that are {@code firing} or {@code resolved}. */
    public List<JsonNode> alerts(String name, String status) {
        return alerts().stream()
                .filter(alert -> alert.at("/labels/alertname").asText().equals(name)
                        && alert.path("status").asText().equals(status))
                .toList();
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
