package io.plumbline.topology.reload;

import io.plumbline.topology.MonitorTopology;
import io.plumbline.topology.Watched;
import io.plumbline.topology.assessment.SiteFiles;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.ConfigDifference;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.ReadConfig;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over a changed configuration: whole or not at all, and from the same window on in every instance.
 *
 * <p><b>Memory.</b> A site that changes is held twice until no window needs what it was, about an hour; a site that
 * does not change, and every explainer, once.
 *
 * <p>Thread-safe.
 */
public final class ConfigReload implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ConfigReload.class);

    /** The event time between a version and the first window judged by it: for files to reach every machine. */
    static final Duration NOTICE = Duration.ofMinutes(2);

    private static final Duration NEEDED_FOR = Duration.ofHours(1);
    private static final long WAIT_SECONDS = 60;

    /** A configuration with what was made of it. */
    private record Loaded(ReadConfig read, Fingerprints prints, Map<String, WatchedSite> sites, List<String> changes) {}

    private final InForce<Watched> inForce;
    private final boolean decides;
    private final LongSupplier newestEventMs;
    private final ReloadListener listener;
    private final ConfigVersions versions;
    private Loaded running;
    private @Nullable Loaded waiting;

    /** Stays until a broker has taken a version of it. */
    private @Nullable Loaded unpublished;

    private @Nullable ConfigVersion newest;

    private ConfigReload(
            ReadConfig read,
            Fingerprints prints,
            InForce<Watched> inForce,
            boolean decides,
            LongSupplier newestEventMs,
            ReloadListener listener) {
        this.inForce = inForce;
        this.decides = decides;
        this.newestEventMs = newestEventMs;
        this.listener = listener;
        running = new Loaded(read, prints, inForce.newest().sites(), List.of());
        listener.onConfiguration(read.config(), prints.sha256(), null);
        listener.onRead(true);
        versions = ConfigVersions.follow(read.config(), this::heard);
    }

    /**
     * Begins with the configuration of the start, and reads which versions there were.
     *
     * @param inForce takes over what follows
     * @param decides whether this process says from which window on a version holds: one that monitors does
     * @param newestEventMs latest event time that was read, by whatever instance; {@link Long#MIN_VALUE}: none yet
     * @throws IllegalStateException when the topic cannot be read
     */
    public static ConfigReload start(
            ReadConfig read,
            InForce<Watched> inForce,
            boolean decides,
            LongSupplier newestEventMs,
            ReloadListener listener)
            throws InterruptedException {
        Fingerprints prints;
        try {
            prints = Fingerprints.of(read);
        } catch (IOException e) {
            throw new UncheckedIOException("a file of the configuration cannot be read: " + e.getMessage(), e);
        }
        ConfigReload reload = new ConfigReload(read, prints, inForce, decides, newestEventMs, listener);
        if (!reload.versions.awaitCaughtUp(WAIT_SECONDS)) {
            reload.close();
            throw new IllegalStateException("the topic \"%s\" could not be read to its end within %d s"
                    .formatted(read.config().topics().configuration(), WAIT_SECONDS));
        }
        reload.tell();
        return reload;
    }

    /** Publishes what this process started with, where the instances had agreed on something else before. */
    private synchronized void tell() {
        if (decides
                && newest != null
                && !newest.sha256().equals(running.prints().sha256())) {
            unpublished = running;
            lookAgain();
        }
    }

    /** Returns the files that the configuration in force names, and this process reads anew. */
    synchronized List<Path> files() {
        return Fingerprints.files((waiting == null ? running : waiting).read().config());
    }

    /** Reads the file, checks it, and goes over to it with the other instances. */
    synchronized void reload(Path file) throws InterruptedException {
        try {
            Loaded next = load(file);
            if (next == null) {
                listener.onRead(true);
                return;
            }
            waiting = next;
            agree(next);
            listener.onRead(true);
        } catch (IOException | RuntimeException refused) {
            listener.onRead(false);
            LOG.error(
                    "the configuration changed and is not taken over, the one before holds on: file={} reason={}",
                    Printable.value(file),
                    Printable.value(refused.getMessage()));
        }
    }

    /** Publishes what no broker took before, and forgets what no window needs any more. */
    synchronized void lookAgain() {
        if (unpublished != null) {
            try {
                publish(unpublished);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException still) {
                LOG.warn(
                        "a version of the configuration is not published yet: reason={}",
                        Printable.value(still.getMessage()));
            }
        }
        forget();
    }

    private void forget() {
        WindowSettings window = running.read().config().window();
        long eventMs = newestEventMs.getAsLong();
        if (eventMs != Long.MIN_VALUE) {
            inForce.forgetBefore(eventMs - Math.max(NEEDED_FOR.toMillis(), window.sizeMs() + 2 * window.graceMs()));
        }
    }

    /** Returns what the file says now with what is made of it; null where that is what holds, or waits already. */
    private @Nullable Loaded load(Path file) throws IOException {
        ReadConfig next = ReadConfig.of(file);
        ConfigDifference difference = ConfigDifference.of(running.read().effective(), next.effective());
        if (!difference.fixed().isEmpty()) {
            throw new IllegalStateException(
                    "a running process cannot take this over, restart it: " + String.join("; ", difference.fixed()));
        }
        Fingerprints prints = Fingerprints.of(next);
        Loaded before = waiting == null ? running : waiting;
        if (prints.sha256().equals(before.prints().sha256())) {
            return null;
        }
        if (prints.sha256().equals(running.prints().sha256())) {
            return new Loaded(next, prints, running.sites(), difference.live());
        }
        List<String> changes =
                difference.live().isEmpty() ? List.of("a file that it names has other content") : difference.live();
        return new Loaded(next, prints, sites(next.config(), prints), changes);
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
        ConfigVersion agreed = newest;
        if (agreed != null && agreed.sha256().equals(next.prints().sha256())) {
            takeOver(next, agreed);
        } else if (decides) {
            unpublished = next;
            publish(next);
        } else {
            LOG.info(
                    "the configuration changed and waits for a monitor to say from which window on: hash={}",
                    next.prints().sha256());
        }
    }

    private void publish(Loaded next) throws InterruptedException {
        versions.publish(new ConfigVersion(
                ConfigVersion.SCHEMA,
                0,
                next.prints().sha256(),
                edge(next.read().config().window()),
                System.currentTimeMillis(),
                HostName.local(),
                next.changes()));
        unpublished = null;
        listener.onRead(true);
    }

    /** Returns the first start of a window that lies the notice ahead. */
    private long edge(WindowSettings window) {
        long eventMs = newestEventMs.getAsLong();
        long from = (eventMs == Long.MIN_VALUE ? System.currentTimeMillis() : eventMs) + NOTICE.toMillis();
        return Math.floorDiv(from + window.advanceMs() - 1, window.advanceMs()) * window.advanceMs();
    }

    private synchronized void heard(ConfigVersion version) {
        ConfigVersion before = newest;
        if (before != null && before.sha256().equals(version.sha256())) {
            return; // two instances published the same
        }
        newest = version;
        Loaded next = waiting;
        if (next != null && next.prints().sha256().equals(version.sha256())) {
            takeOver(next, version);
        } else if (running.prints().sha256().equals(version.sha256())) {
            waiting = null;
            listener.onOther(false);
            listener.onConfiguration(running.read().config(), version.sha256(), version);
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
        try {
            inForce.takeOver(version.fromMs(), new Watched(next.read().config(), next.sites()));
        } catch (RuntimeException broken) {
            waiting = null;
            listener.onRead(false);
            listener.onOther(true);
            LOG.error(
                    "a configuration that was agreed on cannot be taken over: version={} reason={}",
                    version.version(),
                    Printable.value(broken.getMessage()));
            return;
        }
        running = next;
        waiting = null;
        listener.onOther(false);
        listener.onConfiguration(next.read().config(), next.prints().sha256(), version);
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
