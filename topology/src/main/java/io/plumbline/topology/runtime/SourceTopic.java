package io.plumbline.topology.runtime;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.progress.Probe;
import io.plumbline.wire.Printable;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks whether a topic of activations is still the one that reading began with, and has no more partitions than are
 * read.
 *
 * <p>A topic that is deleted and made again under its name is another topic. Kafka's consumer goes on in it at the
 * offset it had reached in the old one, without a word, and what lies before that is never read. So nothing is
 * committed once the topic's id has changed, and the monitor stops. The broker forgets a topic's committed offsets with
 * the topic, so the next monitor begins at the first record of the new one.
 *
 * <p>Looked at by one thread, asked by any.
 */
final class SourceTopic {

    private static final Logger LOG = LoggerFactory.getLogger(SourceTopic.class);

    /**
     * The time for which a commit waits for the check. Without an answer it goes ahead, and the next look finds out.
     */
    private static final int COMMIT_WAITS_MS = 1_000;

    private final Admin admin;
    private final String name;
    private final int partitions;
    private final LongSupplier unread;
    private final Consumer<String> remade;
    private @Nullable Uuid id;
    private volatile @Nullable String madeAgain;
    private volatile boolean gone;
    private volatile int partitionsThere;

    /**
     * @param partitions that are read
     * @param unread offsets of the topic that were not committed when they were last looked at
     * @param remade told once, what happened and what to do
     */
    SourceTopic(Admin admin, String name, int partitions, LongSupplier unread, Consumer<String> remade) {
        this.admin = admin;
        this.name = name;
        this.partitions = partitions;
        this.unread = unread;
        this.remade = remade;
        this.partitionsThere = partitions;
    }

    String name() {
        return name;
    }

    /** Looks at the topic and returns false when it is not the one that is read. */
    boolean isSame(int withinMs) {
        TopicDescription found = ask(withinMs);
        if (found == null) {
            return !gone;
        }
        String other = madeAgain;
        if (other != null) {
            remade.accept(other);
            return false;
        }
        int now = found.partitions().size();
        if (now != partitionsThere) {
            partitionsThere = now;
            LOG.error(
                    "the topic has more partitions than are read; rows in the others are in no window: "
                            + "topic={} partitions={} read_partitions={}\nsee PlumblinePartitionsUnread in the runbook",
                    name,
                    now,
                    partitions);
        }
        return true;
    }

    /**
     * Requires the same topics, all asked at once; called between the offsets and the commit of each transaction, when
     * all its records have been read.
     *
     * @throws KafkaException when one is another topic: it ends the transaction and the thread
     */
    static void requireSame(Collection<SourceTopic> topics) {
        List<SourceTopic> asked =
                topics.stream().filter(topic -> topic.madeAgain == null).toList();
        if (!asked.isEmpty()) {
            Map<String, KafkaFuture<TopicDescription>> answers = asked.get(0)
                    .admin
                    .describeTopics(
                            asked.stream().map(SourceTopic::name).toList(),
                            new DescribeTopicsOptions().timeoutMs(COMMIT_WAITS_MS))
                    .topicNameValues();
            asked.forEach(topic -> topic.take(answers.get(topic.name)));
        }
        topics.forEach(SourceTopic::requireSame);
    }

    private void requireSame() {
        String other = madeAgain;
        if (other != null) {
            throw new RemadeException(other);
        }
    }

    /** Returns how many partitions were added while the monitor ran. */
    int unreadPartitions() {
        return Math.max(0, partitionsThere - partitions);
    }

    /** Complains when there is nothing to read, or something that is not read. */
    Probe whole() {
        return () -> {
            if (gone) {
                return Optional.of(missing());
            }
            return unreadPartitions() == 0 ? Optional.empty() : Optional.of(added());
        };
    }

    private String missing() {
        return ("topic \"%s\" does not exist any more, so nothing is read. Stop the monitor, "
                        + "make the topic again with %s, and start the monitor")
                .formatted(name, Amounts.count(partitions, "partition"));
    }

    private String added() {
        return ("topic \"%s\" has %s and reading began with %d: rows in the others are in no window. "
                        + "See PlumblinePartitionsUnread in the runbook")
                .formatted(name, Amounts.count(partitionsThere, "partition"), partitions);
    }

    private String sentence(Uuid first, Uuid found) {
        return ("topic \"%s\" was deleted and made again while the monitor ran (its id was %s and is %s). "
                        + "Nothing of the new topic is in any window. Start the monitor again: "
                        + "it reads the new topic from its first record. "
                        + "What was not committed of the old one is lost, "
                        + "at most %d records when it was last seen")
                .formatted(name, first, found, unread.getAsLong());
    }

    /**
     * Remembers that the topic was made again, so that later commits are refused even when the broker does not answer.
     */
    private synchronized void compare(Uuid found) {
        Uuid first = id;
        if (first == null) {
            id = found;
        } else if (madeAgain == null && !first.equals(found)) {
            madeAgain = sentence(first, found);
        }
    }

    private @Nullable TopicDescription ask(int withinMs) {
        return take(admin.describeTopics(List.of(name), new DescribeTopicsOptions().timeoutMs(withinMs))
                .topicNameValues()
                .get(name));
    }

    /** Returns the description of the topic, or null where there is no answer or no such topic. */
    private @Nullable TopicDescription take(@Nullable KafkaFuture<TopicDescription> asked) {
        try {
            TopicDescription found = asked == null ? null : asked.get();
            gone = false;
            if (found != null) {
                compare(found.topicId());
            }
            return found;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                if (!gone) {
                    LOG.error(
                            "the topic does not exist any more, so nothing is read: topic={} partitions={}\n"
                                    + "stop the monitor, make the topic again with as many partitions, "
                                    + "and start the monitor",
                            name,
                            partitions);
                }
                gone = true;
            } else {
                LOG.debug("no answer about the topic: topic={} reason={}", name, Printable.value(e.getMessage()));
            }
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Thrown when the topic was made again; stops the application instead of replacing the thread. */
    static final class RemadeException extends KafkaException {

        private static final long serialVersionUID = 1L;

        RemadeException(String message) {
            super(message);
        }
    }
}
