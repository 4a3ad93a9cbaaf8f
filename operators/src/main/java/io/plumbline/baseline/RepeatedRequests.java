package io.plumbline.baseline;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds requests of a recording that were recorded before: the same file under two names, overlapping recordings, a
 * topic into which a file was replayed.
 *
 * <p>Contents are compared, bit for bit ({@link io.plumbline.requests.RequestSample#hash}). A request that users send
 * again and again is normal traffic and counts each time. A recording that repeats shows in the requests beside it:
 * they came before as well. So a request whose content came before is a repeat where at least half of the
 * {@value #NEIGHBOURS} nearest other contents, half of them on either side, stand more than once in the recording.
 * That needs no order, since copies with equal times may come in turn.
 *
 * <p><b>Size.</b> 8 bytes a request and a map of its distinct contents. Not thread-safe.
 */
final class RepeatedRequests {

    private static final int NEIGHBOURS = 8;

    private final List<Long> contents = new ArrayList<>();

    /** Adds the content of the next request, as its hash. */
    void add(long content) {
        contents.add(content);
    }

    /** Returns the places, from 0, of the requests that were recorded before. */
    BitSet places() {
        Map<Long, Integer> counts = new HashMap<>();
        contents.forEach(content -> counts.merge(content, 1, Integer::sum));
        BitSet repeated = new BitSet();
        Set<Long> seen = new HashSet<>();
        for (int place = 0; place < contents.size(); place++) {
            if (!seen.add(contents.get(place)) && standsAmongRepeats(place, counts)) {
                repeated.set(place);
            }
        }
        return repeated;
    }

    private boolean standsAmongRepeats(int place, Map<Long, Integer> counts) {
        Set<Long> beside = nearest(place, -1);
        beside.addAll(nearest(place, 1));
        long repeats = beside.stream()
                .filter(content -> counts.getOrDefault(content, 0) > 1)
                .count();
        return 2 * repeats >= beside.size();
    }

    /** Returns the nearest distinct contents other than this place's, in one direction. */
    private Set<Long> nearest(int place, int step) {
        Set<Long> nearest = new HashSet<>();
        for (int at = place + step; at >= 0 && at < contents.size() && nearest.size() < NEIGHBOURS / 2; at += step) {
            if (!contents.get(at).equals(contents.get(place))) {
                nearest.add(contents.get(at));
            }
        }
        return nearest;
    }
}
