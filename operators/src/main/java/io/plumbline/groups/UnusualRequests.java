package io.plumbline.groups;

import io.plumbline.moments.SplitMix;
import io.plumbline.requests.RequestTotal;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;

/**
 * Pools the unusual requests of one window or of several, and counts all requests.
 *
 * <p>Requests of equal rows and equal sum are copies: one of them is kept, with their number. Of more than
 * {@code capacity} different ones those with the smallest hashes of their contents are kept (bottom-k sampling), a
 * uniform sample. So the pool depends neither on the order of requests nor on how they were divided among pools that
 * are merged, as long as each request is added once. Sums that differ in rounding are no copies.
 *
 * <p><b>Size.</b> {@code 8 p} bytes and about 150 more a request that is kept: 300 KB at p = 128 and the default
 * capacity. <b>Cost.</b> Some 3 p flops a request. Not thread-safe; one owner.
 */
public final class UnusualRequests {

    /** The requests that are kept where nothing else is asked for: a tenth of 2,560 clean ones are unusual. */
    public static final int DEFAULT_CAPACITY = 256;

    private final GroupSpace space;
    private int capacity;
    private final TreeMap<Long, UnusualRequest> byContent = new TreeMap<>();
    private long requests;
    private long unusual;

    private UnusualRequests(GroupSpace space, int capacity) {
        this.space = space;
        this.capacity = capacity;
    }

    /** Returns an empty pool of {@value #DEFAULT_CAPACITY} unusual requests at most. */
    public static UnusualRequests of(GroupSpace space) {
        return ofCapacity(space, DEFAULT_CAPACITY);
    }

    /** Returns an empty pool of at most {@code requests} unusual requests. */
    static UnusualRequests ofCapacity(GroupSpace space, int requests) {
        if (requests < 1) {
            throw new IllegalArgumentException("a pool of %d requests: expected at least 1".formatted(requests));
        }
        return new UnusualRequests(space, requests);
    }

    /**
     * Adds requests by their totals under the projection of the space.
     *
     * @throws IllegalArgumentException if a sum has another number of components; those before it were added
     */
    public UnusualRequests add(List<RequestTotal> totals) {
        for (RequestTotal total : totals) {
            add(total, space.isUnusual(total));
        }
        return this;
    }

    /** Adds one request; the caller knows whether it is unusual, as a baseline does of its own requests. */
    public UnusualRequests add(RequestTotal total, boolean isUnusual) {
        double[] direction = isUnusual ? space.direction(total) : null;
        requests++;
        if (direction != null) {
            unusual++;
            keep(new UnusualRequest(content(total), total.request(), total.name(), 1, direction));
        }
        return this;
    }

    /**
     * Adds what was kept of requests before.
     *
     * @param all requests they were kept of
     * @param unlike how many of these were unusual
     * @param unusualOnes those that were kept
     */
    UnusualRequests add(long all, long unlike, List<UnusualRequest> unusualOnes) {
        requests += all;
        unusual += unlike;
        unusualOnes.forEach(this::keep);
        return this;
    }

    private void keep(UnusualRequest request) {
        UnusualRequest known = byContent.get(request.content());
        byContent.put(request.content(), known == null ? request : known.with(request));
        leaveOutBeyondCapacity();
    }

    private void leaveOutBeyondCapacity() {
        while (byContent.size() > capacity) {
            byContent.pollLastEntry();
        }
    }

    /**
     * Adds what another pool holds; the other one is not changed. Of two capacities the smaller one holds from then on.
     *
     * @throws IllegalArgumentException if it is of another space; nothing was added
     */
    public UnusualRequests merge(UnusualRequests other) {
        if (!space.equals(other.space)) {
            throw new IllegalArgumentException(
                    "unusual requests of two baselines cannot be compared; nothing was added");
        }
        capacity = Math.min(capacity, other.capacity);
        requests += other.requests;
        unusual += other.unusual;
        other.byContent.values().forEach(this::keep);
        leaveOutBeyondCapacity();
        return this;
    }

    /** Returns the number of requests added, usual or not, copies counted each. */
    public long requests() {
        return requests;
    }

    /** Returns the number of unusual requests added, kept or not, copies counted each. */
    public long unusual() {
        return unusual;
    }

    /** Returns how many requests the unusual ones that are kept came among, see {@link #lookedAt}. */
    public long lookedAt() {
        return lookedAt(requests, unusual, byContent.values());
    }

    /**
     * Returns how many requests the unusual ones that are kept came among: all, or the share that the sample is of
     * them.
     */
    static long lookedAt(long requests, long unusual, Collection<UnusualRequest> kept) {
        long copies = kept.stream().mapToLong(UnusualRequest::copies).sum();
        return copies == unusual ? requests : Math.max(1, Math.round((double) requests * copies / unusual));
    }

    /** Returns what the directions of the requests are taken in. */
    GroupSpace space() {
        return space;
    }

    /** Returns the unusual requests that are kept, ascending by the hash of their contents. */
    public List<UnusualRequest> kept() {
        return List.copyOf(byContent.values());
    }

    private static long content(RequestTotal total) {
        long hash = SplitMix.mix(total.rows());
        for (double value : total.sum()) {
            // Adding 0.0 turns -0.0 into 0.0: equal numbers have equal bits.
            hash = SplitMix.mix(hash ^ Double.doubleToLongBits(value + 0.0));
        }
        return hash;
    }
}
