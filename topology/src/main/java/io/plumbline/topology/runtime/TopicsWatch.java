package io.plumbline.topology.runtime;

import io.plumbline.topology.broker.Application;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.progress.Probe;
import io.plumbline.wire.Printable;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the broker every few seconds whether it is there, and whether the topics that are Plumbline's own, change-logs
 * included, are those that the process began with. {@link SourceWatcher} does the same for the activations.
 *
 * <p>Kafka's clients say nothing of a broker that is away or of a topic that is gone: they ask again, and Kafka Streams
 * stays {@code RUNNING}. A topic that was made again is another one. An application that reads it would go on at the
 * offset it had reached in the old one, and state whose change-log began anew is not whole after the next lost thread.
 * So that application stops.
 *
 * <p><b>Cost</b> of a look: one request. One daemon thread.
 */
final class TopicsWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TopicsWatch.class);
    private static final Duration EVERY = Duration.ofSeconds(3);

    /** The time for which a broker may restart without being called away. */
    static final Duration UNANSWERED = Duration.ofSeconds(10);

    private final Admin admin;
    private final String brokers;
    private final Map<String, Topics.Used> topics = new HashMap<>();
    private final BiConsumer<Application, String> remade;
    private final Map<String, Uuid> ids = new HashMap<>();
    private final Set<String> gone = ConcurrentHashMap.newKeySet();
    private final Set<String> leaderless = ConcurrentHashMap.newKeySet();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "topics-watch");
    private volatile long answeredMs = System.currentTimeMillis();
    private boolean saidAway;

    private TopicsWatch(Admin admin, String brokers, List<Topics.Used> topics, BiConsumer<Application, String> remade) {
        this.admin = admin;
        this.brokers = brokers;
        topics.forEach(topic -> this.topics.put(topic.name(), topic));
        this.remade = remade;
    }

    /**
     * Looks once, then goes on by itself.
     *
     * @param kafka properties of an admin client
     * @param remade hears which application must stop because a topic of it was made again, and the sentence why
     */
    static TopicsWatch start(
            Map<String, String> kafka,
            String clientId,
            List<Topics.Used> topics,
            BiConsumer<Application, String> remade) {
        Map<String, Object> properties = new HashMap<>(kafka);
        String wait = Long.toString(EVERY.toMillis());
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, wait);
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, wait);
        properties.put(AdminClientConfig.CLIENT_ID_CONFIG, clientId);
        String brokers = String.valueOf(kafka.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG));
        TopicsWatch watch = new TopicsWatch(Admin.create(properties), brokers, topics, remade);
        watch.look();
        watch.thread.setDaemon(true);
        watch.thread.start();
        return watch;
    }

    /** Complains when no broker answers, and of the first topic that is gone or has a partition without a leader. */
    Probe whole() {
        return () -> unanswered()
                .or(() -> gone.stream().sorted().findFirst().map(this::missing))
                .or(() -> leaderless.stream().sorted().findFirst().map(this::unled));
    }

    /** Returns for how long no broker has answered, in seconds; 0 while one does. */
    double unansweredSeconds() {
        return unanswered().isEmpty() ? 0 : (System.currentTimeMillis() - answeredMs) / 1e3;
    }

    /** Returns how many of the topics do not exist any more. */
    int missing() {
        return gone.size();
    }

    /** Looks at once and returns what {@link #whole} says of topics that are gone; for one who found one missing. */
    Optional<String> missingNow() {
        look();
        return gone.stream().sorted().findFirst().map(this::missing);
    }

    private Optional<String> unanswered() {
        long awayMs = System.currentTimeMillis() - answeredMs;
        return awayMs < UNANSWERED.toMillis() ? Optional.empty() : Optional.of(away());
    }

    private String away() {
        return ("no broker at %s has answered since %s, so no row arrives and nothing is written. "
                        + "Nothing is lost here: reading goes on where it stopped when a broker answers")
                .formatted(brokers, since());
    }

    private Instant since() {
        return Instant.ofEpochMilli(answeredMs).truncatedTo(ChronoUnit.SECONDS);
    }

    private String missing(String name) {
        return ("topic \"%s\" (%s) does not exist any more; what was on it is lost, and nothing can be written to it. "
                        + "Stop this process and start it again: it makes the topic anew, "
                        + "see PlumblineTopicMissing in the runbook")
                .formatted(name, what(name));
    }

    private String unled(String name) {
        return ("topic \"%s\" (%s) has a partition without a leader: what is on it can be neither read nor written "
                        + "until its broker is back")
                .formatted(name, what(name));
    }

    private String madeAgain(String name) {
        return "topic \"%s\" (%s) was deleted and made again while this process ran; what was on it is lost"
                .formatted(name, what(name));
    }

    private String what(String name) {
        return Objects.requireNonNull(topics.get(name), name).what();
    }

    private void run() {
        try {
            while (!closing.await(EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
                look();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            if (closing.getCount() > 0) {
                LOG.error("topics are no longer watched", e);
            }
        }
    }

    private synchronized void look() {
        boolean answered = false;
        Map<String, KafkaFuture<TopicDescription>> asked = admin.describeTopics(
                        topics.keySet(), new DescribeTopicsOptions().timeoutMs((int) EVERY.toMillis()))
                .topicNameValues();
        for (Map.Entry<String, KafkaFuture<TopicDescription>> one : asked.entrySet()) {
            try {
                found(one.getKey(), one.getValue().get());
                answered = true;
            } catch (ExecutionException e) {
                answered |= e.getCause() instanceof AuthorizationException;
                if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                    notFound(one.getKey());
                    answered = true;
                } else {
                    LOG.debug(
                            "no answer about the topic: topic={} reason={}",
                            one.getKey(),
                            Printable.value(e.getMessage()));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
        if (answered) {
            answeredMs = System.currentTimeMillis();
        }
        sayWhetherAway();
    }

    private void sayWhetherAway() {
        boolean away = unanswered().isPresent();
        if (away && !saidAway && closing.getCount() > 0) {
            LOG.error(
                    "no broker has answered, so no row arrives and nothing is written. Nothing is lost here: "
                            + "reading goes on where it stopped when a broker answers: brokers={} since={}",
                    Printable.value(brokers),
                    since());
        } else if (!away && saidAway) {
            LOG.info("a broker answers again: brokers={}", Printable.value(brokers));
        }
        saidAway = away;
    }

    private void notFound(String name) {
        if (gone.add(name)) {
            leaderless.remove(name);
            LOG.error(
                    "a topic does not exist any more; what was on it is lost, and nothing can be written to it: "
                            + "topic={} holds={}\nstop this process and start it again: it makes the topic anew, "
                            + "see PlumblineTopicMissing in the runbook",
                    name,
                    Printable.value(what(name)));
        }
    }

    private void found(String name, TopicDescription description) {
        gone.remove(name);
        boolean led = description.partitions().stream().noneMatch(TopicsWatch::isUnled);
        if (led) {
            leaderless.remove(name);
        } else if (leaderless.add(name)) {
            LOG.error(
                    "a topic has a partition without a leader; what is on it can be neither read nor written until "
                            + "its broker is back: topic={} holds={}",
                    name,
                    Printable.value(what(name)));
        }
        Uuid before = ids.put(name, description.topicId());
        if (before != null && !before.equals(description.topicId())) {
            String sentence = madeAgain(name);
            Set<Application> stopping =
                    new HashSet<>(Objects.requireNonNull(topics.get(name), name).readers());
            LOG.error(
                    "a topic was deleted and made again while this process ran; what was on it is lost: "
                            + "topic={} holds={}",
                    name,
                    Printable.value(what(name)));
            stopping.forEach(application -> remade.accept(
                    application, sentence + ". Start it again: it begins at the first record of the new one"));
        }
    }

    private static boolean isUnled(TopicPartitionInfo partition) {
        return partition.leader() == null || partition.leader().isEmpty();
    }

    @Override
    public void close() {
        closing.countDown();
        admin.close(Duration.ofSeconds(1));
        try {
            thread.join(EVERY.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
