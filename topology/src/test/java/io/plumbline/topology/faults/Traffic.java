package io.plumbline.topology.faults;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.wire.DType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Sends integer rows to a monitor, and knows the truth about them: sums of integers are exact in any order, so that a
 * window can be compared bit by bit. Every site is spread over all partitions by the {@code site} header.
 *
 * <p>Each window brings one late record per site for the window before (late at level 1 for certain: the same site and
 * partition has passed that window), records that are sent twice under one id and must count once, and records that
 * must become dead letters. The records of the last site are moments of their rows; all say how many tokens were
 * served. Late records of a site differ in their number of rows, so that a late record seen again after a crash is
 * known for the one it is.
 *
 * <p>Used by one thread at a time.
 */
public final class Traffic implements AutoCloseable {

    /** The first event time, a multiple of every window length used here. */
    static final long T0 = 1_700_000_000_000L;

    private static final int ROWS = 5;

    /** The number of tokens that every counted record says were served. */
    private static final long SERVED = 7;

    private static final int BAD_ROWS = 3;

    /** The header of records meant to be refused: how many rows they hold. */
    static final String ROWS_HEADER = "rows";

    /**
     * Says what is sent.
     *
     * @param recordsPerWindow of each site
     */
    public record Shape(int sites, int width, int partitions, long windowMs, int recordsPerWindow) {

        public static Shape small() {
            return new Shape(4, 24, 2, 1_000, 40);
        }

        String site(int index) {
            return "site-" + index;
        }
    }

    private final Shape shape;
    private final String topic;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Map<String, SecondMomentAccumulator> truth = new TreeMap<>();
    private final Map<String, RequestTotals> requests = new TreeMap<>();
    private final Map<String, Long> served = new TreeMap<>();
    private final RequestProjection projection;
    private final Map<String, Integer> lateRecords = new ConcurrentHashMap<>();
    private final List<Future<RecordMetadata>> acknowledgements = new ArrayList<>();
    private final List<Runnable> again = new ArrayList<>();
    private int nextWindow;
    private long rowsIn;
    private long lateRows;
    private long badRows;

    Traffic(Shape shape, String topic, BrokerClient client) {
        this.shape = shape;
        this.topic = topic;
        this.projection = MonitorFolder.projection(shape.width());
        this.producer = client.producer(Map.of("max.request.size", "4000000", "linger.ms", "5"));
    }

    /** Sends the next so many windows and waits until the broker has them. */
    public void send(int windows) throws Exception {
        int end = nextWindow + windows;
        for (; nextWindow < end; nextWindow++) {
            sendWindow(nextWindow);
        }
        flush();
    }

    private void sendWindow(int window) {
        SplittableRandom random = new SplittableRandom(window);
        long startMs = T0 + window * shape.windowMs();
        int records = shape.recordsPerWindow() * shape.sites();
        for (int i = 0; i < records; i++) {
            String site = shape.site(i % shape.sites());
            long timestampMs = startMs + i * shape.windowMs() / records;
            // The first records of a site go to each partition in turn: none is without the site.
            int turn = i / shape.sites();
            int partition = turn < shape.partitions() ? turn : random.nextInt(shape.partitions());
            Matrix rows = ActivationRecords.integerRows(window * 100_000L + i, ROWS, shape.width());
            // Some records are a request of their own, the others come by threes, from any partition.
            String request = turn % 4 == 0 ? null : "request " + turn / 4;
            byte[] value = ActivationRecords.blob(rows);
            boolean isMoment = i % shape.sites() == shape.sites() - 1;
            add(site + "@" + startMs, rows, request, RowSample.recordHash(value, timestampMs, null));
            rowsIn += ROWS;
            // Some records are sent twice, at once or behind others, and ask to count once.
            byte[] sent = isMoment ? moment(value, rows, request, timestampMs) : value;
            String id = turn % 3 == 0 ? "record " + window + "/" + i : null;
            send(site, partition, timestampMs, sent, request, id);
            if (id != null) {
                again.add(() -> send(site, partition, timestampMs, sent, request, id));
            }
            if (random.nextInt(8) == 0) {
                sendAgain();
            }
        }
        sendAgain();
        for (int i = 0; window > 0 && i < shape.sites(); i++) {
            String site = shape.site(i);
            int rows = lateRecords.merge(site, 1, Integer::sum);
            int partition = random.nextInt(shape.partitions());
            lateRows += rows;
            rowsIn += rows;
            send(site, partition, startMs - 1, ActivationRecords.integerRows(i, rows, shape.width()), false);
        }
        sendBad(shape.site(window % shape.sites()), random.nextInt(shape.partitions()), startMs);
    }

    private void sendAgain() {
        again.forEach(Runnable::run);
        again.clear();
    }

