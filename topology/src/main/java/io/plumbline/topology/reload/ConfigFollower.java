package io.plumbline.topology.reload;

import io.plumbline.wire.Printable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks every few seconds whether a configuration or a file that it names has changed. One daemon thread. */
public final class ConfigFollower implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ConfigFollower.class);
    private static final long LOOK_SECONDS = 5;

    private final Path file;
    private final ConfigReload reload;
    private final ScheduledExecutorService looking = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "configuration-file");
        thread.setDaemon(true);
        return thread;
    });

    private List<String> seen;

    private ConfigFollower(Path file, ConfigReload reload) {
        this.file = file;
        this.reload = reload;
        seen = look();
    }

    /** Follows a file. Whoever may write it may do so, and nobody else: the HTTP server changes nothing. */
    public static ConfigFollower start(Path file, ConfigReload reload) {
        ConfigFollower follower = new ConfigFollower(file, reload);
        ScheduledFuture<?> unused = follower.looking.scheduleWithFixedDelay(
                follower::compare, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
        return follower;
    }

    private void compare() {
        try {
            reload.lookAgain();
            List<String> now = look();
            if (!now.equals(seen)) {
                seen = now; // of before it is read: what changes meanwhile is seen at the next look
                reload.reload(file);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.error("the configuration could not be looked at: reason={}", Printable.value(e), e);
        }
    }

    /** Returns what shows a change of the file or of one that it names. */
    private List<String> look() {
        List<String> found = new ArrayList<>();
        found.add(state(file));
        reload.files().forEach(one -> found.add(state(one)));
        return found;
    }

    private static String state(Path one) {
        try {
            return "%s %s %d".formatted(one, Files.getLastModifiedTime(one), Files.size(one));
        } catch (IOException gone) {
            return one + " is not there";
        }
    }

    @Override
    public void close() {
        looking.shutdownNow();
    }
}
