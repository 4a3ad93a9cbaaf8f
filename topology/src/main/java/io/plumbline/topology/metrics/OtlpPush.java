package io.plumbline.topology.metrics;

import io.plumbline.topology.config.OtlpSettings;
import io.plumbline.topology.config.ProgramVersion;
import io.plumbline.wire.Printable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pushes to a receiver of the OpenTelemetry protocol: HTTP, protocol buffers, gzip.
 *
 * <p>A push that fails is counted in {@code plumbline_otlp_failures_total} and goes no further: the next one, an
 * interval later, holds what {@code /metrics} shows then, or the events that wait still. The first failure of several
 * is a line of the log, and so is the first push that the receiver takes again.
 *
 * <p><b>Cost.</b> One daemon thread, the client's own, and one request in memory. A push ends after {@value
 * #LONGEST_SECONDS} s, whatever the receiver does; the last one, at the end, after {@value #LAST_SECONDS} s.
 */
public final class OtlpPush implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(OtlpPush.class);
    private static final int LONGEST_SECONDS = 10;
    private static final int LAST_SECONDS = 2;
    private static final int HTTP_OK = 200;

    /** The refusals after which the same may be taken later: too slow, too many. */
    private static final Set<Integer> LATER = Set.of(408, 429);

    /** Has something to push. */
    interface Source {

        /** Returns the bytes of a request; null where there is nothing to say. */
        byte @Nullable [] message();

        /** Hears that a receiver took the last message. */
        default void taken() {}

        /** Returns whether another message is there already. */
        default boolean isMoreThere() {
            return false;
        }

        /** Hears that nothing is pushed any more. */
        default void closing() {}

        /** Hears that a receiver will never take the last message. */
        default void refused() {}
    }

    private final Duration longest;
    private final URI endpoint;
    private final Map<String, String> headers;
    private final Source source;
    private final Metrics metrics;
    private final HttpClient client = HttpClient.newBuilder()
            .connectTimeout(Duration.ofSeconds(LONGEST_SECONDS))
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread pushing = new Thread(task, "otlp-push");
        pushing.setDaemon(true);
        return pushing;
    });
    private volatile boolean failing;

    private OtlpPush(Duration longest, URI endpoint, Map<String, String> headers, Source source, Metrics metrics) {
        this.longest = longest;
        this.endpoint = endpoint;
        this.headers = headers;
        this.source = source;
        this.metrics = metrics;
    }

    /** Pushes what {@code /metrics} shows from here on, first after an interval. */
    public static OtlpPush start(OtlpSettings settings, Map<String, String> resource, Metrics metrics) {
        return start(Duration.ofSeconds(LONGEST_SECONDS), settings, resource, metrics);
    }

    static OtlpPush start(Duration longest, OtlpSettings settings, Map<String, String> resource, Metrics metrics) {
        long startMs = ManagementFactory.getRuntimeMXBean().getStartTime();
        return start(
                longest,
                settings,
                settings.endpoint(),
                () -> OtlpRequest.of(metrics.scrape(), resource, startMs, System.currentTimeMillis()),
                metrics);
    }

    /** Pushes events from here on. */
    static OtlpPush start(OtlpSettings settings, URI events, OtlpEvents source, Metrics metrics) {
        return start(Duration.ofSeconds(LONGEST_SECONDS), settings, events, source, metrics);
    }

    private static OtlpPush start(
            Duration longest, OtlpSettings settings, URI endpoint, Source source, Metrics metrics) {
        OtlpPush push = new OtlpPush(longest, endpoint, settings.headers(), source, metrics);
        long every = settings.interval().toMillis();
        ScheduledFuture<?> unused = push.thread.scheduleWithFixedDelay(push::push, every, every, TimeUnit.MILLISECONDS);
        return push;
    }

    /**
     * Returns how a receiver knows this process.
     *
     * @param service the name of the installation, {@code job} in Prometheus
     * @param instance of this process, {@code instance} in Prometheus
     */
    public static Map<String, String> resource(String service, String instance) {
        return Map.of(
                "service.name", service,
                "service.instance.id", instance,
                "service.version", ProgramVersion.number());
    }

    /** Pushes message after message, until none is there or one is not taken. */
    private void push() {
        try {
            do {
                byte[] message = source.message();
                int status = message == null ? HTTP_OK : send(message);
                if (status / 100 != 2) {
                    if (status / 100 == 4 && !LATER.contains(status)) {
                        source.refused();
                    }
                    failed("HTTP " + status);
                    return;
                }
                source.taken();
                if (failing) {
                    failing = false;
                    log.info(
                            "the receiver of metrics takes pushes again: address={}",
                            Printable.value(endpoint.getAuthority()));
                }
            } while (source.isMoreThere());
        } catch (ExecutionException e) {
            failed(String.valueOf(e.getCause()));
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            failed("no answer within %d ms".formatted(longest.toMillis()));
        } catch (IOException | RuntimeException | LinkageError | StackOverflowError e) {
            // Whatever it is: a schedule ends with what its task throws, without a word.
            failed(e.toString());
        }
    }

    private int send(byte[] message) throws IOException, InterruptedException, ExecutionException, TimeoutException {
        HttpRequest.Builder request = HttpRequest.newBuilder(endpoint);
        headers.forEach(request::setHeader);
        request.setHeader("Content-Type", "application/x-protobuf")
                .setHeader("Content-Encoding", "gzip")
                .POST(HttpRequest.BodyPublishers.ofByteArray(zipped(message)));
        // The client's own limit ends with the headers of the answer, not with its body.
        CompletableFuture<HttpResponse<Void>> answer =
                client.sendAsync(request.build(), HttpResponse.BodyHandlers.discarding());
        try {
            return answer.get(longest.toMillis(), TimeUnit.MILLISECONDS).statusCode();
        } finally {
            answer.cancel(true);
        }
    }

    private static byte[] zipped(byte[] message) throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(zipped)) {
            zip.write(message);
        }
        return zipped.toByteArray();
    }

    private void failed(String reason) {
        metrics.pushFailed();
        if (!failing) {
            failing = true;
            log.warn(
                    "the receiver of metrics does not take a push, the stream goes on: address={} reason={}\n"
                            + "plumbline_otlp_failures_total counts the pushes that follow",
                    Printable.value(endpoint.getAuthority()),
                    Printable.value(reason));
        }
    }

    /** Leaves out path and query, which may hold a key. */
    @Override
    public String toString() {
        return "OtlpPush[%s]".formatted(endpoint.getAuthority());
    }

    /** Pushes once more, unless the last push failed. */
    @Override
    public void close() {
        if (!failing) {
            thread.execute(this::push);
        }
        thread.shutdown();
        try {
            if (!thread.awaitTermination(LAST_SECONDS, TimeUnit.SECONDS)) {
                thread.shutdownNow();
            }
        } catch (InterruptedException e) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
        source.closing();
    }
}
