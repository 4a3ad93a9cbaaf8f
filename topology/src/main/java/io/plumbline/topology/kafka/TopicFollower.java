package io.plumbline.topology.kafka;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * Reads topics on and on, on one daemon thread, and begins anew every {@link #PAUSE} while they cannot be read. No
 * consumer group.
 */
public final class TopicFollower implements AutoCloseable {

    /** The longest time to wait for a record. */
    public static final Duration POLL = Duration.ofMillis(500);

    /** The time after which topics that cannot be read are asked for again. */
    public static final Duration PAUSE = Duration.ofSeconds(5);

    /** Does the reading; called on the follower's thread alone. */
    public interface Steps {

        /** Assigns the partitions, and goes to where reading begins. */
        void begin(TopicReader reader);

        /** Takes what there is; called again and again. */
        void read(TopicReader reader);

        /** Hears why the topics cannot be read; returns whether to ask again. */
        boolean isAskedAgain(RuntimeException why);
    }

    private final Map<String, ?> kafka;
    private final String clientId;
    private final Steps steps;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private volatile @Nullable TopicReader reading;

    private TopicFollower(String name, Map<String, ?> kafka, String clientId, Steps steps) {
        this.kafka = kafka;
        this.clientId = clientId;
        this.steps = steps;
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    /**
     * Starts reading.
     *
     * @param name name of the thread
     * @param kafka client properties
     */
    public static TopicFollower start(String name, Map<String, ?> kafka, String clientId, Steps steps) {
        TopicFollower follower = new TopicFollower(name, kafka, clientId, steps);
        follower.thread.start();
        return follower;
    }

    private void run() {
        try {
            while (closing.getCount() > 0) {
                try {
                    follow();
                } catch (WakeupException stop) {
                    return;
                } catch (RuntimeException away) {
                    if (!steps.isAskedAgain(away)) {
                        return;
                    }
                }
                if (closing.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void follow() {
        try (TopicReader reader = TopicReader.open(
                kafka,
                Map.of(
                        ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                        "earliest",
                        ConsumerConfig.CLIENT_ID_CONFIG,
                        clientId))) {
            reading = reader;
            steps.begin(reader);
            while (closing.getCount() > 0) {
                steps.read(reader);
            }
        } finally {
            reading = null;
        }
    }

    @Override
    public void close() {
        closing.countDown();
        TopicReader reader = reading;
        if (reader != null) {
            reader.wakeup();
        }
        try {
            thread.join(2 * POLL.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
