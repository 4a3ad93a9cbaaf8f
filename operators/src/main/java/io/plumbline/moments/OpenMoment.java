package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.MomentRecordWriter;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One pane of a {@link MomentAccumulator} being filled. Not thread-safe. */
final class OpenMoment {

    /** A record that is ready to be sent. */
    record Finished(long timestampMs, byte @Nullable [] value, Map<String, String> headers) {}

    private final MomentAccumulator.Settings settings;
    private final long startMs;
    private final SecondMomentAccumulator moment;
    private final RowSample sample;
    private final OpenTotals totals;
    private MaskedRows masked = MaskedRows.NONE;
    private long newestMs;
    private int requests;
    private long announced;
    private double largestNorm;

    OpenMoment(MomentAccumulator.Settings settings, long startMs) {
        this.settings = settings;
        this.startMs = startMs;
        newestMs = startMs;
        moment = SecondMomentAccumulator.ofDimension(settings.dimension());
        sample = RowSample.ofCapacity(settings.sampleRows());
        totals = new OpenTotals(Math.min(settings.requestTotals(), MomentRecord.Totals.most(settings.dimension())));
    }

    /** Takes note of the event time of a batch and of its rows that were masked. */
    void sawTime(long timestampMs, MaskedRows more) {
        newestMs = Math.max(newestMs, timestampMs);
        masked = masked.plus(more);
    }

    /** Returns how many rows came, masked ones among them. */
    long rows() {
        return moment.rows() + masked.total();
    }

    long bytes() {
        return 4L * moment.dimension() * (moment.dimension() + 3) + sample.bytes() + totals.bytes();
    }

    /**
     * Adds the rows of a batch.
     *
     * @param record identity of the batch
     * @param name of their request; null where the batch is one
     */
    void add(ActivationBatch batch, long record, @Nullable String name, long timestampMs) {
        long request = name == null ? record : RowSample.requestHash(name);
        moment.addFloats(batch.targetRows());
        totals.add(request, name, batch.targetRows());
        requests++;
        for (int row = 0; row < batch.rows(); row++) {
            largestNorm = Math.max(largestNorm, RowMask.norm(batch.targetRows(), row));
            long hash = RowSample.hash(record, row);
            if (hash <= sample.threshold()) {
                Matrix targets = batch.targets();
                sample.offer(
                        hash,
                        request,
                        timestampMs,
                        batch.activations().floats(row),
                        targets == null ? null : targets.floats(row));
            }
        }
    }

    Finished finish() {
        MomentRecordWriter writer = MomentRecordWriter.of(
                        new MomentRecord.Counts(
                                Math.toIntExact(moment.rows()),
                                requests,
                                Math.toIntExact(masked.byToken()),
                                Math.toIntExact(masked.byNorm())),
                        new MomentRecord.Pane(startMs, settings.paneMs()),
                        moment.dimension(),
                        moment.state(),
                        settings.dtype(),
                        largestNorm)
                .mask(settings.mask().applied());
        List<SampledRow> rows = sample.rows();
        if (!rows.isEmpty()) {
            writer.sample(
                    sample.hashes(),
                    rows.stream().mapToLong(SampledRow::request).toArray(),
                    rows.stream().mapToLong(SampledRow::timestampMs).toArray(),
                    rows.stream().map(SampledRow::activation).toList(),
                    settings.targetWidth() == null
                            ? null
                            : rows.stream().map(SampledRow::targetRow).toList());
        }
        totals.writeTo(writer);
        Map<String, String> headers = announced == 0
                ? Map.of()
                : Map.of(
                        MomentAccumulator.TOKENS_SERVED,
                        Long.toString(rows()),
                        MomentAccumulator.TOKENS_ANNOUNCED,
                        Long.toString(announced));
        return new Finished(newestMs, writer.toBytes(), headers);
    }

    /** Tells of the rows that came since this was called last; null where none did. */
    @Nullable
    Finished announce() {
        long more = rows() - announced;
        if (more == 0) {
            return null;
        }
        announced = rows();
        return new Finished(newestMs, null, Map.of(MomentAccumulator.TOKENS_SERVED, Long.toString(more)));
    }
}
