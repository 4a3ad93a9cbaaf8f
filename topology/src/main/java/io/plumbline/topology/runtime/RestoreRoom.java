package io.plumbline.topology.runtime;

import io.plumbline.wire.HeapNeeded;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * Ends a monitor whose state, read back from its change-logs, does not fit the heap, before Java runs out of memory
 * without a sentence. That may happen to state which a larger heap wrote.
 *
 * <p>Called by all stream threads.
 */
final class RestoreRoom implements StateRestoreListener {

    /** The share of the heap that stays free: the next batch, and what a start makes besides, must fit. */
    private static final int RESERVE = 16;

    /** A store in memory holds the bytes of a pane, and the open pane takes as many. */
    private static final double STORED_AND_OPEN = 2.0;

    private record Stretch(long from, long to) {}

    private final Map<TopicPartition, Stretch> restoring = new ConcurrentHashMap<>();

    /** The least that was used when a change-log began to be read: what the process holds besides. */
    private final AtomicLong besides = new AtomicLong(Long.MAX_VALUE);

    @Override
    public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
        restoring.put(partition, new Stretch(from, to));
        besides.accumulateAndGet(HeapNeeded.used(), Math::min);
    }

    /** @throws IllegalStateException naming the heap to give, reckoned from the share that is read */
    @Override
    public void onBatchRestored(TopicPartition partition, String store, long offset, long restored) {
        if (HeapNeeded.isFree(Runtime.getRuntime().maxMemory() / RESERVE)) {
            return;
        }
        Stretch stretch = restoring.getOrDefault(partition, new Stretch(0, offset));
        double read = (double) Math.max(1, offset - stretch.from()) / Math.max(1, stretch.to() - stretch.from());
        double share = Math.min(1, read);
        long held = Math.min(besides.get(), HeapNeeded.used());
        throw new IllegalStateException(HeapNeeded.refusal(
                "what this process holds with its state, reckoned from the %.0f %% of %s that are read back,"
                        .formatted(100 * share, partition),
                held + Math.round(STORED_AND_OPEN * (HeapNeeded.used() - held) / share)));
    }

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long restored) {
        restoring.remove(partition);
    }
}
