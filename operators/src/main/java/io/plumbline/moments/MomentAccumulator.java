package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.MomentRecord;
import io.plumbline.wire.DType;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Sums the rows of one site where they arise and makes moment records of them, for a model server on the JVM that sends
 * moments instead of rows ({@code docs/reference/moment-records.md}).
 *
 * <p>A pane is sent when event time has passed its end by the grace, when the open panes are larger than they may be
 * (the oldest first), by {@link #flushBefore}, and by {@link #close}. Rows for a pane that was sent go into another
 * record of it; the records add up. {@link #announce} tells of the rows that open panes hold.
 *
 * <p><b>Arithmetic.</b> As in the service, {@link SecondMomentAccumulator#addFloats(Matrix)}. <b>Size.</b> {@code 4 d
 * (d + 3)} bytes an open pane, its sampled rows and totals, at most 2 MiB of these, and as much again while a pane is
 * written.
 *
 * <p><b>Threads.</b> Any number may add; rows are summed by one at a time. The sink is called by the thread that ends a
 * pane, after others may go on.
 */
public final class MomentAccumulator implements AutoCloseable {

    /** Names the header that says how many tokens the server processed for a record. */
    public static final String TOKENS_SERVED = "tokens_served";

    /** Names the header with the tokens of {@value #TOKENS_SERVED} that records before told of. */
    public static final String TOKENS_ANNOUNCED = "tokens_announced";

    /** Takes finished records; it should hand them to a producer and return. */
    @FunctionalInterface
    public interface Sink {

        /**
         * Takes one record of the topic of activations.
         *
         * @param timestampMs event time to give it
         * @param value its value; null where it only tells of tokens, see {@link MomentAccumulator#announce}
         * @param headers to give it besides the site's name; none where nothing was announced
         */
        void take(long timestampMs, byte @Nullable [] value, Map<String, String> headers);
    }

    /**
     * Says what a site's rows look like, and when they are sent.
     *
     * @param inputWidth columns of the activations
     * @param targetWidth columns of the targets of a transcoder; null for an autoencoder
     * @param mask takes out the rows that enter no sum: the site's own
     * @param paneMs size of a pane in ms; it divides the monitor's
     * @param graceMs event time that passes after the end of a pane before it is sent, 0 or more
     * @param sampleRows rows that are sent with a pane, at least 1
     * @param dtype of the moment, F64 or F32
     * @param mostBytes how large all open panes together may become; one may always be open
     * @param requestTotals how many requests' sums and names are sent with a pane, at most, and no more than
     *     {@link MomentRecord.Totals#most}; 0 sends none
     */
    public record Settings(
            int inputWidth,
            @Nullable Integer targetWidth,
            RowMask mask,
            long paneMs,
            long graceMs,
            int sampleRows,
            DType dtype,
            long mostBytes,
            int requestTotals) {

        /** Creates settings by which as many totals of requests are sent as a record takes. */
        public Settings(
                int inputWidth,
                @Nullable Integer targetWidth,
                RowMask mask,
                long paneMs,
                long graceMs,
                int sampleRows,
                DType dtype,
                long mostBytes) {
            this(
                    inputWidth,
                    targetWidth,
                    mask,
                    paneMs,
                    graceMs,
                    sampleRows,
                    dtype,
                    mostBytes,
                    MomentRecord.Totals.MOST);
        }

        public Settings {
            if (inputWidth < 1 || (targetWidth != null && targetWidth < 1)) {
                throw new IllegalArgumentException(
                        "widths %d and %s: expected at least 1".formatted(inputWidth, targetWidth));
            }
            if (paneMs < 1 || graceMs < 0) {
                throw new IllegalArgumentException(
                        "panes of %d ms, grace %d ms: expected at least 1 and 0".formatted(paneMs, graceMs));
            }
            if (dtype != DType.F64 && dtype != DType.F32) {
                throw new IllegalArgumentException("a moment as %s: expected F64 or F32".formatted(dtype));
            }
            if (requestTotals < 0) {
                throw new IllegalArgumentException(
                        "totals of %d requests: expected at least 0".formatted(requestTotals));
            }
        }

        int dimension() {
            return targetWidth == null ? inputWidth : targetWidth;
        }
    }

    private final Settings settings;
    private final Sink sink;
    private final long producer;
    private final TreeMap<Long, OpenMoment> panes = new TreeMap<>();
    private long batches;
    private long eventTimeMs = Long.MIN_VALUE;
    private boolean closed;

    private MomentAccumulator(Settings settings, long producer, Sink sink) {
        this.settings = settings;
        this.producer = producer;
        this.sink = sink;
    }

    /** An accumulator of one site, whose sampled rows have an identity of their own. */
    public static MomentAccumulator of(Settings settings, Sink sink) {
        return of(settings, new SecureRandom().nextLong(), sink);
    }

    /** An accumulator whose rows are named after {@code producer}; two must never have the same. */
    static MomentAccumulator of(Settings settings, long producer, Sink sink) {
        return new MomentAccumulator(settings, producer, sink);
    }

    /** The identity of a batch: {@code mix(mix(producer) ^ batch)}. */
    static long recordIdentity(long producer, long batch) {
        return SplitMix.mix(SplitMix.mix(producer) ^ batch);
    }

    /**
     * Adds the rows of a batch, or none.
     *
     * @param request name of their request; null where the batch is one
     * @param timestampMs their event time
     * @throws IllegalArgumentException if widths are wrong, or token ids are missing that the mask needs
     * @throws NonFiniteRowException if a value is not finite or beyond float32
     * @throws IllegalStateException after {@link #close}
     */
    public void add(ActivationBatch batch, @Nullable String request, long timestampMs) {
        add(batch, request, timestampMs, null);
    }

    /**
     * Adds the rows of a batch under the identity that they would have in a row record: for who has its bytes. The
     * sample is then that of the row records.
     *
     * @param record of {@link RowSample#recordHash}
     */
    public void add(ActivationBatch batch, @Nullable String request, long timestampMs, long record) {
        add(batch, request, timestampMs, Long.valueOf(record));
    }

    private void add(ActivationBatch batch, @Nullable String request, long timestampMs, @Nullable Long record) {
        requireWidths(batch);
        requireFloats(batch.activations());
        requireFloats(batch.targetRows());
        RowMask.Kept<ActivationBatch> kept = settings.mask().apply(batch);
        List<OpenMoment.Finished> finished = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the accumulator is closed; the rows were not added");
            }
            long identity = recordIdentity(producer, batches++);
            long startMs = Math.floorDiv(timestampMs, settings.paneMs()) * settings.paneMs();
            OpenMoment full = panes.get(startMs);
            if (full != null && full.rows() > MomentRecord.MOST_ROWS - batch.rows()) {
                finished.add(full.finish());
                panes.remove(startMs);
            }
            OpenMoment open = panes.computeIfAbsent(startMs, start -> new OpenMoment(settings, start));
            open.sawTime(timestampMs, kept.masked());
            ActivationBatch rows = kept.rows();
            if (rows != null) {
                open.add(rows, record == null ? identity : record, request, timestampMs);
            }
            eventTimeMs = Math.max(eventTimeMs, timestampMs);
            take(eventTimeMs - settings.graceMs(), finished);
            while (panes.size() > 1 && bytes() > settings.mostBytes()) {
                finished.add(Objects.requireNonNull(panes.pollFirstEntry())
                        .getValue()
                        .finish());
            }
        }
        send(finished);
    }

    /** Sends panes that end by {@code timeMs}, of event time: to be called now and then where rows may stop coming. */
    public void flushBefore(long timeMs) {
        List<OpenMoment.Finished> finished = new ArrayList<>();
        synchronized (this) {
            take(timeMs, finished);
        }
        send(finished);
    }

    /**
     * Tells how many rows came since this was called last, by a record without a value for each open pane; to be called
     * each second or so. A process that is killed loses its open panes, and the coverage of their windows then says how
     * many rows are missing. The header {@code tokens_served} is this class's own from then on.
     */
    public void announce() {
        List<OpenMoment.Finished> told = new ArrayList<>();
        synchronized (this) {
            for (OpenMoment open : panes.values()) {
                OpenMoment.Finished word = open.announce();
                if (word != null) {
                    told.add(word);
                }
            }
        }
        send(told);
    }

    /** Sends all open panes and takes no more rows. */
    @Override
    public void close() {
        List<OpenMoment.Finished> finished = new ArrayList<>();
        synchronized (this) {
            closed = true;
            take(Long.MAX_VALUE, finished);
        }
        send(finished);
    }

    /** Returns the bytes that the open panes hold. */
    public synchronized long bytes() {
        return panes.values().stream().mapToLong(OpenMoment::bytes).sum();
    }

    private void take(long upToMs, List<OpenMoment.Finished> finished) {
        for (Map.Entry<Long, OpenMoment> first = panes.firstEntry();
                first != null && first.getKey() + settings.paneMs() <= upToMs;
                first = panes.firstEntry()) {
            finished.add(first.getValue().finish());
            panes.remove(first.getKey());
        }
    }

    private void send(List<OpenMoment.Finished> finished) {
        for (OpenMoment.Finished one : finished) {
            sink.take(one.timestampMs(), one.value(), one.headers());
        }
    }

    private void requireWidths(ActivationBatch batch) {
        Matrix targets = batch.targets();
        Integer expected = settings.targetWidth();
        if (batch.activations().columns() != settings.inputWidth()
                || !Objects.equals(expected, targets == null ? null : Integer.valueOf(targets.columns()))) {
            throw new IllegalArgumentException("%s: expected %d columns of activations and %s; the batch was not added"
                    .formatted(
                            batch, settings.inputWidth(), expected == null ? "no targets" : expected + " of targets"));
        }
    }

    private static void requireFloats(Matrix rows) {
        double[] values = rows.values();
        for (int i = 0; i < values.length; i++) {
            // Written so that NaN fails it.
            if (!(Math.abs(values[i]) <= Float.MAX_VALUE)) {
                throw new NonFiniteRowException(i / rows.columns(), i % rows.columns(), values[i]);
            }
        }
    }
}
