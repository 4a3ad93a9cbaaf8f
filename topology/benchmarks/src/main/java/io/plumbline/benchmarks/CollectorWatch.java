package io.plumbline.benchmarks;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;

/** Hears of every pause of this process's garbage collectors until it is closed. Thread-safe. */
final class CollectorWatch implements AutoCloseable {

    /** The listener as one object: it must be the same one that is taken away. */
    private final NotificationListener listener = this::heard;

    private final List<NotificationEmitter> watched = new ArrayList<>();
    private final List<Double> milliseconds = new ArrayList<>();

    CollectorWatch() {
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (stopsTheWorld(collector.getName()) && collector instanceof NotificationEmitter emitter) {
                emitter.addNotificationListener(listener, null, null);
                watched.add(emitter);
            }
        }
    }

    /**
     * Returns whether a collector stops everyone; some have a bean of their own for what they do while everyone else
     * runs.
     */
    static boolean stopsTheWorld(String collector) {
        return !collector.contains("Cycles") && !collector.contains("Concurrent");
    }

    private synchronized void heard(Notification notification, @Nullable Object unused) {
        if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            milliseconds.add((double) GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())
                    .getGcInfo()
                    .getDuration());
        }
    }

    synchronized Pauses pauses(String what) {
        return Pauses.of(
                what, milliseconds.stream().mapToDouble(Double::doubleValue).toArray());
    }

    @Override
    public void close() {
        for (NotificationEmitter emitter : watched) {
            try {
                emitter.removeNotificationListener(listener);
            } catch (ListenerNotFoundException e) {
                throw new IllegalStateException("the listener was added and is gone", e);
            }
        }
    }
}
