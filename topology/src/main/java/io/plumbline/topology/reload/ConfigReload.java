package io.plumbline.topology.reload;

import io.plumbline.topology.MonitorTopology;
import io.plumbline.topology.Watched;
import io.plumbline.topology.assessment.SiteFiles;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.FollowedTopic;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.ConfigDifference;
import io.plumbline.topology.config.LogSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.ReadConfig;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over a changed configuration: whole or not at all, and from the same window on in every instance.
 *
 * <p><b>Memory.</b> A site that changes is held twice until no window needs what it was, a day of event time; a site
 * that does not change, and every explainer, once. A process that only adapts holds it until it ends.
 *
 * <p>Thread-safe.
 */
public final class ConfigReload implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ConfigReload.class);

    /** The event time between a version and the first window judged by it: for files to reach every machine. */
    static final Duration NOTICE = Duration.ofMinutes(2);

    /** The event time for which late windows may need what held before. */
    private static final Duration NEEDED_FOR = Duration.ofDays(1);

    private static final long WAIT_SECONDS = 60;

    /** A configuration with what was made of it. */
    private record Loaded(ReadConfig read, Fingerprints prints, Map<String, WatchedSite> sites, List<String> changes) {

        boolean is(@Nullable ConfigVersion version) {
            return version != null && version.sha256().equals(prints.sha256());
        }

        Loaded with(ReadConfig same) {
            return new Loaded(same, prints, sites, changes);
        }
    }

    private final InForce<Watched> inForce;
    private final boolean decides;
    private final LongSupplier newestEventMs;
    private final ReloadListener listener;
    private final Consumer<LogSettings> log;
    private final FollowedTopic versions;
    private ReadConfig lastRead;
    private Loaded running;
    private @Nullable Loaded waiting;

    /** Stays until a broker has taken a version of it, or the file comes to another one that is not refused. */
    private @Nullable Loaded unpublished;

    private @Nullable ConfigVersion newest;

    /** Hash of the version that was sent last, while it is not heard: it may have come and be the newest. */
    private @Nullable String unheard;

    /** Tells why the file was not taken over when it was read last; null: it was. */
    private @Nullable String refusal;

    private boolean fromTheStart = true;

    /** Time of the topic's first record; null: none is heard yet. Of the thread that hears. */
    private @Nullable Long topicMs;

    private ConfigReload(
            FirstRead first,
            InForce<Watched> inForce,
            boolean decides,
            LongSupplier newestEventMs,
            ReloadListener listener,
            Consumer<LogSettings> log) {
        this.inForce = inForce;
        this.decides = decides;
        this.newestEventMs = newestEventMs;
        this.listener = listener;
        this.log = log;
        lastRead = first.read();
        running = new Loaded(first.read(), first.prints(), inForce.newest().sites(), List.of());
        listener.onConfiguration(first.config(), first.prints().sha256(), null);
        listener.onRead(true);
        versions = FollowedTopic.follow(
                first.config(), first.config().topics().configuration(), "configurations", this::heard);
    }

    /**
     * Begins with the configuration of the start, and reads which versions there were.
     *
     * @param inForce takes over what follows
     * @param decides whether this process says from which window on a version holds: one that monitors does
     * @param newestEventMs latest event time that was read, by whatever instance; {@link Long#MIN_VALUE}: none yet
     * @param log hears how the log is to be written, of each configuration that is taken
     * @throws IllegalStateException when the topic cannot be read
     */
    public static ConfigReload start(
            FirstRead first,
            InForce<Watched> inForce,
            boolean decides,
            LongSupplier newestEventMs,
            ReloadListener listener,
            Consumer<LogSettings> log)
            throws InterruptedException {
        ConfigReload reload = new ConfigReload(first, inForce, decides, newestEventMs, listener, log);
        if (!reload.versions.awaitCaughtUp(WAIT_SECONDS)) {
            reload.close();
            throw new IllegalStateException("the topic \"%s\" could not be read to its end within %d s"
                    .formatted(first.config().topics().configuration(), WAIT_SECONDS));
        }
        reload.tell();
        return reload;
    }

    /** Publishes what this process started with, where the instances had agreed on something else, or on nothing. */
    private synchronized void tell() {
        if (decides && !running.is(newest)) {
            unpublished = running;
            lookAgain();
        }
    }

    /** Returns the files that the configuration names that was read last, refused for one that is not there too. */
    synchronized List<Path> files() {
        return Fingerprints.files(lastRead.config());
    }

    /** Reads the file, checks it, and goes over to it with the other instances. */
    synchronized void reload(Path file) throws InterruptedException {
        String why = null;
        try {
            read(file);
        } catch (IOException | RuntimeException | Error refused) {
            // An error too, such as no memory for a second baseline: what is judged goes on.
            why = String.valueOf(refused.getMessage());
        }
        listener.onRead(why == null);
        if (why != null && !why.equals(refusal)) {
            LOG.error(
                    "the configuration changed and is not taken over, the one before holds on: file={} reason={}",
                    Printable.value(file),
                    Printable.value(why));
        }
        refusal = why;
    }

    private void read(Path file) throws IOException, InterruptedException {
        ReadConfig next = ReadConfig.of(file);
        lastRead = next;
        ConfigDifference difference = ConfigDifference.of(running.read(), next);
        if (!difference.fixed().isEmpty()) {
            throw new IllegalStateException(
                    "a running process cannot take this over, restart it: " + String.join("; ", difference.fixed()));
        }
        Fingerprints prints = Fingerprints.of(next);
        Loaded before = waiting == null ? running : waiting;
        if (prints.sha256().equals(before.prints().sha256())) {
            running = waiting == null ? running.with(next) : running;
        } else {
            List<String> changes =
                    difference.live().isEmpty() ? List.of("a file that it names has other content") : difference.live();
            boolean isRunning = prints.sha256().equals(running.prints().sha256());
            Loaded loaded =
                    new Loaded(next, prints, isRunning ? running.sites() : sites(next.config(), prints), changes);
            waiting = loaded;
            agree(loaded);
        }
        log.accept(next.config().log());
    }

    /** Publishes what no broker took before, and forgets what no window needs any more. */
    synchronized void lookAgain() {
        Loaded late = unpublished;
        if (late != null) {
            try {
                publish(late);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException still) {
                LOG.warn(
                        "a version of the configuration is not published yet: reason={}",
                        Printable.value(still.getMessage()));
            }
        }
        long eventMs = newestEventMs.getAsLong();
        if (eventMs != Long.MIN_VALUE) {
            long windowMs = running.read().config().window().sizeMs();
            inForce.forgetBefore(eventMs - Math.max(NEEDED_FOR.toMillis(), 2 * windowMs));
        }
    }

    private Map<String, WatchedSite> sites(MonitorConfig next, Fingerprints prints) {
        Set<String> sameBaselines = next.sites().keySet().stream()
                .filter(site -> prints.hasSameBaseline(site, running.prints()))
                .collect(Collectors.toSet());
        List<ConfigCheck.Site> checked = ConfigCheck.sites(next, new SiteFiles(running.sites(), sameBaselines));
        List<String> problems = new ArrayList<>();
        checked.forEach(site -> site.problems()
                .forEach(problem ->
                        problems.add("site %s: %s".formatted(site.settings().site(), problem))));
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems));
        }
        Map<String, WatchedSite> sites = new LinkedHashMap<>();
        for (ConfigCheck.Site site : checked) {
            String name = site.settings().site();
            WatchedSite before = running.sites().get(name);
            if (before != null && prints.isSame(name, running.prints())) {
                sites.put(name, before);
            } else {
                WatchedSite watched = site.watched();
                requireSameRows(before, watched);
                sites.put(name, watched);
            }
        }
        return sites;
    }

    /** Refuses a baseline that masks other rows: what is summed of open panes would not be one sum. */
    private static void requireSameRows(@Nullable WatchedSite before, WatchedSite after) {
        if (before != null && !MonitorTopology.agreed(before).equals(MonitorTopology.agreed(after))) {
            throw new IllegalArgumentException(
                    "site %s: baseline: other rows enter its sums (%s) than those of the one in service (%s)"
                            .formatted(after.site(), MonitorTopology.agreed(after), MonitorTopology.agreed(before)));
        }
    }

    /** Goes over with a version that another instance published already, or publishes one. */
    private void agree(Loaded next) throws InterruptedException {
        unpublished = null;
        ConfigVersion agreed = newest;
        boolean isUndone = unheard != null && !unheard.equals(next.prints().sha256());
        if (agreed != null && next.is(agreed) && !isUndone) {
            takeOver(next, agreed);
        } else if (decides) {
            unpublished = next;
            try {
                publish(next);
            } catch (IllegalStateException away) {
                LOG.warn(
                        "a version of the configuration is not published yet: reason={}",
                        Printable.value(away.getMessage()));
            }
        } else {
            LOG.info(
                    "the configuration changed and waits for a monitor to say from which window on: hash={}",
                    next.prints().sha256());
        }
    }

    private void publish(Loaded next) throws InterruptedException {
        MonitorConfig config = running.read().config();
        ConfigVersion version = new ConfigVersion(
                ConfigVersion.SCHEMA,
                0,
                next.prints().sha256(),
                edge(next.read().config().window()),
                System.currentTimeMillis(),
                HostName.local(),
                0,
                next.changes());
        unheard = version.sha256();
        FollowedTopic.publish(config, config.topics().configuration(), Map.of(version.sha256(), version));
        unpublished = null;
    }

    /** Returns the first start of a window that lies the notice ahead. */
    private long edge(WindowSettings window) {
        long eventMs = newestEventMs.getAsLong();
        long from = (eventMs == Long.MIN_VALUE ? System.currentTimeMillis() : eventMs) + NOTICE.toMillis();
        return Math.floorDiv(from + window.advanceMs() - 1, window.advanceMs()) * window.advanceMs();
    }

    private void heard(ConsumerRecord<byte[], byte[]> record) {
        long firstRecordMs = topicMs == null ? record.timestamp() : topicMs;
        topicMs = firstRecordMs;
        heard(ConfigVersion.of(record, firstRecordMs));
    }

    private synchronized void heard(ConfigVersion heard) {
        if (heard.sha256().equals(unheard)) {
            unheard = null;
        }
        Loaded next = waiting;
        boolean isAwaited = next != null && next.is(heard);
        ConfigVersion before = newest;
        boolean isRepeated = before != null && before.sha256().equals(heard.sha256());
        if (isRepeated && !isAwaited) {
            return; // two instances published the same
        }
        ConfigVersion version = isRepeated ? Objects.requireNonNull(before) : heard;
        newest = version;
        if (next != null && isAwaited) {
            try {
                takeOver(next, version);
            } catch (RuntimeException broken) {
                refusal = String.valueOf(broken.getMessage());
                listener.onRead(false);
                listener.onOther(true);
                LOG.error(
                        "a configuration that was agreed on cannot be taken over: version={} reason={}",
                        version.version(),
                        Printable.value(broken.getMessage()));
            }
        } else if (running.is(version)) {
            listener.onOther(false);
            listener.onConfiguration(
                    running.read().config(), version.sha256(), fromTheStart ? version.fromTheStart() : version);
            listener.onSites(
                    running.sites(),
                    running.prints().baselines(),
                    running.read().config(),
                    version);
        } else {
            listener.onOther(true);
            LOG.warn(
                    "the instances agreed on a configuration that this one does not have: version={} hash={} from={} "
                            + "published_by={}\nit is taken over when the file here comes to the same",
                    version.version(),
                    version.sha256(),
                    Instant.ofEpochMilli(version.fromMs()),
                    Printable.value(version.publishedBy()));
        }
    }

    private void takeOver(Loaded next, ConfigVersion version) {
        waiting = null; // first: what fails below is tried again when the file is read again
        inForce.takeOver(version.fromMs(), new Watched(next.read().config(), next.sites()));
        running = next;
        fromTheStart = false;
        listener.onOther(false);
        listener.onConfiguration(next.read().config(), next.prints().sha256(), version);
        listener.onSites(next.sites(), next.prints().baselines(), next.read().config(), version);
        LOG.info(
                "the configuration is taken over: version={} from={} hash={} changes={}",
                version.version(),
                Instant.ofEpochMilli(version.fromMs()),
                version.sha256(),
                Printable.value(String.join("; ", next.changes())));
    }

    @Override
    public void close() {
        versions.close();
    }
}
