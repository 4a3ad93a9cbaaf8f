package io.plumbline.causal.heads;

import java.time.Duration;

/**
 * Limits of the memory, threads and time that a head may take.
 *
 * @param bytes largest file that is loaded
 * @param threads threads of one run
 * @param time longest time for one run of one request
 */
public record HeadLimits(long bytes, int threads, Duration time) {

    /** The limits where nothing else is said: 2 GiB, which is the most that one ONNX file holds; two threads; 30 s. */
    public static final HeadLimits DEFAULTS = new HeadLimits(2L << 30, 2, Duration.ofSeconds(30));

    public HeadLimits {
        if (bytes < 1 || threads < 1 || threads > 1_024 || time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException(("bytes = %d, threads = %d, time = %s: expected 1 byte or more, "
                            + "1 to 1024 threads and more than no time")
                    .formatted(bytes, threads, time));
        }
    }

    public HeadLimits withThreads(int count) {
        return new HeadLimits(bytes, count, time);
    }

    public HeadLimits withTime(Duration limit) {
        return new HeadLimits(bytes, threads, limit);
    }
}
