package io.plumbline.topology.windows;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * How far the source partitions of one site have come, as seen by the composer, and how far its windows are closed.
 *
 * <p>The frontier, up to which every window may close, is the minimum over the partitions that are not silent; where all
 * are silent, the maximum of what they closed. A partition that was never heard from holds the frontier back: the
 * accumulator of every partition reports each configured site, as silent after the idle timeout if it has no rows.
 */
final class SiteProgress {

    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 13;
    private static final int BYTES_PER_PARTITION = 10;
    static final long NEVER = Long.MIN_VALUE;

    private long[] closedUpToMs = new long[0];
    private boolean[] silent = new boolean[0];
    private boolean[] heard = new boolean[0];
    private long windowsClosedUpToMs = NEVER;

    void update(PaneMessage.Progress progress) {
        int partitions = Math.max(closedUpToMs.length, progress.partitions());
        if (partitions > closedUpToMs.length) {
            int known = closedUpToMs.length;
            closedUpToMs = Arrays.copyOf(closedUpToMs, partitions);
            Arrays.fill(closedUpToMs, known, partitions, NEVER);
            silent = Arrays.copyOf(silent, partitions);
            heard = Arrays.copyOf(heard, partitions);
        }
        int partition = progress.partition();
        heard[partition] = true;
        silent[partition] = progress.silent();
        closedUpToMs[partition] = Math.max(closedUpToMs[partition], progress.closedUpToMs());
    }

    /** The time up to which every partition that counts has sent everything. */
    long frontierMs() {
        long slowest = Long.MAX_VALUE;
        long farthest = NEVER;
        boolean someoneSpeaks = false;
        for (int p = 0; p < closedUpToMs.length; p++) {
            if (!heard[p]) {
                return NEVER;
            }
            farthest = Math.max(farthest, closedUpToMs[p]);
            if (!silent[p]) {
                someoneSpeaks = true;
                slowest = Math.min(slowest, closedUpToMs[p]);
            }
        }
        return someoneSpeaks ? slowest : farthest;
    }

    boolean isClosed(long paneEndMs) {
        return paneEndMs <= windowsClosedUpToMs;
    }

    long windowsClosedUpToMs() {
        return windowsClosedUpToMs;
    }

    void closeWindowsUpTo(long timeMs) {
        windowsClosedUpToMs = Math.max(windowsClosedUpToMs, timeMs);
    }

    static final SiteStateCodec<SiteProgress> CODEC = new SiteStateCodec<>() {
        @Override
        public SiteProgress initial() {
            return new SiteProgress();
        }

        @Override
        public byte[] encode(SiteProgress progress) {
            int partitions = progress.closedUpToMs.length;
            ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + BYTES_PER_PARTITION * partitions)
                    .put(VERSION)
                    .putInt(partitions)
                    .putLong(progress.windowsClosedUpToMs);
            for (int p = 0; p < partitions; p++) {
                buffer.putLong(progress.closedUpToMs[p])
                        .put((byte) (progress.silent[p] ? 1 : 0))
                        .put((byte) (progress.heard[p] ? 1 : 0));
            }
            return buffer.array();
        }

        @Override
        public SiteProgress decode(byte[] bytes) {
            ByteBuffer buffer = StateVersion.open("site progress", VERSION, bytes);
            int partitions = Math.max(0, bytes.length - HEADER_BYTES) / BYTES_PER_PARTITION;
            StateVersion.requireLength("site progress", HEADER_BYTES + BYTES_PER_PARTITION * partitions, bytes);
            if (buffer.getInt() != partitions) {
                throw new IllegalStateException(
                        "the state store holds a site progress that is cut short; reset the application's state");
            }
            SiteProgress progress = new SiteProgress();
            progress.windowsClosedUpToMs = buffer.getLong();
            progress.closedUpToMs = new long[partitions];
            progress.silent = new boolean[partitions];
            progress.heard = new boolean[partitions];
            for (int p = 0; p < partitions; p++) {
                progress.closedUpToMs[p] = buffer.getLong();
                progress.silent[p] = buffer.get() != 0;
                progress.heard[p] = buffer.get() != 0;
            }
            return progress;
        }
    };
}
