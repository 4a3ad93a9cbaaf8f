package io.plumbline.topology.console;

import io.plumbline.topology.config.HttpSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.http.MonitorServer;
import io.plumbline.topology.http.WebConfig;
import io.plumbline.topology.metrics.Metrics;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A console behind the real server, with nothing behind the console. */
final class ServedConsole implements AutoCloseable {

    private final Metrics metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(15), 16));
    private final HttpClient client = HttpClient.newHttpClient();
    private final Console console;
    private volatile @Nullable String complaint;
    private final MonitorServer server;

    private ServedConsole(MonitorConfig config, WebConfig web) throws IOException {
        console = Console.of(config, () -> Optional.ofNullable(complaint));
        server = MonitorServer.start(
                new HttpSettings(
                        "127.0.0.1",
                        0,
                        null,
                        List.of(),
                        null,
                        true,
                        config.http().basePath(),
                        config.http().forwardedUser()),
                web,
                metrics,
                Optional::empty,
                Optional::empty,
                console);
    }

    static ServedConsole start(MonitorConfig config) throws IOException {
        return new ServedConsole(config, WebConfig.NONE);
    }

    static ServedConsole start(MonitorConfig config, WebConfig web) throws IOException {
        return new ServedConsole(config, web);
    }

    /** Has {@code /readyz} complain; null: no more. */
    void complain(@Nullable String sentence) {
        complaint = sentence;
    }

    Console console() {
        return console;
    }

    String address(String path) {
        return "http://127.0.0.1:" + server.address().getPort() + path;
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(request(path).build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(address(path)));
    }

    HttpClient client() {
        return client;
    }

    @Override
    public void close() {
        server.close();
        console.close();
        metrics.close();
    }
}
