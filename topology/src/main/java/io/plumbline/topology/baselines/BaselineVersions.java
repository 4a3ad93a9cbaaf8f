package io.plumbline.topology.baselines;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.Provenance;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.FollowedTopic;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.ApprovedBaseline;
import io.plumbline.topology.kafka.OncePerMinute;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.reload.ReloadListener;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows which baselines the sites have had, and notes on the topic those that this process takes over. Nothing waits
 * for it: what no broker takes is warned of, shown by a metric and tried again.
 *
 * <p>Every instance notes what it takes over, under the same key; one that finds the record there writes none. Two that
 * write at once write the same, and compaction keeps one. A process that starts with the baseline that the topic names
 * last writes nothing.
 *
 * <p><b>Cost</b> of a note: one comparison of two baselines, on a daemon thread of its own. It holds the baseline of
 * each site, which the monitor holds too.
 */
public final class BaselineVersions implements ReloadListener, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BaselineVersions.class);
    private static final long AGAIN_SECONDS = 10;

    private record Held(String sha256, Baseline baseline) {}

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
    private final Map<String, Held> held = new HashMap<>();
    private final List<BaselineVersion> unwritten = new ArrayList<>();

    private BaselineVersions(MonitorConfig config, BaselineListener listener) {
        this.config = config;
        this.listener = listener;
        topic = FollowedTopic.follow(config, config.topics().baselines(), "baselines", this::heard);
        ScheduledFuture<?> unused =
                noting.scheduleWithFixedDelay(this::write, AGAIN_SECONDS, AGAIN_SECONDS, TimeUnit.SECONDS);
    }

    /** Begins to follow the topic. */
    public static BaselineVersions follow(MonitorConfig config, BaselineListener listener) {
        return new BaselineVersions(config, listener);
    }

    /** Reads a record of the topic; throws {@link IllegalArgumentException} of one that is none. */
    static BaselineVersion read(ConsumerRecord<byte[], byte[]> record) {
        return Json.read(record.value() == null ? new byte[0] : record.value(), BaselineVersion.class);
    }

    private void heard(ConsumerRecord<byte[], byte[]> record) {
        take(read(record));
    }

    private synchronized void take(BaselineVersion version) {
        if (!config.sites().containsKey(version.site())) {
            return; // of another configuration, or anybody's: no name that comes from outside is kept
        }
        BaselineHistory history = histories.compute(
                version.site(), (site, before) -> (before == null ? BaselineHistory.of(site) : before).with(version));
        listener.onBaselines(history);
    }

    @Override
    public void onSites(
            Map<String, WatchedSite> sites, Map<String, String> baselines, MonitorConfig next, ConfigVersion version) {
        noting.execute(() -> {
            try {
                sites.forEach((name, site) -> describe(site, baselines.getOrDefault(name, ""), next, version));
                held.keySet().retainAll(sites.keySet());
                write();
            } catch (RuntimeException broken) {
                warn(broken);
            }
        });
    }

    private void describe(WatchedSite site, String sha256, MonitorConfig next, ConfigVersion version) {
        Held before = held.get(site.site());
        if (sha256.isEmpty() || (before != null && before.sha256().equals(sha256))) {
            return;
        }
        Baseline baseline = site.baseline().byItself();
        held.put(site.site(), new Held(sha256, baseline));
        unwritten.add(BaselineVersion.of(
                site.site(),
                sha256,
                baseline,
                site.settings().explained().rank(),
                approver(site, baseline, next),
                new BaselineVersion.Taken(version.version(), version.fromMs(), version.publishedMs()),
                before == null
                        ? null
                        : BaselineComparison.between(
                                before.baseline(),
                                before.sha256(),
                                baseline,
                                BaselineComparison.rule(
                                        site.settings(), next.window().size()),
                                site.settings().alarms().triggers())));
    }

    private static ApprovedBaseline.@Nullable Approver approver(
            WatchedSite site, Baseline baseline, MonitorConfig config) {
        Provenance provenance = baseline.provenance();
        String content = provenance == null ? null : provenance.content();
        try {
            return content == null
                    ? null
                    : ApprovedBaseline.approver(
                            site.settings().explained().baseline(),
                            content,
                            config.signing().approverKeys());
        } catch (IOException unreadable) {
            return null;
        }
    }

    /** Writes what is not written yet, once what the topic held at the start is known. */
    private void write() {
        try {
            while (!unwritten.isEmpty() && topic.awaitCaughtUp(AGAIN_SECONDS)) {
                BaselineVersion first = unwritten.get(0);
                BaselineVersion noted = histories
                        .getOrDefault(first.site(), BaselineHistory.of(first.site()))
                        .noted(first);
                if (noted != null) {
                    FollowedTopic.publish(config, config.topics().baselines(), Map.of(noted.key(), noted));
                    take(noted); // the next of this site comes after it, heard or not
                }
                unwritten.remove(0);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException refused) {
            warn(refused);
        }
        listener.onUnwritten(unwritten.size());
    }

    private void warn(RuntimeException why) {
        if (lines.take("unwritten").isPresent()) {
            LOG.warn(
                    "a baseline is in service that the history does not name yet: topic={} records={} every_s={} "
                            + "reason={}",
                    config.topics().baselines(),
                    unwritten.size(),
                    AGAIN_SECONDS,
                    Printable.value(why.getMessage()));
        }
    }

    @Override
    public void close() {
        noting.shutdownNow();
        topic.close();
    }
}
