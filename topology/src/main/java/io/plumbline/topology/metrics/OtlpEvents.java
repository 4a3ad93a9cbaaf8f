package io.plumbline.topology.metrics;

import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.report.WindowReport;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the verdicts of windows until a receiver of the OpenTelemetry protocol has taken them: one log record a window,
 * an event {@code gen_ai.evaluation.result} as the conventions for generative AI name it. Thread-safe.
 *
 * <p>The evaluation is the statistic that decided, its score that value and its label the verdict; what evaluated is
 * the service of the resource with its version. What the conventions have no name for begins with {@code plumbline.}.
 */
final class OtlpEvents implements DriftListener, OtlpPush.Source {

    /** The most that wait for a receiver; when more come, the oldest go and are counted as a failed push. */
    static final int MOST = 1_000;

    /** The most of one push, some 100 KB. */
    private static final int AT_ONCE = 100;

    private static final String NAME = "gen_ai.evaluation.result";
    private static final int INFO = 9;
    private static final int WARN = 13;

    private final Map<String, String> resource;
    private final Runnable lost;
    private final Deque<ProtobufMessage> waiting = new ArrayDeque<>();
    private int sending;

    /** @param lost called for each event that goes unsent */
    OtlpEvents(Map<String, String> resource, Runnable lost) {
        this.resource = resource;
        this.lost = lost;
    }

    @Override
    public synchronized void onReport(WindowReport report, long nanoseconds) {
        if (waiting.size() >= MOST) {
            waiting.removeFirst();
            sending = Math.max(0, sending - 1);
            lost.run();
        }
        waiting.addLast(event(report, System.currentTimeMillis()));
    }

    private static ProtobufMessage event(WindowReport report, long nowMs) {
        WindowReport.Header header = report.header();
        WindowReport.Judged judged = report.judged();
        WindowReport.Baseline baseline = report.baseline();
        boolean drifted = "drifted".equals(judged.verdict().label());
        ProtobufMessage event = new ProtobufMessage()
                .fixed(1, TimeUnit.MILLISECONDS.toNanos(header.windowEndMs()))
                .put(2, drifted ? WARN : INFO)
                .put(3, drifted ? "WARN" : "INFO")
                .put(5, new ProtobufMessage().put(1, judged.reason()))
                .fixed(11, TimeUnit.MILLISECONDS.toNanos(nowMs))
                .put(12, NAME);
        put(event, "gen_ai.evaluation.name", judged.trigger());
        put(event, "gen_ai.evaluation.score.value", judged.triggerValue());
        put(event, "gen_ai.evaluation.score.label", judged.verdict().label());
        put(event, "gen_ai.evaluation.explanation", judged.reason());
        put(event, "plumbline.site", header.site());
        put(
                event,
                "plumbline.window.start",
                Instant.ofEpochMilli(header.windowStartMs()).toString());
        put(
                event,
                "plumbline.window.end",
                Instant.ofEpochMilli(header.windowEndMs()).toString());
        put(event, "plumbline.threshold", judged.threshold());
        put(event, "plumbline.decoder.version", Long.toString(report.inService().decoderVersion()));
        put(event, "plumbline.baseline.sha256", baseline.sha256());
        return event;
    }

    private static void put(ProtobufMessage event, String key, @Nullable String value) {
        if (value != null) {
            event.put(6, OtlpRequest.attribute(key, value));
        }
    }

    private static void put(ProtobufMessage event, String key, @Nullable Double value) {
        if (value != null) {
            event.put(6, new ProtobufMessage().put(1, key).put(2, new ProtobufMessage().put(4, value)));
        }
    }

    /** Returns the bytes of an {@code ExportLogsServiceRequest}; null where nothing waits. */
    @Override
    public synchronized byte @Nullable [] message() {
        sending = Math.min(AT_ONCE, waiting.size());
        if (sending == 0) {
            return null;
        }
        ProtobufMessage scope = new ProtobufMessage().put(1, new ProtobufMessage().put(1, "plumbline"));
        waiting.stream().limit(sending).forEach(event -> scope.put(2, event));
        return OtlpRequest.of(resource, scope);
    }

    @Override
    public synchronized void taken() {
        for (int sent = 0; sent < sending; sent++) {
            Objects.requireNonNull(waiting.pollFirst());
        }
        sending = 0;
    }

    @Override
    public synchronized boolean isMoreThere() {
        return !waiting.isEmpty();
    }

    @Override
    public synchronized void refused() {
        for (int gone = 0; gone < sending; gone++) {
            lost.run();
        }
        taken();
    }

    @Override
    public synchronized void closing() {
        waiting.forEach(event -> lost.run());
    }
}
