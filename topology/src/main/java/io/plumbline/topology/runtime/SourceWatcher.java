package io.plumbline.topology.runtime;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.progress.Probe;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.wire.Printable;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the broker every few seconds for first, last and committed offset of each partition of a topic of activations:
 * whether it can be read, whether something lies unread, and whether something was deleted before it was read.
 *
 * <p>A consumer whose place is deleted goes on at the first record there is, and says nothing; here the gap is logged
 * and counted. What was read and not committed yet when it was deleted counts as lost too, so the number is an upper
 * bound.
 *
 * <p><b>Cost</b> of a look: two requests to each leader and one to the coordinator, each answered within seconds or
 * taken for no answer. One daemon thread.
 */
final class SourceWatcher implements SourceWatch, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SourceWatcher.class);
    private static final Duration SLOWEST = Duration.ofSeconds(3);
    private static final Duration FASTEST = Duration.ofMillis(250);
    private static final Sight NOT_SEEN = new Sight(Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE, 0);

    private final Admin admin;
    private final String group;
    private final List<TopicPartition> partitions;
    private final Duration every;
    private final ObjLongConsumer<Integer> lost;
    private final SourceTopic topic;
    private final PartitionTimes times;
    private final Map<Integer, Sight> sights = new ConcurrentHashMap<>();
    private final Map<Integer, Long> countedTo = new HashMap<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run);
    private final long startedMs = System.currentTimeMillis();
    private boolean away;

    private SourceWatcher(
            Admin admin,
            String group,
            String topic,
            int partitions,
            Duration every,
            ObjLongConsumer<Integer> lost,
            Consumer<String> remade,
            PartitionTimes times) {
        this.times = times;
        this.admin = admin;
        this.group = group;
        this.partitions = IntStream.range(0, partitions)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
        this.every = every;
        this.lost = lost;
        this.topic = new SourceTopic(admin, topic, partitions, this::unread, remade);
    }

    /**
     * Looks once, so that what was lost while nobody ran is known before reading begins, then goes on by itself.
     *
     * @param kafka properties of an admin client
     * @param group application id of the monitor
     * @param idleClose silence that closes a window: looks are frequent enough for it
     * @param lost told of each partition and number of offsets that were deleted unread
     * @param remade told when the topic was deleted and made again
     * @param times told how far each partition is read
     */
    static SourceWatcher start(
            Map<String, String> kafka,
            String topic,
            int partitions,
            String group,
            @Nullable Duration idleClose,
            ObjLongConsumer<Integer> lost,
            Consumer<String> remade,
            PartitionTimes times) {
        Duration tenth = idleClose == null ? SLOWEST : idleClose.dividedBy(10);
        Duration every = tenth.compareTo(SLOWEST) > 0 ? SLOWEST : tenth.compareTo(FASTEST) < 0 ? FASTEST : tenth;
        long answerWithinMs = answerWithinMs(every);
        Map<String, Object> properties = new HashMap<>(kafka);
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(answerWithinMs));
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(2 * answerWithinMs));
        properties.put(AdminClientConfig.CLIENT_ID_CONFIG, group + "-source-watch-" + topic);
        SourceWatcher watcher =
                new SourceWatcher(Admin.create(properties), group, topic, partitions, every, lost, remade, times);
        watcher.look();
        watcher.thread.setName("source-watch-" + topic);
        watcher.thread.setDaemon(true);
        watcher.thread.start();
        return watcher;
    }

    private static int answerWithinMs(Duration every) {
        return (int) Math.max(1_000, every.toMillis());
    }

    /** The topic as a whole: whether it is still the one that is read. */
    SourceTopic topic() {
        return topic;
    }

    /** Complains of partitions whose leader has not answered for a while: their rows do not arrive. */
    Probe answering() {
        return () -> {
            long now = System.currentTimeMillis();
            List<TopicPartition> silent = partitions.stream()
                    .filter(partition ->
                            now - answeredMs(partition) > TopicsWatch.UNANSWERED.toMillis() + 2 * every.toMillis())
                    .toList();
            return silent.isEmpty() ? Optional.empty() : Optional.of(unanswered(silent));
        };
    }

    private long answeredMs(TopicPartition partition) {
        Sight sight = sights.get(partition.partition());
        return sight == null ? startedMs : sight.answeredMs();
    }

    private String unanswered(List<TopicPartition> silent) {
        long since = silent.stream().mapToLong(this::answeredMs).min().orElse(startedMs);
        return ("no answer about %d of %s of topic \"%s\" (%s) since %s: no row of them arrives. Nothing is lost here: "
                        + "reading goes on where it stopped when their brokers answer")
                .formatted(
                        silent.size(),
                        Amounts.count(partitions.size(), "partition"),
                        topic.name(),
                        silent.get(0),
                        Instant.ofEpochMilli(since).truncatedTo(ChronoUnit.SECONDS));
    }

    /** Returns how many offsets were not committed at the last look. */
    private long unread() {
        return sights.values().stream()
                .mapToLong(sight -> Math.max(0, sight.endOffset() - sight.readUpTo()))
                .sum();
    }

    @Override
    public Sight sight(int partition) {
        return sights.getOrDefault(partition, NOT_SEEN);
    }

    private void run() {
        try {
            // Whoever is held back waits for the next look.
            while (!closing.await((times.isHolding() ? FASTEST : every).toMillis(), TimeUnit.MILLISECONDS)) {
                lookOnceMore();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Looks once more; one look that fails, for whatever reason, is not the last: without looks no site is ever silent.
     */
    private void lookOnceMore() {
        try {
            look();
        } catch (RuntimeException e) {
            if (closing.getCount() > 0) {
                LOG.error(
                        "a look at the topic failed; its sites are not taken for silent meanwhile: topic={} reason={}",
                        topic.name(),
                        Printable.value(e),
                        e);
            }
        }
    }

    private void look() {
        if (!topic.isSame(answerWithinMs(every))) {
            return; // its offsets would be compared with those of another topic
        }
        long askedMs = System.currentTimeMillis();
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        Map<TopicPartition, OffsetSpec> beginnings = new HashMap<>();
        for (TopicPartition partition : partitions) {
            ends.put(partition, OffsetSpec.latest());
            beginnings.put(partition, OffsetSpec.earliest());
        }
        ListOffsetsResult endsThere = admin.listOffsets(ends);
        ListOffsetsResult beginningsThere = admin.listOffsets(beginnings);
        boolean answered = true;
        Map<TopicPartition, Long> firsts = new HashMap<>();
        Map<TopicPartition, Long> lasts = new HashMap<>();
        for (TopicPartition partition : partitions) {
            try {
                lasts.put(partition, endsThere.partitionResult(partition).get().offset());
                firsts.put(
                        partition,
                        beginningsThere.partitionResult(partition).get().offset());
            } catch (ExecutionException e) {
                answered = false;
                say(partition, e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
        // Asked last: what is committed only grows, so a first offset beyond it was never read.
        Map<TopicPartition, OffsetAndMetadata> committed = committed();
        firsts.forEach((partition, first) -> {
            OffsetAndMetadata stored = committed.get(partition);
            if (stored != null) {
                countLost(partition, stored.offset(), first);
            }
            long readUpTo = stored == null ? first : Math.max(first, stored.offset());
            times.saw(
                    partition.partition(),
                    PartitionTimes.timeOf(stored),
                    lasts.getOrDefault(partition, Long.MAX_VALUE),
                    readUpTo);
            saw(partition.partition(), askedMs, lasts.getOrDefault(partition, Long.MAX_VALUE), readUpTo);
        });
        if (answered && away) {
            LOG.info("every partition answers again; the idle time of its sites starts anew: topic={}", topic.name());
        }
        away = !answered;
    }

    private void say(TopicPartition partition, ExecutionException e) {
        // What is closed gets no answers, which is no news.
        if (!away && closing.getCount() > 0) {
            LOG.warn(
                    "no answer about a partition; its sites are not taken for silent meanwhile: "
                            + "topic={} partition={} reason={}",
                    partition.topic(),
                    partition.partition(),
                    Printable.value(
                            e.getCause() == null ? e.getMessage() : e.getCause().getMessage()));
        }
    }

    private Map<TopicPartition, OffsetAndMetadata> committed() {
        try {
            Map<TopicPartition, OffsetAndMetadata> found = admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get(2 * SLOWEST.toMillis(), TimeUnit.MILLISECONDS);
            return found == null ? Map.of() : found;
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug(
                    "the offsets of the group cannot be asked: group={} reason={}",
                    group,
                    Printable.value(e.getMessage()));
            return Map.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Map.of();
        }
    }

    private void countLost(TopicPartition partition, long committed, long first) {
        long from = Math.max(committed, countedTo.getOrDefault(partition.partition(), 0L));
        if (first > from) {
            countedTo.put(partition.partition(), first);
            LOG.error(
                    "records were deleted before the monitor had read them, "
                            + "by the topic's retention.ms or retention.bytes or by hand; they are in no window: "
                            + "topic={} partition={} lost_from={} offset={} records={}\n"
                            + "give the topic a longer retention than the longest outage of the "
                            + "monitor, and -1 for a replay of old event times",
                    partition.topic(),
                    partition.partition(),
                    from,
                    first,
                    first - from);
            lost.accept(partition.partition(), first - from);
        }
    }

    private void saw(int partition, long askedMs, long end, long readUpTo) {
        long gapMs = 3 * every.toMillis() + 1_000;
        sights.compute(partition, (p, before) -> {
            boolean unbroken = before != null && askedMs - before.answeredMs() <= gapMs;
            return new Sight(unbroken ? before.sinceMs() : askedMs, askedMs, end, readUpTo);
        });
    }

    @Override
    public void close() {
        closing.countDown();
        admin.close(Duration.ofSeconds(1));
        try {
            thread.join(SLOWEST.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
