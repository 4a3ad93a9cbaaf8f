package io.plumbline.topology.kafka;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Lets one line of a kind into the log per minute and counts those that it holds back.
 *
 * <p>Memory: the last {@value #REMEMBERED} kinds. Thread-safe.
 */
public final class OncePerMinute {

    private static final int REMEMBERED = 256;
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private record Written(long nanos, long heldBack) {}

    private final LongSupplier nanoTime;
    private final Map<String, Written> lines = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Written> eldest) {
            return size() > REMEMBERED;
        }
    };

    /** @param nanoTime a clock like {@link System#nanoTime} */
    public OncePerMinute(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Returns how many lines of this kind were held back before this one, or nothing where this one is held back. */
    public synchronized OptionalLong take(String kind) {
        long now = nanoTime.getAsLong();
        Written before = lines.get(kind);
        if (before != null && now - before.nanos() < QUIET_NANOS) {
            lines.replace(kind, new Written(before.nanos(), before.heldBack() + 1));
            return OptionalLong.empty();
        }
        lines.remove(kind); // so that it is the newest again
        lines.put(kind, new Written(now, 0));
        return OptionalLong.of(before == null ? 0 : before.heldBack());
    }
}
