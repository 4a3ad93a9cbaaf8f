package io.plumbline.topology.console;

import io.plumbline.topology.report.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * Sends server-sent events: each browser that follows has a thread of its own, of {@link ConsoleLimits#CLIENTS} at
 * most; one more is answered 503.
 *
 * <p><b>A stream ends by itself after a minute</b> and the browser takes up the next where it was ({@code
 * Last-Event-ID}), so that passwords are looked at again. A browser that does not read is cut off by the server when
 * nothing moves for ten seconds. A browser whose place is gone gets {@code reset} and asks for everything anew.
 *
 * <p>Ids are {@code <start of the process>-<number>}: those of the process before a restart are no numbers of this one.
 */
final class EventStreams implements AutoCloseable {

    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long HEARTBEAT_MS = 2_000;
    private static final long RETRY_MS = 300;

    private final Events events;
    private final String process;
    private final ThreadPoolExecutor threads;

    EventStreams(Events events, long startMs) {
        this.events = events;
        process = Long.toString(startMs, Character.MAX_RADIX);
        AtomicInteger number = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                0, ConsoleLimits.CLIENTS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "console-events-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /** Returns where a page stands that was loaded now. */
    String place() {
        return process + "-" + events.last();
    }

    /**
     * Answers on a thread of its own.
     *
     * @param place what {@link #place} or the last event said; null or unknown: from now on, after a {@code reset}
     * @return whether there was room; if not, nothing was answered
     */
    boolean follow(Response response, Callback callback, @Nullable String place) {
        try {
            threads.execute(() -> stream(response, callback, place));
            return true;
        } catch (RejectedExecutionException full) {
            return false;
        }
    }

    private void stream(Response response, Callback callback, @Nullable String place) {
        response.setStatus(200);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/event-stream; charset=utf-8");
        // Without it nginx holds events back until a buffer of its own is full.
        response.getHeaders().put("X-Accel-Buffering", "no");
        try (OutputStream out = Content.Sink.asOutputStream(response)) {
            write(out, "retry: " + RETRY_MS + "\n\n");
            follow(out, numberOf(place));
        } catch (IOException gone) {
            // The browser went, or did not read in time; it comes back with its place.
            callback.failed(gone);
            return;
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
        callback.succeeded();
    }

    private void follow(OutputStream out, long from) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + LONGEST_NANOS;
        long number = from;
        while (System.nanoTime() < deadline && !events.isClosed()) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()) + 1;
            List<Events.Event> next = number < 0 ? null : events.after(number, Math.min(HEARTBEAT_MS, leftMs));
            if (next == null) {
                number = events.last();
                write(out, "id: %s-%d\nevent: reset\ndata: {}\n\n".formatted(process, number));
            } else if (next.isEmpty()) {
                write(out, ":\n\n");
            } else {
                StringBuilder text = new StringBuilder();
                for (Events.Event event : next) {
                    number = event.number();
                    text.append("id: %s-%d\nevent: %s\ndata: ".formatted(process, number, event.name()))
                            .append(Json.text(event.data())) // one line: JSON escapes what would end it
                            .append("\n\n");
                }
                write(out, text.toString());
            }
        }
    }

    /** Returns the number of a place; -1 where it is not one of this process. */
    private long numberOf(@Nullable String place) {
        if (place == null || !place.startsWith(process + "-")) {
            return -1;
        }
        try {
            return Long.parseLong(place.substring(process.length() + 1));
        } catch (NumberFormatException notOurs) {
            return -1;
        }
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    @Override
    public void close() {
        events.close();
        threads.shutdownNow();
    }
}
