package io.plumbline.topology.emission;

import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.wire.Printable;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Swaps decoders in a program that explains: hands every new decoder of the {@code decoders} topic to a callback,
 * complete and verified, newest version last.
 *
 * <pre>{@code
 * Decoder trained = Formats.read(Path.of("sae")).decoder();
 * AtomicReference<Decoder> active = new AtomicReference<>(trained);
 * Properties kafka = new Properties();
 * kafka.setProperty("bootstrap.servers", "localhost:9092");
 * DecoderSubscription subscription = DecoderSubscription.of(Map.of("blocks.7", trained));
 * try (DecoderSubscriber subscriber = DecoderSubscriber.start(
 *         kafka, "decoders", subscription, published -> active.set(published.decoder()))) {
 *     Thread.sleep(60_000); // the program's work, which decodes with active.get()
 * }
 * }</pre>
 *
 * <p>It reads the compacted topic from its beginning with {@code read_committed} and without a consumer group, so every
 * subscriber sees every decoder and one that starts late finds the newest complete version. "Verified" means: all
 * chunks carry the manifest's version, their SHA-256 is the manifest's, the manifest's parent is the trained decoder
 * the caller holds, and, where the subscription names keys, one of them signed the manifest.
 *
 * <p><b>Memory:</b> the decoder handed over, 4 bytes a weight (8 where they are no floats), beside the one in service;
 * it is shared with every other reader and the adapter in this process, so nobody may write to its arrays;
 * its chunks wait on the disk ({@link DecoderSubscription}).
 *
 * <p>When the broker is away it says so within some 15 s, keeps what was handed out and goes on reading where it
 * stopped. One daemon thread; the callback runs on it.
 */
