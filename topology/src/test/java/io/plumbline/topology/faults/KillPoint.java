package io.plumbline.topology.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.NetworkException;

/**
 * Decides where and what befalls a child: the system property {@value #PROPERTY} is {@code point:n:what}, the n-th time
 * the child passes the point.
 *
 * <p>Points: {@code send-TOPIC}, before a record goes to a topic whose name ends so; {@code accumulated}; {@code
 * print}; {@code restore-STORE}, after a batch; {@code rebalancing}, after it ran. What: see {@link Fault}.
 */
public final class KillPoint {

    public static final String PROPERTY = "fault.point";

    /** The property under which no passing counts before the parent says so, see {@link ChildJvm#arm}. */
    public static final String WAITS = "fault.waits";

    /** The length of a stall, longer than {@code max.poll.interval.ms} of a case that stalls. */
    private static final long STALL_SECONDS = 12;

    /** The faults that can befall a child. */
    public enum Fault {
        /** The child kills itself by SIGKILL. */
        KILL,
        /** The thread stands still for {@value #STALL_SECONDS} s, all others go on. */
        STALL,
        /** An exception is thrown of the kind for which a lost thread is replaced. */
        LOSE_THREAD;

        /** The property that lets it happen. */
        public String at(String point, int turn) {
            return "%s=%s:%d:%s".formatted(PROPERTY, point, turn, name());
        }
    }

    private record Plan(String point, long turn, Fault fault) {
        static Plan parse(String text) {
            String[] parts = text.split(":", -1);
            return parts.length == 3
                    ? new Plan(parts[0], Long.parseLong(parts[1]), Fault.valueOf(parts[2]))
                    : new Plan("", 0, Fault.KILL);
        }
    }

    private static final Plan PLAN = Plan.parse(System.getProperty(PROPERTY, ""));
    private static final AtomicLong PASSED = new AtomicLong();
    private static volatile boolean armed = System.getProperty(WAITS) == null;

    static {
        if (!armed) {
            Thread thread = new Thread(KillPoint::awaitTheParent, "arm");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private KillPoint() {}

    private static void awaitTheParent() {
        try {
            armed = System.in.read() >= 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void passed(String point) {
        if (!armed || !point.equals(PLAN.point()) || PASSED.incrementAndGet() != PLAN.turn()) {
            return;
        }
        FaultedMonitor.tell("%s at %s".formatted(PLAN.fault(), point));
        switch (PLAN.fault()) {
            case KILL -> killMyself();
            case STALL -> stall();
            case LOSE_THREAD -> throw new NetworkException("made for the test");
        }
    }

    /**
     * Kills this process like {@code kill -9}: no shutdown hook runs, no buffer is flushed, and this thread does not go
     * on.
     */
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

    private static void stall() {
        try {
            boolean unused = new CountDownLatch(1).await(STALL_SECONDS, TimeUnit.SECONDS);
            FaultedMonitor.tell("goes on");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sees every record a producer is given, of sinks and change-logs alike. */
    public static final class Sends implements ProducerInterceptor<byte[], byte[]> {
        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            if (PLAN.point().startsWith("send-")
                    && record.topic().endsWith(PLAN.point().substring("send-".length()))) {
                passed(PLAN.point());
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
