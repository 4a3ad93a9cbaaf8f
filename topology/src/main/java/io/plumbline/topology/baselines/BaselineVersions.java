package io.plumbline.topology.baselines;

import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.FollowedTopic;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.OncePerMinute;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.reload.ReloadListener;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows which baselines the sites have had, and notes on the topic those that this process takes over. Nothing waits
 * for it: what no broker takes is warned of, shown by a metric and tried again.
 *
 * <p>Every instance notes what it takes over, under the same key; one that finds the record there writes none. Two that
 * write at once write the same, and compaction keeps one. Who held what was replaced writes at once, with the
 * comparison, even where the record is there without; who did not waits some seconds for somebody who did. A process
 * that starts with the baseline that the topic names last writes nothing.
 *
 * <p><b>Cost</b> of a note: one comparison of two baselines at the site's rank, on a daemon thread of its own.
 */
public final class BaselineVersions implements ReloadListener, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BaselineVersions.class);
    private static final Duration AGAIN = Duration.ofSeconds(10);
    private static final Duration FUTURE = Duration.ofDays(1);

    private final MonitorConfig config;
    private final BaselineListener listener;
    private final Map<String, BaselineHistory> histories = new ConcurrentHashMap<>();
    private final OncePerMinute lines = new OncePerMinute(System::nanoTime);
    private final FollowedTopic topic;
    private final ScheduledExecutorService noting = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "baselines-noted");
        thread.setDaemon(true);
        return thread;
    });

    // Of the noting thread alone.
    private final TakenOver takenOver = new TakenOver();
    private final Unwritten unwritten;
    private final Duration again;

    private BaselineVersions(MonitorConfig config, BaselineListener listener, Duration again) {
        this.config = config;
        this.listener = listener;
        this.again = again;
        unwritten = new Unwritten(again, System::nanoTime);
        topic = FollowedTopic.follow(config, config.topics().baselines(), "baselines", this::heard);
        ScheduledFuture<?> unused = noting.scheduleWithFixedDelay(
                () -> guarded(this::write), again.toMillis(), again.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Begins to follow the topic. */
    public static BaselineVersions follow(MonitorConfig config, BaselineListener listener) {
        return follow(config, listener, AGAIN);
    }

    /** @param again time after which what no broker took is offered again */
    static BaselineVersions follow(MonitorConfig config, BaselineListener listener, Duration again) {
        return new BaselineVersions(config, listener, again);
    }

    /**
     * Reads a record of the topic.
     *
     * @throws IllegalArgumentException of one that is none, or says that it was agreed on a day from now or later
     */
    static BaselineVersion read(byte[] value, long nowMs) {
        BaselineVersion version = Json.read(value, BaselineVersion.class);
        BaselineVersion.Taken taken = version.taken();
        if (taken != null && Math.max(taken.agreedMs(), taken.topicMs()) > nowMs + FUTURE.toMillis()) {
            throw new IllegalArgumentException("agreed on at %d, of a topic of %d: that is to come, now is %d"
                    .formatted(taken.agreedMs(), taken.topicMs(), nowMs));
        }
        return version;
    }

    private void heard(ConsumerRecord<byte[], byte[]> record) {
        if (record.value() == null) {
            if (record.key() != null) {
                forget(new String(record.key(), StandardCharsets.UTF_8));
            }
        } else {
            take(read(record.value(), System.currentTimeMillis()));
        }
    }

    private synchronized void take(BaselineVersion version) {
        if (!config.sites().containsKey(version.site())) {
            return; // of another configuration, or anybody's: no name that comes from outside is kept
        }
        BaselineHistory history = histories.compute(
                version.site(), (site, before) -> (before == null ? BaselineHistory.of(site) : before).with(version));
        listener.onBaselines(history);
    }

    /** Removes what somebody deleted from the topic, by a record without a value. */
    private synchronized void forget(String key) {
        histories.replaceAll((site, before) -> {
            BaselineHistory history = before.without(key);
            if (!history.equals(before)) {
                listener.onBaselines(history);
            }
            return history;
        });
    }

    @Override
    public void onSites(
            Map<String, WatchedSite> sites, Map<String, String> baselines, MonitorConfig next, ConfigVersion version) {
        noting.execute(() -> guarded(() -> {
            unwritten.add(takenOver.describe(sites, baselines, next, version));
            write();
        }));
    }

    /** Runs a task whose failure stops none that follow, and is seen. */
    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error broken) {
            warn(broken);
        }
    }

    /** Writes what is not written yet, once what the topic held at the start is known. */
    private void write() {
        try {
            RuntimeException refused = unwritten.size() > 0 && topic.awaitCaughtUp(again.toSeconds())
                    ? unwritten.writeTo(site -> histories.getOrDefault(site, BaselineHistory.of(site)), this::publish)
                    : null;
            if (refused != null) {
                warn(refused);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        listener.onUnwritten(unwritten.size());
    }

    private void publish(BaselineVersion noted) throws InterruptedException {
        FollowedTopic.publish(config, config.topics().baselines(), Map.of(noted.key(), noted));
        take(noted); // the next of this site comes after it, heard or not
    }

    private void warn(Throwable why) {
        if (lines.take("unwritten").isPresent()) {
            LOG.warn(
                    "a baseline is in service that the history does not name yet: topic={} records={} every_s={} "
                            + "reason={}",
                    config.topics().baselines(),
                    unwritten.size(),
                    again.toSeconds(),
                    Printable.value(String.valueOf(why.getMessage())));
        }
    }

    @Override
    public void close() {
        noting.shutdownNow();
        topic.close();
    }
}
