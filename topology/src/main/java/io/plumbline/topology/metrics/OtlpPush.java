package io.plumbline.topology.metrics;

import io.plumbline.topology.config.OtlpSettings;
import io.plumbline.topology.config.ProgramVersion;
import io.plumbline.wire.Printable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pushes what {@code /metrics} shows to a receiver of the OpenTelemetry protocol: HTTP, protocol buffers, gzip.
 *
 * <p>A push that fails is counted in {@code plumbline_otlp_failures_total} and goes no further: the next one, an
 * interval later, holds everything anew, so nothing is kept for a receiver that is away. The first failure of several
 * is a line of the log, and so is the first push that the receiver takes again.
 *
 * <p><b>Cost.</b> One daemon thread, the client's own, and one request in memory. A push ends after {@value
 * #LONGEST_SECONDS} s, whatever the receiver does.
 */
public final class OtlpPush implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(OtlpPush.class);
    private static final int LONGEST_SECONDS = 10;

    private final Duration longest;
    private final OtlpSettings settings;
    private final Map<String, String> resource;
    private final Metrics metrics;
    private final long startMs = ManagementFactory.getRuntimeMXBean().getStartTime();
    private final HttpClient client = HttpClient.newBuilder()
            .connectTimeout(Duration.ofSeconds(LONGEST_SECONDS))
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread pushing = new Thread(task, "otlp-push");
        pushing.setDaemon(true);
        return pushing;
    });
    private boolean failing;

    private OtlpPush(Duration longest, OtlpSettings settings, Map<String, String> resource, Metrics metrics) {
        this.longest = longest;
        this.settings = settings;
        this.resource = resource;
        this.metrics = metrics;
    }

    /**
     * Pushes from here on, first after an interval.
     *
     * @param service the name of the installation, {@code job} in Prometheus
     * @param instance of this process, {@code instance} in Prometheus
     */
    public static OtlpPush start(OtlpSettings settings, String service, String instance, Metrics metrics) {
        return start(Duration.ofSeconds(LONGEST_SECONDS), settings, service, instance, metrics);
    }

    static OtlpPush start(Duration longest, OtlpSettings settings, String service, String instance, Metrics metrics) {
        Map<String, String> resource = Map.of(
                "service.name", service,
                "service.instance.id", instance,
                "service.version", ProgramVersion.number());
        OtlpPush push = new OtlpPush(longest, settings, resource, metrics);
        long every = settings.interval().toMillis();
        ScheduledFuture<?> unused = push.thread.scheduleWithFixedDelay(push::push, every, every, TimeUnit.MILLISECONDS);
        return push;
    }

    private void push() {
        try {
            int status = send(OtlpRequest.of(metrics.scrape(), resource, startMs, System.currentTimeMillis()));
            if (status / 100 != 2) {
                failed("HTTP " + status);
            } else if (failing) {
                failing = false;
                log.info(
                        "the receiver of metrics takes pushes again: address={}",
                        Printable.value(settings.endpoint().getAuthority()));
            }
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
        HttpRequest.Builder request = HttpRequest.newBuilder(settings.endpoint());
        settings.headers().forEach(request::setHeader);
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
                    Printable.value(settings.endpoint().getAuthority()),
                    Printable.value(reason));
        }
    }

    /** Leaves out path and query, which may hold a key. */
    @Override
    public String toString() {
        return "OtlpPush[%s]".formatted(settings.endpoint().getAuthority());
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
