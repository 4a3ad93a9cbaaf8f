package io.plumbline.topology.progress;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;

/**
 * Measures for how long the committed offsets of one application have stood still while records waited there.
 *
 * <p>It speaks of the whole group, not of this instance: when two instances throw the same record at each other,
 * neither starts from 0. What it knows begins with the process. Written by one {@link ProgressWatch}, read by any
 * thread.
 */
public final class Standstills {

    /**
     * The number of repeats at the same offset that is no accident: a broker or an instance that went away explains one
     * or two.
     */
    static final int MANY_REPEATS = 3;

    /** @param barren nothing but control records and what was aborted lies between offset and end */
    private record Stand(long offset, long end, long sinceNanos, boolean barren) {}

    private record Place(TopicPartition partition, Stand stand) {}

    private final String application;
    private final Map<String, String> topics;
    private final Duration limit;
    private final Repeats repeats;
    private final LongSupplier nanoTime;
    private final Map<TopicPartition, Stand> stands = new ConcurrentHashMap<>();

    Standstills(
            String application, Map<String, String> topics, Duration limit, Repeats repeats, LongSupplier nanoTime) {
        this.application = application;
        this.topics = Map.copyOf(topics);
        this.limit = limit;
        this.repeats = repeats;
        this.nanoTime = nanoTime;
    }

    /**
     * @param application the value of its label, {@code monitor} or {@code adapter}
     * @param topics what it reads: the value of the label, the topic's name
     * @param limit the longest time one record may rightly take: how long the group waits for a member, and a commit
     * @param repeats counted by the application's processors
     */
    public static Standstills of(String application, Map<String, String> topics, Duration limit, Repeats repeats) {
        return new Standstills(application, topics, limit, repeats, System::nanoTime);
    }

    public String application() {
        return application;
    }

    /** Returns the values of the label {@code topic}. */
    public Collection<String> labels() {
        return topics.keySet();
    }

    Collection<String> topicNames() {
        return topics.values();
    }

    public double limitSeconds() {
        return limit.toNanos() / 1e9;
    }

    /** Notes that the group would go on reading at {@code offset}; the topic ends before {@code end}. */
    void saw(TopicPartition partition, long offset, long end) {
        if (offset >= end) {
            stands.remove(partition);
            return;
        }
        stands.compute(
                partition,
                (key, known) -> known == null || known.offset() != offset || (known.barren() && known.end() < end)
                        ? new Stand(offset, end, nanoTime.getAsLong(), false)
                        : new Stand(offset, end, known.sinceNanos(), known.barren()));
    }

    /** Notes that nothing can be read between the standing offset and the end that was seen. */
    void sawNothingToRead(TopicPartition partition) {
        stands.computeIfPresent(
                partition, (key, known) -> new Stand(known.offset(), known.end(), known.sinceNanos(), true));
    }

    /** Returns the partitions that have stood for longer than this, with the offset. */
    Map<TopicPartition, Long> standingFor(Duration time) {
        Map<TopicPartition, Long> found = new ConcurrentHashMap<>();
        stands.forEach((partition, stand) -> {
            if (!stand.barren() && seconds(stand) * 1e9 >= time.toNanos()) {
                found.put(partition, stand.offset());
            }
        });
        return found;
    }

    /** The longest standstill of a partition of the topic, in seconds; 0 when nothing waits. */
    public double stalledSeconds(String label) {
        return of(label).mapToDouble(place -> seconds(place.stand())).max().orElse(0.0);
    }

    /** The most often this process began again at an offset where a partition of the topic still stands. */
    public double repeats(String label) {
        return of(label).mapToInt(this::repeats).max().orElse(0);
    }

    /**
     * Complains where this instance holds what does not move: for longer than the limit, or read again and again. For
     * readiness and never for liveness: the record is still there after a restart.
     */
    public Probe moving() {
        return () -> labels().stream()
                .flatMap(this::of)
                .filter(place ->
                        repeats.reached(place.partition(), place.stand().offset()))
                .filter(place -> seconds(place.stand()) > limitSeconds() || repeats(place) >= MANY_REPEATS)
                .max(Comparator.comparingDouble(place -> seconds(place.stand())))
                .flatMap(place -> Optional.of(("%s: %s has stood at offset %d for %.0f s while records wait, "
                                + "and was read again from there %d times; expected progress within %.0f s. "
                                + "A restart reads the same record again: "
                                + "see PlumblineNoProgress in the runbook")
                        .formatted(
                                application,
                                place.partition(),
                                place.stand().offset(),
                                seconds(place.stand()),
                                repeats(place),
                                limitSeconds())));
    }

    private Stream<Place> of(String label) {
        String topic = topics.getOrDefault(label, "");
        return List.copyOf(stands.entrySet()).stream()
                .filter(entry -> entry.getKey().topic().equals(topic)
                        && !entry.getValue().barren())
                .map(entry -> new Place(entry.getKey(), entry.getValue()));
    }

    private int repeats(Place place) {
        return repeats.at(place.partition(), place.stand().offset());
    }

    private double seconds(Stand stand) {
        return (nanoTime.getAsLong() - stand.sinceNanos()) / 1e9;
    }
}
