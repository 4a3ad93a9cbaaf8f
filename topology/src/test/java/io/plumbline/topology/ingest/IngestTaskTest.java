package io.plumbline.topology.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.moments.RowMask;
import io.plumbline.topology.ActivationRecords;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IngestTaskTest {

    private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    private static final int WIDTH = 3;
    private static final long NOW = 1_700_000_000_000L;

    private final List<String> heard = new ArrayList<>();

    private final IngestListener listener = new IngestListener() {
        @Override
        public void onRead(long nanoseconds, byte @Nullable [] traceparent) {
            heard.add(traceparent == null ? "none" : new String(traceparent, StandardCharsets.UTF_8));
        }
    };

    @Test
    void theTraceOfARecordIsToldOnceItIsAccepted() {
        MockProcessorContext<Object, Object> context = new MockProcessorContext<>();
        context.setRecordMetadata("activations", 0, 0);
        context.setCurrentSystemTimeMs(NOW);
        Processor<byte[], byte[], Object, Object> ingest = IngestTask.supplier(
                        Map.of("mlp.3", new SiteShape("mlp.3", WIDTH, WIDTH, false, RowMask.NONE)),
                        Limits.DEFAULT,
                        listener,
                        "accepted",
                        new RefusedRecords("letters", 1_000_000, listener))
                .get();
        ingest.init(context);
        byte[] good = ActivationRecords.blob(ActivationRecords.integerRows(1, 4, WIDTH));
        byte[] tooWide = ActivationRecords.blob(ActivationRecords.integerRows(2, 4, WIDTH + 1));
        ingest.process(record(tooWide, TRACE));
        ingest.process(record(good, null));
        ingest.process(record(good, TRACE));
        assertEquals(List.of("none", "none", TRACE), heard);
        assertEquals(1, context.forwarded("letters").size());
    }

    private static Record<byte[], byte[]> record(byte[] value, @Nullable String traceparent) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("site", "mlp.3".getBytes(StandardCharsets.UTF_8));
        if (traceparent != null) {
            headers.add("traceparent", traceparent.getBytes(StandardCharsets.UTF_8));
        }
        return new Record<>(new byte[0], value, NOW, headers);
    }
}
