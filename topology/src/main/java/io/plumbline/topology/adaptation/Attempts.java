package io.plumbline.topology.adaptation;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * Counts how often each request was begun. One that takes longer than the group or its transaction waits for is aborted
 * and read again, for ever if nobody counts.
 *
 * <p>Kept in memory, since an abort takes back whatever is written: it outlives tasks, threads and transactions, and
 * ends with the process. Another process begins its own count, so a request that two adapters throw at each other is
 * begun {@link #MOST} times by each; one that ends its process is a crash loop that whoever restarts it sees. The
 * newest {@value #REMEMBERED} requests are known. Thread-safe.
 */
final class Attempts {

    /**
     * The most attempts: a broker or an instance that goes away in the middle of a refit explains one more, rarely two.
     */
    static final int MOST = 3;

    /** Says that a request was begun that often. */
    static final String GIVEN_UP = ("begun %d times and interrupted each time; given up and its rows dropped, "
                    + "so that the next request is answered. A refit must be shorter than max.poll.interval.ms and "
                    + "than transaction.timeout.ms of the adapter: raise both, "
                    + "or lower adaptation.pooled_rows and sample.rows")
            .formatted(MOST);

    private static final int REMEMBERED = 256;

    private record Place(String topic, int partition, long offset) {}

    private final Map<Place, Integer> begun = new LinkedHashMap<>();

    /** Counts an attempt at the request at this place, and returns which one it is: 1 is the first. */
    synchronized int begin(RecordMetadata place) {
        int attempt = begun.merge(new Place(place.topic(), place.partition(), place.offset()), 1, Integer::sum);
        if (begun.size() > REMEMBERED) {
            begun.remove(begun.keySet().iterator().next());
        }
        return attempt;
    }
}
