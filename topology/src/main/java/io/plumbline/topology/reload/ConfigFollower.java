package io.plumbline.topology.reload;

import io.plumbline.wire.Printable;
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

    private ConfigFollower(FirstRead first, ConfigReload reload) {
        file = first.file();
        seen = first.seen();
        this.reload = reload;
    }

    /** Follows a file. Whoever may write it may do so, and nobody else: the HTTP server changes nothing. */
    public static ConfigFollower start(FirstRead first, ConfigReload reload) {
        ConfigFollower follower = new ConfigFollower(first, reload);
        ScheduledFuture<?> unused = follower.looking.scheduleWithFixedDelay(
                follower::compare, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
        return follower;
    }

    private void compare() {
        try {
            reload.lookAgain();
            List<String> now = new ArrayList<>(List.of(FirstRead.state(file)));
            reload.files().forEach(one -> now.add(FirstRead.state(one)));
            if (!now.equals(seen)) {
                seen = now; // of before it is read: what changes meanwhile is seen at the next look
                reload.reload(file);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            // Whatever it is: a schedule ends with what its task throws, without a word.
            LOG.error("the configuration could not be looked at: reason={}", Printable.value(e), e);
        }
    }

    @Override
    public void close() {
        looking.shutdownNow();
    }
}
