package io.plumbline.topology;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A server of another project in a process of its own, which answers JSON on a port of loopback. */
public final class LoopbackProgram implements AutoCloseable {

    private final Process process;
    private final String address;
    private final HttpClient http = HttpClient.newHttpClient();

    private LoopbackProgram(Process process, int port) {
        this.process = process;
        this.address = "http://127.0.0.1:" + port;
    }

    /** Starts it in the folder, where its output goes too, and waits until {@code /-/ready} is answered. */
    public static LoopbackProgram start(Path folder, int port, String... command)
            throws IOException, InterruptedException {
        Path output = folder.resolve("output.txt");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        LoopbackProgram program = new LoopbackProgram(process, port);
        try {
            BrokerClient.awaitThat(() -> !process.isAlive() || program.isReady(), () -> "%s does not answer: %s"
                    .formatted(command[0], read(output)));
            if (!process.isAlive()) {
                throw new IllegalStateException("%s ended: %s".formatted(command[0], read(output)));
            }
            return program;
        } catch (IllegalStateException | AssertionError | InterruptedException e) {
            program.close();
            throw e;
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isReady() {
        try {
            return send(HttpRequest.newBuilder(URI.create(address + "/-/ready")).build())
                            .statusCode()
                    == 200;
        } catch (ConnectException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The answer to a GET. */
    public JsonNode get(String path, Map<String, String> parameters) throws IOException, InterruptedException {
        String query = parameters.entrySet().stream()
                .map(one -> encoded(one.getKey()) + "=" + encoded(one.getValue()))
                .collect(Collectors.joining("&"));
        return new ObjectMapper()
                .readTree(send(HttpRequest.newBuilder(URI.create(address + path + "?" + query))
                                .build())
                        .body());
    }

    /** Posts JSON; returns the status. */
    public int post(String path, String json) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(address + path))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json))
                        .build())
                .statusCode();
    }

    private HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        return http.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
