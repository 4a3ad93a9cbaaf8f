package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.config.OtlpSettings;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WindowReports;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.kafka.shaded.io.opentelemetry.proto.common.v1.AnyValue;
import org.apache.kafka.shaded.io.opentelemetry.proto.logs.v1.LogRecord;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.Metric;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Holds a push to what it sends, and to what it does when nobody takes it. */
class OtlpPushTest {

    private static final Duration OFTEN = Duration.ofMillis(50);
    private static final Map<String, String> RESOURCE = OtlpPush.resource("lab", "host:1");
    private static final SeriesName FAILURES = new SeriesName("plumbline_otlp_failures_total", Map.of());

    private final Metrics metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(15), 256));
    private final Logger logger = (Logger) LoggerFactory.getLogger(OtlpPush.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void close() {
        logger.detachAppender(lines);
        logger.setLevel(null);
        metrics.close();
    }

    @Test
    void aPushNamesTheProcessAndCarriesTheHeaders() throws Exception {
        try (OtlpReceiver receiver = OtlpReceiver.start();
                OtlpPush push = push(receiver.endpoint())) {
            BrokerClient.awaitThat(() -> !receiver.pushes().isEmpty(), () -> "no push: " + push);
            OtlpReceiver.Push first = receiver.pushes().get(0);
            assertEquals("Bearer x", first.headers().getFirst("Authorization"));
            assertEquals("application/x-protobuf", first.headers().getFirst("Content-Type"));
            ResourceMetrics resource = first.data().getResourceMetrics(0);
            Map<String, String> attributes = new TreeMap<>();
            resource.getResource()
                    .getAttributesList()
                    .forEach(each ->
                            attributes.put(each.getKey(), each.getValue().getStringValue()));
            assertEquals("lab", attributes.get("service.name"));
            assertEquals("host:1", attributes.get("service.instance.id"));
            Metric failures = resource.getScopeMetrics(0).getMetricsList().stream()
                    .filter(metric -> metric.getName().equals(FAILURES.metric()))
                    .findFirst()
                    .orElseThrow();
            assertTrue(failures.getSum().getIsMonotonic());
            assertEquals("", failures.getUnit());
            long start = failures.getSum().getDataPoints(0).getStartTimeUnixNano();
            long now = failures.getSum().getDataPoints(0).getTimeUnixNano();
            assertTrue(0 < start && start < now, start + " to " + now);
            assertEquals(0.0, OtlpReceiver.series(first.data()).get(FAILURES));
        }
    }

    @Test
    void pushesThatARefusingReceiverDoesNotTakeAreCountedAndOneIsALine() throws Exception {
        try (OtlpReceiver receiver = OtlpReceiver.start()) {
            receiver.answerWith(503);
            try (OtlpPush push = push(receiver.endpoint())) {
                BrokerClient.awaitThat(() -> failures() >= 3, () -> "no failures: " + push);
                assertEquals(1, lines.list.size(), lines.list::toString);
                assertTrue(lines.list.get(0).getFormattedMessage().contains("HTTP 503"));
                receiver.answerWith(200);
                BrokerClient.awaitThat(() -> receiver.pushes().size() > 1, () -> "no push: " + push);
                assertEquals(
                        List.of(Level.WARN, Level.INFO),
                        lines.list.stream().map(ILoggingEvent::getLevel).toList());
                OtlpReceiver.Push last = receiver.pushes().get(1);
                assertEquals(failures(), OtlpReceiver.series(last.data()).get(FAILURES));
            }
        }
    }

    @Test
    void aReceiverThatNeverAnswersHoldsAPushForAWhileAndTheNextIsTried() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                OtlpPush push = push(Duration.ofMillis(200), URI.create("http://127.0.0.1:" + silent.getLocalPort()))) {
            BrokerClient.awaitThat(() -> failures() >= 2, () -> "no failures: " + push);
            assertTrue(lines.list.get(0).getFormattedMessage().contains("no answer within 200 ms"));
        }
    }

    @Test
    void aReceiverThatIsNotThereIsALineWithTheReason() throws Exception {
        int free;
        try (ServerSocket closed = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            free = closed.getLocalPort();
        }
        try (OtlpPush push = push(URI.create("http://127.0.0.1:" + free + "/?key=secret"))) {
            BrokerClient.awaitThat(() -> failures() >= 2, () -> "no failures: " + push);
            String line = lines.list.get(0).getFormattedMessage();
            assertTrue(line.contains("address=127.0.0.1:%d reason=".formatted(free)), line);
            assertTrue(line.contains("ConnectException") && !line.contains("secret"), line);
        }
    }

    @Test
    void verdictsAreEventsThatWaitForAReceiver() throws Exception {
        WindowReport report = WindowReports.of(WindowReports.distinctNumbers());
        try (OtlpReceiver receiver = OtlpReceiver.start()) {
            receiver.answerWith(503);
            OtlpSettings settings = new OtlpSettings(receiver.endpoint(), receiver.events(), OFTEN, Map.of());
            List<OtlpPush> started = new ArrayList<>();
            DriftListener events = metrics.events(settings, RESOURCE, started::add);
            try (OtlpPush push = started.get(0)) {
                events.onReport(report, 1);
                BrokerClient.awaitThat(() -> failures() >= 2, () -> "no failures: " + push);
                events.onReport(report, 1);
                receiver.answerWith(200);
                BrokerClient.awaitThat(() -> receiver.logs().size() == 2, () -> "events: " + receiver.logs());
                Thread.sleep(3 * OFTEN.toMillis());
            }
            assertEquals(2, receiver.logs().size(), "an event was sent twice");
            LogRecord event = receiver.logs().get(0);
            assertEquals(report.header().windowEndMs() * 1_000_000, event.getTimeUnixNano());
            Map<String, AnyValue> said = new TreeMap<>();
            event.getAttributesList().forEach(each -> said.put(each.getKey(), each.getValue()));
            assertEquals(
                    report.judged().triggerValue(),
                    Objects.requireNonNull(said.get("gen_ai.evaluation.score.value"))
                            .getDoubleValue());
            assertEquals(report.judged().trigger(), text(said, "gen_ai.evaluation.name"));
            assertEquals("drifted", text(said, "gen_ai.evaluation.score.label"));
            assertEquals("blocks.7", text(said, "plumbline.site"));
            assertEquals("ab".repeat(32), text(said, "plumbline.baseline.sha256"));
        }
    }

    @Test
    void eventsThatAReceiverWillNeverTakeDoNotHoldUpOthers() throws Exception {
        WindowReport report = WindowReports.of(WindowReports.distinctNumbers());
        try (OtlpReceiver receiver = OtlpReceiver.start()) {
            receiver.answerWith(400);
            OtlpSettings settings = new OtlpSettings(receiver.endpoint(), receiver.events(), OFTEN, Map.of());
            List<OtlpPush> started = new ArrayList<>();
            DriftListener events = metrics.events(settings, RESOURCE, started::add);
            events.onReport(report, 1);
            try (OtlpPush push = started.get(0)) {
                BrokerClient.awaitThat(() -> failures() >= 2, () -> "no failures: " + push);
                receiver.answerWith(200);
                events.onReport(report, 1);
                BrokerClient.awaitThat(() -> !receiver.logs().isEmpty(), () -> "no event: " + push);
            }
            assertEquals(1, receiver.logs().size());
            assertEquals(2.0, failures(), "the push that failed, and its event");
        }
    }

    @Test
    void everyEventThatWaitsIsSentAtOnceAndAtTheEnd() throws Exception {
        WindowReport report = WindowReports.of(WindowReports.distinctNumbers());
        try (OtlpReceiver receiver = OtlpReceiver.start()) {
            OtlpSettings settings =
                    new OtlpSettings(receiver.endpoint(), receiver.events(), Duration.ofHours(1), Map.of());
            List<OtlpPush> started = new ArrayList<>();
            DriftListener events = metrics.events(settings, RESOURCE, started::add);
            for (int window = 0; window < 250; window++) {
                events.onReport(report, 1);
            }
            started.get(0).close();
            assertEquals(250, receiver.logs().size());
            assertEquals(0.0, failures());
        }
    }

    @Test
    void ofEventsThatNoReceiverTakesTheOldestGoAndAreCounted() {
        OtlpEvents events = new OtlpEvents(RESOURCE, metrics::pushFailed);
        for (int window = 0; window < OtlpEvents.MOST + 3; window++) {
            events.onReport(WindowReports.of(WindowReports.distinctNumbers()), 1);
        }
        assertEquals(3.0, failures());
    }

    private static String text(Map<String, AnyValue> said, String key) {
        return Objects.requireNonNull(said.get(key), key).getStringValue();
    }

    private OtlpPush push(URI endpoint) {
        return push(Duration.ofSeconds(10), endpoint);
    }

    private OtlpPush push(Duration longest, URI endpoint) {
        OtlpSettings settings = new OtlpSettings(endpoint, null, OFTEN, Map.of("Authorization", "Bearer x"));
        return OtlpPush.start(longest, settings, RESOURCE, metrics);
    }

    private double failures() {
        return metrics.scrape().stream()
                .filter(snapshot -> snapshot.getMetadata().getPrometheusName().equals("plumbline_otlp_failures"))
                .map(snapshot -> (CounterSnapshot) snapshot)
                .mapToDouble(snapshot -> snapshot.getDataPoints().get(0).getValue())
                .sum();
    }
}
