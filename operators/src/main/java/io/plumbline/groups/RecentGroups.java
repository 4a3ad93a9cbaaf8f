package io.plumbline.groups;

import io.plumbline.requests.RequestTotal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the unusual requests of a site's last windows, and the groups that they make, each by a number that it
 * keeps.
 *
 * <p>Windows are pooled back to the one with which they hold {@value #POOLED_REQUESTS} requests, {@value #MOST_WINDOWS}
 * windows at most: three requests of a new kind are found among so many, whatever windows they came in. Windows that
 * overlap share requests: those remembered lie beside each other, and those of them that overlap the new one are left
 * out. Another baseline begins anew.
 *
 * <p><b>Numbers.</b> A group has the number of the remembered one whose mean unit vector is most like its own, from a
 * cosine of {@link TrafficGroup#LEAST_COSINE} on; otherwise the next. {@value #MOST_GROUPS} are remembered, those that
 * were seen last.
 *
 * <p><b>Size.</b> {@code 4 p} bytes and about 90 for each unusual request that is kept, {@value #KEPT} of a window at
 * most: 12 KB on clean traffic at p = 128, 600 KB at most. Immutable.
 *
 * @param space fingerprint of the space that directions are taken in; 0 before the first window
 * @param next number of the next group
 * @param windows that do not overlap, oldest first
 * @param numbered groups that were seen
 */
public record RecentGroups(long space, int next, List<Window> windows, List<Numbered> numbered) {

    /** Nothing remembered. */
    public static final RecentGroups NONE = new RecentGroups(0, 1, List.of(), List.of());

    public static final int POOLED_REQUESTS = 120;
    static final int MOST_WINDOWS = 64;
    static final int MOST_GROUPS = 32;
    private static final int KEPT = 128;
    private static final int NO_NAME = 0xFFFF;

    /** The unusual requests of one window. */
    record Window(long startMs, long endMs, long requests, long unusual, List<UnusualRequest> kept) {

        private boolean holds(UnusualRequest request) {
            return kept.stream().anyMatch(one -> one.content() == request.content());
        }

        /** Returns this window as if the request had not come: else those left would look like a sample. */
        private Window without(long request, String name) {
            List<UnusualRequest> left = kept.stream()
                    .filter(one -> one.request() != request && !name.equals(one.name()))
                    .toList();
            long gone = copies(kept) - copies(left);
            return new Window(startMs, endMs, requests - gone, unusual - gone, left);
        }

        private static long copies(List<UnusualRequest> of) {
            return of.stream().mapToLong(UnusualRequest::copies).sum();
        }
    }

    /** A group that was seen, with its mean unit vector. */
    record Numbered(int number, float[] mean, long firstMs, long lastMs) {

        private double cosine(double[] other) {
            double sum = 0.0;
            for (int i = 0; i < mean.length; i++) {
                sum += mean[i] * other[i];
            }
            return sum;
        }
    }

    /**
     * A group of the pooled windows.
     *
     * @param number by which it is known in later windows
     * @param firstMs start of the first window with a request of it
     * @param lastMs end of the last one
     * @param inWindow how many of its requests came in the newest window
     */
    public record Seen(int number, TrafficGroup group, long firstMs, long lastMs, int inWindow) {}

    /**
     * The memory after a window, and its groups, most evidence first.
     *
     * @param lookedAt how many of the requests the kept unusual ones came among
     */
    public record Step(RecentGroups memory, long requests, long unusual, long lookedAt, List<Seen> groups) {}

    public RecentGroups {
        windows = List.copyOf(windows);
        numbered = List.copyOf(numbered);
    }

    /**
     * Takes a window.
     *
     * @param totals of its requests under the projection of the space
     * @param baseline groups of the baseline's own requests; null where it does not keep them
     */
    public Step after(
            GroupSpace of, long startMs, long endMs, List<RequestTotal> totals, @Nullable KnownGroups baseline) {
        RecentGroups before =
                of.fingerprint() == space ? this : new RecentGroups(of.fingerprint(), 1, List.of(), List.of());
        UnusualRequests own = UnusualRequests.ofCapacity(of, KEPT).add(totals);
        List<Window> pooled = new ArrayList<>();
        before.windows.stream().filter(window -> window.endMs <= startMs).forEach(pooled::add);
        boolean overlaps =
                before.windows.stream().anyMatch(window -> window.startMs < startMs && startMs < window.endMs);
        pooled.add(new Window(startMs, endMs, own.requests(), own.unusual(), own.kept()));
        long requests = pooled.stream().mapToLong(Window::requests).sum();
        while (pooled.size() > 1
                && (requests - pooled.get(0).requests >= POOLED_REQUESTS || pooled.size() > MOST_WINDOWS)) {
            requests -= pooled.remove(0).requests;
        }
        UnusualRequests pool = UnusualRequests.of(of);
        pooled.forEach(window -> pool.add(window.requests, window.unusual, window.kept));
        List<Numbered> remembered = new ArrayList<>(before.numbered);
        int number = before.next;
        List<Seen> groups = new ArrayList<>();
        Set<Integer> taken = new HashSet<>();
        for (TrafficGroup group : TrafficGroup.of(pool, baseline)) {
            Numbered known = nearest(remembered, taken, group.mean());
            long first = Long.MAX_VALUE;
            long last = Long.MIN_VALUE;
            int inWindow = 0;
            for (Window window : pooled) {
                int here = (int) group.members().stream().filter(window::holds).count();
                if (here > 0) {
                    first = Math.min(first, window.startMs);
                    last = window.endMs;
                }
                inWindow = here;
            }
            Numbered now = new Numbered(
                    known == null ? number++ : known.number,
                    floats(group.mean()),
                    known == null ? first : Math.min(first, known.firstMs),
                    last);
            remembered.remove(known);
            remembered.add(now);
            taken.add(now.number);
            groups.add(new Seen(now.number, group, now.firstMs, now.lastMs, inWindow));
        }
        remembered.sort(Comparator.comparingLong(Numbered::lastMs).thenComparingInt(Numbered::number));
        return new Step(
                new RecentGroups(
                        before.space,
                        number,
                        overlaps ? before.windows : pooled,
                        remembered.subList(Math.max(0, remembered.size() - MOST_GROUPS), remembered.size())),
                pool.requests(),
                pool.unusual(),
                pooled.stream()
                        .mapToLong(window -> UnusualRequests.lookedAt(window.requests, window.unusual, window.kept))
                        .sum(),
                groups);
    }

    /** Returns whether windows are remembered by directions of another space: that of another baseline. */
    public boolean isOfOther(GroupSpace than) {
        return space != 0 && space != than.fingerprint();
    }

    private static @Nullable Numbered nearest(List<Numbered> remembered, Set<Integer> taken, double[] mean) {
        Numbered nearest = null;
        double cosine = TrafficGroup.LEAST_COSINE;
        for (Numbered one : remembered) {
            double here = one.cosine(mean);
            if (here >= cosine && !taken.contains(one.number)) {
                cosine = here;
                nearest = one;
            }
        }
        return nearest;
    }

    /**
     * Returns this memory without one request. What numbered groups add up over requests stays.
     *
     * @param name of the request, cut by {@link io.plumbline.records.RequestName#shortened}
     */
    public RecentGroups without(long request, String name) {
        List<Window> left =
                windows.stream().map(window -> window.without(request, name)).toList();
        return new RecentGroups(space, next, left, numbered);
    }

    /**
     * Returns the memory as bytes, big endian.
     *
     * <pre>
     * bytes  field
     * 8, 4   space, next number
     * 2, 2   components p of a direction, windows; for each window:
     *   8, 8, 8, 8  start, end, requests, unusual ones
     *   2      requests kept; for each:
     *     8, 8, 8, 2, n  content, request, copies, length in UTF-8 (0xFFFF: no name), name
     *     4 p  direction
     * 2      groups; for each:
     *   4, 8, 8, 4 p  number, first and last time, mean
     * </pre>
     */
    public byte[] encode() {
        int p = components();
        int bytes = Long.BYTES + Integer.BYTES + 3 * Short.BYTES;
        for (Window window : windows) {
            bytes += 4 * Long.BYTES + Short.BYTES;
            for (UnusualRequest request : window.kept) {
                bytes += 3 * Long.BYTES + Short.BYTES + utf8(request.name()).length + Float.BYTES * p;
            }
        }
        bytes += numbered.size() * (Integer.BYTES + 2 * Long.BYTES + Float.BYTES * p);
        ByteBuffer buffer = ByteBuffer.allocate(bytes)
                .putLong(space)
                .putInt(next)
                .putShort((short) p)
                .putShort((short) windows.size());
        for (Window window : windows) {
            buffer.putLong(window.startMs)
                    .putLong(window.endMs)
                    .putLong(window.requests)
                    .putLong(window.unusual)
                    .putShort((short) window.kept.size());
            for (UnusualRequest request : window.kept) {
                byte[] name = utf8(request.name());
                buffer.putLong(request.content())
                        .putLong(request.request())
                        .putLong(request.copies())
                        .putShort((short) (request.name() == null ? NO_NAME : name.length))
                        .put(name);
                put(buffer, floats(request.direction()));
            }
        }
        buffer.putShort((short) numbered.size());
        for (Numbered group : numbered) {
            buffer.putInt(group.number).putLong(group.firstMs).putLong(group.lastMs);
            put(buffer, group.mean);
        }
        return buffer.array();
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @throws java.nio.BufferUnderflowException if the bytes end before
     */
    public static RecentGroups decode(ByteBuffer buffer) {
        long space = buffer.getLong();
        int next = buffer.getInt();
        int p = Short.toUnsignedInt(buffer.getShort());
        List<Window> windows = new ArrayList<>();
        int count = Short.toUnsignedInt(buffer.getShort());
        for (int i = 0; i < count; i++) {
            long startMs = buffer.getLong();
            long endMs = buffer.getLong();
            long requests = buffer.getLong();
            long unusual = buffer.getLong();
            int keptCount = Short.toUnsignedInt(buffer.getShort());
            List<UnusualRequest> kept = new ArrayList<>();
            for (int j = 0; j < keptCount; j++) {
                kept.add(request(buffer, p));
            }
            windows.add(new Window(startMs, endMs, requests, unusual, List.copyOf(kept)));
        }
        List<Numbered> numbered = new ArrayList<>();
        int groups = Short.toUnsignedInt(buffer.getShort());
        for (int i = 0; i < groups; i++) {
            int number = buffer.getInt();
            long firstMs = buffer.getLong();
            long lastMs = buffer.getLong();
            numbered.add(new Numbered(number, floats(buffer, p), firstMs, lastMs));
        }
        return new RecentGroups(space, next, windows, numbered);
    }

    private static UnusualRequest request(ByteBuffer buffer, int p) {
        long content = buffer.getLong();
        long request = buffer.getLong();
        long copies = buffer.getLong();
        int length = Short.toUnsignedInt(buffer.getShort());
        String name = null;
        if (length != NO_NAME) {
            byte[] utf8 = new byte[length];
            buffer.get(utf8);
            name = new String(utf8, StandardCharsets.UTF_8);
        }
        float[] values = floats(buffer, p);
        double[] direction = new double[p];
        for (int i = 0; i < p; i++) {
            direction[i] = values[i];
        }
        return new UnusualRequest(content, request, name, copies, direction);
    }

    private int components() {
        for (Window window : windows) {
            for (UnusualRequest request : window.kept) {
                return request.direction().length;
            }
        }
        return numbered.isEmpty() ? 0 : numbered.get(0).mean.length;
    }

    private static byte[] utf8(@Nullable String name) {
        return name == null ? new byte[0] : name.getBytes(StandardCharsets.UTF_8);
    }

    private static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    private static float[] floats(ByteBuffer buffer, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = buffer.getFloat();
        }
        return values;
    }

    private static void put(ByteBuffer buffer, float[] values) {
        for (float value : values) {
            buffer.putFloat(value);
        }
    }
}