public final class DecoderSubscriber implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DecoderSubscriber.class);
    private static final Duration POLL = Duration.ofMillis(250);
    private static final Duration TOPIC_WAIT = Duration.ofMillis(500);

    /** The silence after which the broker is asked whether it is there. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private static final Duration ANSWER_WAIT = Duration.ofSeconds(10);

    private final TopicReader reader;
    private final String topic;
    private final DecoderAssembler assembler;
    private final DecoderListener listener;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch closeRequested = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "decoder-subscriber");
    private volatile boolean closing;

    // The subscriber's thread alone.
    private long lastAnswer = System.nanoTime();
    private @Nullable Class<?> interruption;

    private DecoderSubscriber(TopicReader reader, String topic, DecoderAssembler assembler, DecoderListener listener) {
        this.reader = reader;
        this.topic = topic;
        this.assembler = assembler;
        this.listener = listener;
    }

    /**
     * Starts reading on a thread of its own.
     *
     * @param kafka client properties; isolation, offsets and deserializers are set here
     * @param subscription which sites, and what their decoders must be made from
     * @throws KafkaException when no client can be made of {@code kafka}
     */
    public static DecoderSubscriber start(
            Properties kafka, String topic, DecoderSubscription subscription, DecoderListener listener) {
        Map<String, Object> properties = new HashMap<>();
        // A decoder of 75 MB in fetches of 1 MiB, Kafka's own, through a socket's buffer of 64 KiB takes twice as long
        // to read. StreamsSettings says why no larger ones.
        properties.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "4128768");
        properties.put(ConsumerConfig.RECEIVE_BUFFER_CONFIG, "-1");
        kafka.forEach((key, value) -> properties.put(key.toString(), value));
        // Compaction may delete what lies ahead: the records after it say the same.
        TopicReader reader = TopicReader.open(properties, Map.of(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"));
        DecoderSubscriber subscriber = new DecoderSubscriber(
                reader, topic, new DecoderAssembler(subscription, HeldDecoders.OF_THIS_PROCESS), listener);
        subscriber.thread.setDaemon(true);
        subscriber.thread.start();
        return subscriber;
    }

    private void run() {
        try (reader;
                assembler) {
            assign();
            boolean caughtUp = false;
            while (!closing) {
                try {
                    if (!caughtUp && reader.isAtEnd()) {
                        if (assembler.awaitsNewer()) {
                            // Compaction took chunks of the version that was the newest when reading began. A newer
                            // one lies behind the old end, and without it we have not caught up.
                            reader.renewEnd();
                        }
                        caughtUp = reader.isAtEnd();
                        if (caughtUp) {
                            listener.onCaughtUp();
                        }
                    }
                    ConsumerRecords<byte[], byte[]> records = reader.poll(POLL);
                    for (ConsumerRecord<byte[], byte[]> record : records) {
                        accept(record);
                    }
                    if (!records.isEmpty() || brokerAnswered()) {
                        resumed();
                    }
                } catch (WakeupException e) {
                    // close() was called; the loop condition ends it
                } catch (InterruptException e) {
                    throw e;
                } catch (KafkaException e) {
                    interrupted(e);
                    pause(); // some errors, such as a refused login, come back at once
                }
            }
        } catch (WakeupException e) {
            LOG.debug("closed while waiting for the topic");
        } catch (RuntimeException | Error e) {
            // Whatever it was, the caller must hear that no further decoder will come.
            LOG.error("the decoder subscriber stopped; what was handed out stays valid: topic={}", topic, e);
            listener.onInterrupted("stopped: " + e);
        } finally {
            stopped.countDown();
        }
    }

    /**
     * Asks the broker something when it has sent nothing for a while: a poll without an answer looks like one without
     * news. Returns whether it was asked and answered; throws when it did not answer.
     */
    private boolean brokerAnswered() {
        if (System.nanoTime() - lastAnswer < SILENCE.toNanos()) {
            return false;
        }
        reader.requireAnswer(ANSWER_WAIT);
        return true;
    }

    private void resumed() {
        lastAnswer = System.nanoTime();
        if (interruption != null) {
            interruption = null;
            LOG.info("the broker answers again: topic={}", topic);
            listener.onResumed();
        }
    }

    /** Says so once, not at every try: the sentences differ by the milliseconds that a try took. */
    private void interrupted(KafkaException e) {
        if (!e.getClass().equals(interruption)) {
            interruption = e.getClass();
            LOG.warn(
                    "the decoders topic cannot be read; the last decoders stay in service: topic={} reason={}",
                    topic,
                    Printable.value(e.getMessage()));
            listener.onInterrupted("%s; the last decoders stay in service".formatted(e.getMessage()));
        }
    }

    /** Waits for broker and topic and starts at its beginning. */
    private void assign() {
        while (!closing) {
            try {
                List<TopicPartition> partitions = reader.partitions(topic);
                if (!partitions.isEmpty()) {
                    reader.assign(partitions);
                    resumed();
                    return;
                }
            } catch (WakeupException | InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                interrupted(e);
            }
            pause();
        }
        throw new WakeupException();
    }

    /** Waits between two looks for the topic; close() ends it early. */
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

    private void accept(ConsumerRecord<byte[], byte[]> record) {
        DecoderAssembler.Step step = assembler.accept(record.key(), record.value(), signature(record));
        if (step instanceof DecoderAssembler.Step.Complete complete) {
            listener.onDecoder(complete.decoder());
        } else if (step instanceof DecoderAssembler.Step.Told told) {
            listener.onSwapState(told.site(), told.state());
        } else if (step instanceof DecoderAssembler.Step.Refused refused) {
            LOG.warn(
                    "a decoder is not served: site={} version={} topic={} partition={} offset={} reason={}",
                    Printable.value(refused.site()),
                    refused.version(),
                    topic,
                    record.partition(),
                    record.offset(),
                    Printable.value(refused.reason()));
            listener.onRefused(refused.site(), refused.version(), refused.reason());
        }
    }

    private static byte @Nullable [] signature(ConsumerRecord<byte[], byte[]> record) {
        Header signature = record.headers().lastHeader(RecordSignature.HEADER);
        return signature == null ? null : signature.value();
    }

    /** Stops the thread; returns when the last callback has ended, or at once when the callback itself calls it. */
    @Override
    public void close() {
        closing = true;
        closeRequested.countDown();
        reader.wakeup();
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
