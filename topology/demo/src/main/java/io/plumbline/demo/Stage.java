package io.plumbline.demo;

import io.plumbline.explainer.Explainer;
import io.plumbline.judgement.Amounts;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.jspecify.annotations.Nullable;

/**
 * Holds what every demonstration has: things that were started and end with it, a time limit, a subscriber and the
 * lines it prints.
 */
abstract class Stage implements AutoCloseable {

    private static final long STOP_SECONDS = 15;

    final PrintWriter out;
    final long deadlineNanos;
    private final Deque<AutoCloseable> started = new ArrayDeque<>();
    private final BlockingQueue<PublishedDecoder> swaps = new LinkedBlockingQueue<>();
    private final CountDownLatch cleanedUp = new CountDownLatch(1);
    private volatile boolean stopping;

    /**
     * The thread that plays, from when it may be interrupted: a broker whose start is interrupted complains at length.
     */
    private volatile @Nullable Thread player;

    Stage(PrintWriter out, long seconds) {
        this.out = out;
        this.deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    /** The result of {@link #run}. */
    public record Result(List<String> missing, InetSocketAddress httpAddress, String bootstrapServers) {}

    /** Runs the story and prints it; returns what was promised and not shown. */
    public abstract Result run() throws Exception;

    /** Says that the broker is up, and this thread may be interrupted. */
    final void mayBeInterrupted() {
        player = Thread.currentThread();
    }

    /** Waits for the next decoder that the subscriber swaps in, and says so. */
    final PublishedDecoder nextSwap() throws InterruptedException {
        PublishedDecoder swapped = swaps.poll(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (swapped == null) {
            throw new IllegalStateException("the subscriber saw no decoder in time");
        }
        say("  subscriber: version %d (%s) complete in %s, sha256 %s..., parent matches: swapped in"
                .formatted(
                        swapped.version(),
                        swapped.manifest().kind(),
                        Amounts.count(swapped.manifest().chunks(), "chunk"),
                        swapped.manifest().sha256().substring(0, 12)));
        return swapped;
    }

    final void subscribe(MonitorConfig config, String site, Explainer explainer) {
        Properties kafka = new Properties();
        kafka.put("bootstrap.servers", config.bootstrapServers());
        DecoderListener listener = swaps::add;
        own(DecoderSubscriber.start(
                kafka,
                config.topics().decoders(),
                DecoderSubscription.of(Map.of(site, explainer.decoder())),
                listener));
    }

    static void createTopic(String bootstrapServers, String name, int partitions) throws InterruptedException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
            admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1)))
                    .all()
                    .get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("topic %s could not be created".formatted(name), e);
        }
    }

    final void say(String line) {
        out.println(line);
        out.flush();
    }

    final synchronized <T extends AutoCloseable> T own(T closeable) {
        started.push(closeable);
        if (stopping) {
            throw new IllegalStateException("the demonstration was stopped");
        }
        return closeable;
    }

    /** Returns whether {@link #stop} was called: what {@link #run} throws then means nothing. */
    public boolean isStopping() {
        return stopping;
    }

    /**
     * Asks the thread in {@link #run} to stop and waits until it has cleaned up; for a shutdown hook. The clients are
     * used by that thread alone and closed by it; only if it does not come to that are they closed here.
     */
    public void stop() {
        if (cleanedUp.getCount() == 0) {
            return;
        }
        stopping = true;
        say("stopping and cleaning up; a refit that runs is finished first");
        Thread thread = player;
        if (thread != null) {
            thread.interrupt();
        }
        boolean clean = false;
        try {
            clean = cleanedUp.await(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!clean) {
            close();
        }
    }

    /** Stops what was started, last first, and removes the folder. Safe to call twice. */
    @Override
    public synchronized void close() {
        // An interrupt has done its work by now and would only cut the closing short.
        player = null;
        Thread.interrupted();
        while (!started.isEmpty()) {
            try {
                started.pop().close();
            } catch (Exception e) {
                out.println("while stopping: " + e.getMessage());
            }
        }
        cleanedUp.countDown();
    }
}
