package io.plumbline.topology.operate;

import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.wire.Printable;
import java.io.PrintWriter;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/** Reads a topic by a subscriber whose callbacks wait in a queue, so that files are written on the calling thread. */
final class DecoderReading implements AutoCloseable, DecoderListener {

    /** An event that the subscriber found. */
    sealed interface Found {
        record Published(PublishedDecoder decoder) implements Found {}

        record Refused(String site, long version, String reason) implements Found {}

        record Told(String site, SwapState state) implements Found {}

        record CaughtUp() implements Found {}

        record Interrupted(String reason) implements Found {}
    }

    // Without room: a decoder may be a gigabyte, and the subscriber can wait until the one before is written.
    private final BlockingQueue<Found> found = new SynchronousQueue<>();
    private final DecoderSubscriber subscriber;
    private final String topic;
    private volatile boolean closed;

    DecoderReading(Properties client, String topic, DecoderSubscription subscription) {
        this.topic = topic;
        subscriber = DecoderSubscriber.start(client, topic, subscription, this);
    }

    String topic() {
        return topic;
    }

    Found next() {
        try {
            return found.take();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading decoders", interrupted);
        }
    }

    private void put(Found item) {
        try {
            boolean taken = false;
            while (!closed && !taken) {
                taken = found.offer(item, 100, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void onDecoder(PublishedDecoder decoder) {
        put(new Found.Published(decoder));
    }

    @Override
    public void onRefused(String site, long version, String reason) {
        put(new Found.Refused(site, version, reason));
    }

    @Override
    public void onSwapState(String site, SwapState state) {
        put(new Found.Told(site, state));
    }

    @Override
    public void onCaughtUp() {
        put(new Found.CaughtUp());
    }

    @Override
    public void onInterrupted(String reason) {
        put(new Found.Interrupted(reason));
    }

    @Override
    public void close() {
        closed = true;
        subscriber.close();
    }

    /** Returns what was found, or throws where the broker gave no answer: for commands that read once. */
    static Found orFail(Found found) {
        if (found instanceof Found.Interrupted interrupted) {
            throw new IllegalStateException("the decoders could not be read: " + interrupted.reason());
        }
        return found;
    }

    static void printRefused(PrintWriter err, Found found) {
        if (found instanceof Found.Interrupted interrupted) {
            err.println("reading decoders: " + interrupted.reason());
            err.flush();
        }
        if (found instanceof Found.Refused refused) {
            err.println(Printable.of("site %s, version %d is not served: %s"
                    .formatted(refused.site(), refused.version(), refused.reason())));
            err.flush();
        }
    }
}
