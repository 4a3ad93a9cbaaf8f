package io.plumbline.calibration;

import io.plumbline.moments.RowSample;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * Keeps means and reconstruction errors of a baseline's requests, of which a {@link RequestModel} is made.
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
     * The mean and the error of one request.
     *
     * @param number its place among the requests of the recording, from 0
     * @param mean of its target rows, width d; not copied
     */
    record Mean(int number, double[] mean, RequestError error) {
        long rows() {
            return error.rows();
        }
    }

    RequestMeans() {
        this(CAPACITY);
    }

    RequestMeans(int capacity) {
        this.capacity = capacity;
    }

    /** Takes the next request of the recording. */
    void add(double[] mean, RequestError error) {
        int number = requests++;
        byHash.put(RowSample.hash(SAMPLE, number), new Mean(number, mean, error));
        if (byHash.size() > capacity) {
            byHash.pollLastEntry();
        }
    }

    /** Returns the requests kept, in the order of the recording. */
    List<Mean> kept() {
        return byHash.values().stream()
                .sorted(Comparator.comparingInt(Mean::number))
                .toList();
    }
}
