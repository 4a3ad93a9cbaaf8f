package io.plumbline.topology.fuzz;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;

/**
 * Feeds mutated inputs to a target and holds it to what is promised of hostile bytes: every input is taken or refused
 * with a sentence; no other exception, no stack overflow, no running out of memory, no allocation beyond the target's
 * cap, no hang.
 */
final class Fuzz {

    /** The patience, far above what any input needs, also on a busy machine: what takes longer hangs. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final int LARGEST_HEX = 2_048;
    private static final int LONGEST_TRACE = 40;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final FuzzTarget target;
    private final String origin;
    private final IntFunction<List<byte[]>> inputs;
    private final int count;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile int index;
    private volatile long begunNanos = System.nanoTime();
    private int valid;
    private boolean taken;

    private Fuzz(FuzzTarget target, String origin, IntFunction<List<byte[]>> inputs, int count) {
        this.target = target;
        this.origin = origin;
        this.inputs = inputs;
        this.count = count;
    }

    /** The result of a run. */
    record Report(String target, int inputs, int valid, double seconds) {
        @Override
        public String toString() {
            return "%-22s %,9d inputs, %,8d valid, %,9d refused, %6.1f s"
                    .formatted(target, inputs, valid, inputs - valid, seconds);
        }
    }

    /** Runs so many inputs of this seed. */
    static Report run(FuzzTarget target, long seed, int inputs) throws InterruptedException {
        return new Fuzz(target, "seed " + seed, index -> Mutator.input(target, seed, index), inputs).run();
    }

    /** Runs one input that was kept. */
    static void replay(FuzzTarget target, Path kept) throws InterruptedException, IOException {
        List<byte[]> parts = split(Files.readAllBytes(kept));
        Report unused = new Fuzz(target, kept.toString(), index -> parts, 1).run();
    }

    private Report run() throws InterruptedException {
        long begin = System.nanoTime();
        Thread worker = new Thread(this::work, "fuzz-" + target.name());
        worker.setDaemon(true);
        worker.start();
        while (!ended.await(200, TimeUnit.MILLISECONDS)) {
            long onOneInput = System.nanoTime() - begunNanos;
            if (onOneInput > PATIENCE_NANOS) {
                StringBuilder where = new StringBuilder();
                Arrays.stream(worker.getStackTrace()).limit(LONGEST_TRACE).forEach(frame -> where.append("\n  at ")
                        .append(frame));
                throw new AssertionError(described(
                        "hangs: after %d s it is%s".formatted(TimeUnit.NANOSECONDS.toSeconds(onOneInput), where)));
            }
        }
        Throwable found = failure.get();
        if (found != null) {
            throw new AssertionError(described(String.valueOf(found)), found);
        }
        return new Report(target.name(), count, valid, (System.nanoTime() - begin) / 1e9);
    }

    private void work() {
        try {
            for (int i = 0; i < count; i++) {
                index = i;
                begunNanos = System.nanoTime();
                one(inputs.apply(i), i < target.corpus().size() && count > 1);
            }
        } catch (Throwable defect) {
            failure.set(defect);
        } finally {
            ended.countDown();
        }
    }

    private void one(List<byte[]> input, boolean mustBeValid) throws Throwable {
        long cap = target.largestAllocation(input);
        long allocated = read(input, mustBeValid);
        valid += taken ? 1 : 0;
        if (allocated > cap) {
            // The first time also loads classes and fills caches, which is not the input's doing.
            allocated = Math.min(read(input, mustBeValid), read(input, mustBeValid));
        }
        if (allocated > cap) {
            throw new AssertionError("allocates %,d bytes, the cap for this input is %,d".formatted(allocated, cap));
        }
    }

    private long read(List<byte[]> input, boolean mustBeValid) throws Throwable {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try {
            target.subject().read(input);
            taken = true;
        } catch (IllegalArgumentException | IllegalStateException refusal) {
            if (mustBeValid) {
                throw new AssertionError("a valid input is refused", refusal);
            }
            requireNamed(refusal);
            taken = false;
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /** Requires that refusals are our own sentences, not what a library happened to throw. */
    private static void requireNamed(RuntimeException refusal) {
        boolean ours = !(refusal instanceof NumberFormatException)
                && refusal.getStackTrace().length > 0
                && refusal.getStackTrace()[0].getClassName().startsWith("io.plumbline.");
        if (!ours || refusal.getMessage() == null || refusal.getMessage().isBlank()) {
            throw new AssertionError("not a refusal of ours with a sentence", refusal);
        }
    }

    private String described(String defect) {
        byte[] whole = joined(inputs.apply(index));
        Path kept = Path.of(
                "target", "fuzz", target.name().replace(' ', '-'), origin.replaceAll(".*[/ ]", "") + "-" + index);
        try {
            Files.createDirectories(kept.getParent());
            Files.write(kept, whole);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ("%s, %s, input %d: %s%n  the input (parts with their lengths) is in %s; "
                        + "kept under src/test/resources/%s it is tried every time%n  %s")
                .formatted(
                        target.name(),
                        origin,
                        index,
                        defect,
                        kept.toAbsolutePath(),
                        FuzzTest.REGRESSIONS,
                        whole.length <= LARGEST_HEX ? HexFormat.of().formatHex(whole) : whole.length + " bytes");
    }

    /** Writes the number of parts, then each with its length in front. */
    static byte[] joined(List<byte[]> parts) {
        ByteBuffer whole = ByteBuffer.allocate(
                4 + parts.stream().mapToInt(part -> 4 + part.length).sum());
        whole.putInt(parts.size());
        parts.forEach(part -> whole.putInt(part.length).put(part));
        return whole.array();
    }

    private static List<byte[]> split(byte[] whole) {
        ByteBuffer buffer = ByteBuffer.wrap(whole);
        List<byte[]> parts = new ArrayList<>();
        for (int count = buffer.getInt(); count > 0; count--) {
            byte[] part = new byte[buffer.getInt()];
            buffer.get(part);
            parts.add(part);
        }
        return parts;
    }
}
