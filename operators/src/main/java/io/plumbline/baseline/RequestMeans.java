package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * Keeps means and FVU of a baseline's requests; a {@link RequestModel} is made from them.
 *
 * <p>Keeps at most {@value #CAPACITY} requests, chosen by a hash of their place in the recording: a uniform sample that
 * is the same each time. <b>Size.</b> {@code 8 d} bytes a request: 25 MB at d = 768. Not thread-safe.
 */
final class RequestMeans {

    static final int CAPACITY = 4_096;

    /** The number that separates the hashes of this sample from those of others. */
    private static final long SAMPLE = 0x5265717565737473L;

    private final TreeMap<Long, Mean> byHash = new TreeMap<>();
    private final int capacity;
    private int requests;

    /**
     * The mean and FVU of one request.
     *
     * @param number its place among the requests of the recording, from 0
     * @param mean of its target rows, width d; not copied
     * @param rows how many these are
     * @param fvu of its first 2, 3, 4, ... rows, see {@link RanksByRows#cut}; not copied
     */
    record Mean(int number, double[] mean, long rows, double[] fvu) {}

    RequestMeans() {
        this(CAPACITY);
    }

    RequestMeans(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Takes the next request of the recording.
     *
     * @param mean of its targets; not copied
     * @param targets n x d
     * @param squaredErrors {@code |y - yhat|^2} of each row
     */
    void add(double[] mean, Matrix targets, double[] squaredErrors) {
        int number = requests++;
        long hash = RowSample.hash(SAMPLE, number);
        if (byHash.size() == capacity) {
            if (hash > byHash.lastKey()) {
                return;
            }
            byHash.pollLastEntry();
        }
        byHash.put(hash, new Mean(number, mean, targets.rows(), RanksByRows.cut(number, targets, squaredErrors)));
    }

    /** Returns the requests kept, in the order of the recording. */
    List<Mean> kept() {
        return byHash.values().stream()
                .sorted(Comparator.comparingInt(Mean::number))
                .toList();
    }
}
