package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.plumbline.topology.BrokerClient;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

class StageTimersTest {

    private static final long FAST = 1_500_000;
    private static final long SLOW = 30_000_000;

    private final PrometheusRegistry prometheus = new PrometheusRegistry();
    private long nanos;
    private final StageTimers timers = new StageTimers(prometheus, new SimpleMeterRegistry(), () -> nanos);

    /** Waits a while: the library leaves an exemplar out that follows another within a tenth of a second. */
    @Test
    void ofRecordsWithTracesOneInAWhileIsAnExemplar() throws Exception {
        timers.read(FAST, null);
        timers.read(FAST, "no trace".getBytes(StandardCharsets.US_ASCII));
        timers.read(FAST, ExportedMetrics.traceparent());
        Thread.sleep(200);
        nanos = StageTimers.BETWEEN_TRACES - 1;
        timers.read(SLOW, ExportedMetrics.traceparent());
        assertEquals(List.of(FAST / 1e9), exemplars());
        BrokerClient.awaitThat(
                () -> {
                    nanos += StageTimers.BETWEEN_TRACES;
                    timers.read(SLOW, ExportedMetrics.traceparent());
                    return exemplars().equals(List.of(FAST / 1e9, SLOW / 1e9));
                },
                () -> exemplars().toString());
    }

    private List<Double> exemplars() {
        return prometheus.scrape().stream()
                .flatMap(family -> ((HistogramSnapshot) family).getDataPoints().stream())
                .flatMap(point -> StreamSupport.stream(point.getExemplars().spliterator(), false))
                .map(Exemplar::getValue)
                .toList();
    }
}
