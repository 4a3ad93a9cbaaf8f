package io.plumbline.topology.emission;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hot swap for a program that explains: hands every new decoder of the {@code decoders} topic to a callback, complete and
 * verified, newest version last.
 *
 * <pre>{@code
 * Explainer explainer = Explainer.read(folder);
 * Map<String, String> parents = Map.of("blocks.7", explainer.decoder().sha256());
 * try (DecoderSubscriber subscriber = DecoderSubscriber.start(kafka, "decoders", parents, published ->
 *         active.set(published.decoder()))) { ... }
 * }</pre>
 *
 * <p>It reads the compacted topic from its beginning with {@code read_committed} and without a consumer group, so every
 * subscriber sees every decoder and one that starts late finds the newest complete version. "Verified" means: all chunks
 * carry the manifest's version, their SHA-256 is the manifest's, and the manifest's parent is the trained decoder the
 * caller holds.
 *
 * <p>When the broker is away it keeps what was handed out and goes on reading where it stopped. One daemon thread; the
 * callback runs on it.
 */
public final class DecoderSubscriber implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DecoderSubscriber.class);
    private static final Duration POLL = Duration.ofMillis(250);
    private static final Duration TOPIC_WAIT = Duration.ofMillis(500);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String topic;
    private final DecoderAssembler assembler;
    private final DecoderListener listener;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch closeRequested = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "decoder-subscriber");
    private volatile boolean closing;

    private DecoderSubscriber(
            KafkaConsumer<byte[], byte[]> consumer,
            String topic,
            DecoderAssembler assembler,
            DecoderListener listener) {
        this.consumer = consumer;
        this.topic = topic;
        this.assembler = assembler;
        this.listener = listener;
    }

    /**
     * Starts reading on a thread of its own.
     *
     * @param kafka client properties; isolation, offsets and deserializers are set here
     * @param parents SHA-256 of the trained decoder held, by site; other sites are ignored. Null: every site, parent
     *     unchecked (to list what is there)
     */
    public static DecoderSubscriber start(
            Properties kafka, String topic, @Nullable Map<String, String> parents, DecoderListener listener) {
        Properties properties = new Properties();
        properties.putAll(kafka);
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
        properties.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        DecoderSubscriber subscriber = new DecoderSubscriber(consumer, topic, new DecoderAssembler(parents), listener);
        subscriber.thread.setDaemon(true);
        subscriber.thread.start();
        return subscriber;
    }

    private void run() {
        try (consumer) {
            Map<TopicPartition, Long> end = assign();
            boolean caughtUp = false;
            while (!closing) {
                try {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                        accept(record);
                    }
                    if (!caughtUp && hasReached(end)) {
                        caughtUp = true;
                        listener.onCaughtUp();
                    }
                } catch (WakeupException e) {
                    // close() was called; the loop condition ends it
                } catch (InterruptException e) {
                    throw e;
                } catch (KafkaException e) {
                    LOG.warn("decoders topic {}: {}", topic, e.getMessage());
                    listener.onInterrupted(String.valueOf(e.getMessage()));
                    pause(); // some errors, such as a refused login, come back at once
                }
            }
        } catch (WakeupException e) {
            LOG.debug("closed while waiting for the topic");
        } catch (RuntimeException | Error e) {
            // Whatever it was, the caller must hear that no further decoder will come.
            LOG.error("decoder subscriber of topic {} stopped", topic, e);
            listener.onInterrupted("stopped: " + e);
        } finally {
            stopped.countDown();
        }
    }

    /** Waits for broker and topic and starts at its beginning; returns where it ended at that moment. */
    private Map<TopicPartition, Long> assign() {
        while (!closing) {
            try {
                List<PartitionInfo> partitions = consumer.partitionsFor(topic);
                if (partitions != null && !partitions.isEmpty()) {
                    List<TopicPartition> all = partitions.stream()
                            .map(info -> new TopicPartition(info.topic(), info.partition()))
                            .toList();
                    consumer.assign(all);
                    consumer.seekToBeginning(all);
                    return consumer.endOffsets(all);
                }
            } catch (WakeupException | InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                LOG.warn("decoders topic {}: {}", topic, e.getMessage());
                listener.onInterrupted(String.valueOf(e.getMessage()));
            }
            pause();
        }
        throw new WakeupException();
    }

    /** Between two looks for the topic; close() ends it early. */
    private void pause() {
        try {
            if (closeRequested.await(TOPIC_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new WakeupException();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WakeupException();
        }
    }

    private boolean hasReached(Map<TopicPartition, Long> end) {
        return end.entrySet().stream().allMatch(entry -> consumer.position(entry.getKey()) >= entry.getValue());
    }

    private void accept(ConsumerRecord<byte[], byte[]> record) {
        DecoderAssembler.Step step = assembler.accept(record.key(), record.value());
        if (step instanceof DecoderAssembler.Step.Complete complete) {
            listener.onDecoder(complete.decoder());
        } else if (step instanceof DecoderAssembler.Step.Refused refused) {
            LOG.warn(
                    "decoder of site {}, version {} (partition {}, offset {}) is not served: {}",
                    refused.site(),
                    refused.version(),
                    record.partition(),
                    record.offset(),
                    refused.reason());
            listener.onRefused(refused.site(), refused.version(), refused.reason());
        }
    }

    /** Stops the thread; returns when the last callback has ended, or at once when the callback itself calls it. */
    @Override
    public void close() {
        closing = true;
        closeRequested.countDown();
        consumer.wakeup();
        if (Thread.currentThread() == thread) {
            return; // called by the callback: the loop ends when it returns
        }
        try {
            stopped.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