    /** The rows as the one record of a producer that adds them up. */
    private byte[] moment(byte[] value, Matrix rows, @Nullable String request, long timestampMs) {
        List<byte[]> records = new ArrayList<>();
        try (MomentAccumulator accumulator = MomentAccumulator.of(
                new MomentAccumulator.Settings(
                        shape.width(), null, RowMask.NONE, shape.windowMs(), 0, ROWS, DType.F64, Long.MAX_VALUE),
                (time, record, headers) -> records.add(record))) {
            accumulator.add(
                    new ActivationBatch(rows, null, null),
                    request,
                    timestampMs,
                    RowSample.recordHash(value, timestampMs, null));
        }
        return records.get(0);
    }

    private void add(String window, Matrix rows, @Nullable String request, long record) {
        served.merge(window, SERVED, Long::sum);
        truth.computeIfAbsent(window, key -> SecondMomentAccumulator.ofDimension(shape.width()))
                .add(rows);
        double[] sum = new double[projection.components()];
        projection.add(rows, sum);
        requests.computeIfAbsent(
                        window, key -> RequestTotals.ofCapacity(projection.id(), RequestTotals.DEFAULT_CAPACITY))
                .add(request == null ? record : RowSample.requestHash(request), request, rows.rows(), sum);
    }

    private void sendBad(String site, int partition, long timestampMs) {
        Matrix notANumber = ActivationRecords.integerRows(1, BAD_ROWS, shape.width());
        notANumber.set(BAD_ROWS - 1, shape.width() - 1, Double.NaN);
        Matrix good = ActivationRecords.integerRows(2, BAD_ROWS, shape.width());
        send(site, partition, timestampMs, notANumber, true);
        send("nobody-watches-this", partition, timestampMs, good, true);
        send(site, partition, timestampMs, ActivationRecords.integerRows(3, BAD_ROWS, shape.width() + 1), true);
        badRows += 3L * BAD_ROWS;
        rowsIn += 3L * BAD_ROWS;
    }

    /**
     * Sends one record per site and partition that closes every window sent so far. Its own window stays open, and its
     * rows are in no figure.
     */
    void closeWindows() throws Exception {
        long timestampMs = T0 + nextWindow * shape.windowMs();
        for (int i = 0; i < shape.sites(); i++) {
            for (int partition = 0; partition < shape.partitions(); partition++) {
                Matrix row = ActivationRecords.integerRows(1, 1, shape.width());
                send(shape.site(i), partition, timestampMs, row, false);
            }
        }
        flush();
    }

    private void send(String site, int partition, long timestampMs, Matrix rows, boolean bad) {
        ProducerRecord<byte[], byte[]> record = record(site, partition, timestampMs, ActivationRecords.blob(rows));
        if (bad) {
            record.headers().add(ROWS_HEADER, Integer.toString(rows.rows()).getBytes(StandardCharsets.UTF_8));
        }
        acknowledgements.add(producer.send(record));
    }

    private void send(
            String site, int partition, long timestampMs, byte[] value, @Nullable String request, @Nullable String id) {
        ProducerRecord<byte[], byte[]> record = record(site, partition, timestampMs, value);
        if (request != null) {
            record.headers().add("request", request.getBytes(StandardCharsets.UTF_8));
        }
        record.headers().add("tokens_served", Long.toString(SERVED).getBytes(StandardCharsets.UTF_8));
        if (id != null) {
            record.headers().add("record_id", id.getBytes(StandardCharsets.UTF_8));
        }
        acknowledgements.add(producer.send(record));
    }

    private ProducerRecord<byte[], byte[]> record(String site, int partition, long timestampMs, byte[] value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, partition, timestampMs, null, value);
        record.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    private void flush() throws Exception {
        producer.flush();
        for (Future<RecordMetadata> acknowledgement : acknowledgements) {
            acknowledgement.get();
        }
        acknowledgements.clear();
    }

    public int windowsSent() {
        return nextWindow;
    }

    public Shape shape() {
        return shape;
    }

    /** The fingerprint of every window sent so far, by {@code site@start}. */
    Map<String, WindowPrint> expected() {
        Map<String, WindowPrint> expected = new TreeMap<>();
        truth.forEach((key, moment) -> expected.put(
                key,
                WindowPrint.of(
                        Long.parseLong(key.substring(key.indexOf('@') + 1)),
                        moment.rows(),
                        moment.snapshot().state(),
                        requests.get(key),
                        served.getOrDefault(key, 0L),
                        true)));
        return expected;
    }

    long rowsIn() {
        return rowsIn;
    }

    long lateRows() {
        return lateRows;
    }

    long badRows() {
        return badRows;
    }

    @Override
    public void close() {
        producer.close();
    }
}
