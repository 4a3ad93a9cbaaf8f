package io.plumbline.topology.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Where a child kills itself with SIGKILL: the system property {@value #PROPERTY} is {@code point:n}, the n-th time it
 * passes the point. Points: {@code send-TOPIC}, before a record goes to a topic whose name ends so; {@code accumulated};
 * {@code window-closed}; {@code restore-STORE}, after a batch; {@code rebalancing}.
 */
final class KillPoint {

    static final String PROPERTY = "fault.kill";

    private static final String POINT;
    private static final long TURN;
    private static final AtomicLong PASSED = new AtomicLong();

    static {
        String spec = System.getProperty(PROPERTY, "");
        int colon = spec.lastIndexOf(':');
        POINT = colon < 0 ? "" : spec.substring(0, colon);
        TURN = colon < 0 ? 0 : Long.parseLong(spec.substring(colon + 1));
    }

    private KillPoint() {}

    static void passed(String point) {
        if (point.equals(POINT) && PASSED.incrementAndGet() == TURN) {
            killMyself();
        }
    }

    /** {@code kill -9}: no shutdown hook runs, no buffer is flushed, and this thread does not go on. */
    private static void killMyself() {
        try {
            new ProcessBuilder(
                            "kill", "-9", Long.toString(ProcessHandle.current().pid()))
                    .inheritIO()
                    .start();
            new CountDownLatch(1).await();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sees every record a producer is given, of sinks and change-logs alike. */
    public static final class Sends implements ProducerInterceptor<byte[], byte[]> {
        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            if (POINT.startsWith("send-") && record.topic().endsWith(POINT.substring("send-".length()))) {
                passed(POINT);
            }
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata metadata, Exception exception) {}

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }
}
