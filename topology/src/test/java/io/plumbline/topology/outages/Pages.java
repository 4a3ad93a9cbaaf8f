package io.plumbline.topology.outages;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Reads what a process answers over HTTP. */
public record Pages(HttpClient http, String address) {

    public Pages(InetSocketAddress address) {
        this(HttpClient.newHttpClient(), "http://127.0.0.1:" + address.getPort());
    }

    int status(String path) {
        return get(path).statusCode();
    }

    public String body(String path) {
        return get(path).body();
    }

    /** The value of one series on /metrics; NaN while it is not there. */
    public double value(String series) {
        return body("/metrics")
                .lines()
                .filter(line -> line.startsWith(series + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
                .findFirst()
                .orElse(Double.NaN);
    }

    private HttpResponse<String> get(String path) {
        try {
            return http.send(
                    HttpRequest.newBuilder(URI.create(address + path)).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
