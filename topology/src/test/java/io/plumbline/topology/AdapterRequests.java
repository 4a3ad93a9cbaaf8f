package io.plumbline.topology;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.adaptation.PublishedCandidates;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.assessment.AdaptationMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/** Asks what the monitor asks about a site of {@link WatchedFolder}. */
final class AdapterRequests {

    static final int CAPACITY = 512;
    static final long START = 1_700_000_000_000L;
    private static final int PART_BYTES = 2_000;

    /** The candidates of a topic that holds none. */
    static final PublishedCandidates NO_CANDIDATES = new PublishedCandidates() {
        @Override
        public Candidate read(String site, long number) {
            throw new IllegalStateException("it is not on the topic");
        }

        @Override
        public SwapState lastTold(String site) {
            return null;
        }
    };

    private AdapterRequests() {}

    /** Returns several parts of a sample, then the request. */
    static List<AdaptationMessage> adapt(long endMs, LongFunction<Matrix> rows) {
        return adapt(endMs, sample(endMs, WatchedFolder.RECORDS, seed -> rows.apply(endMs + seed)));
    }

    /** Returns the parts of another sample, then the request. */
    static List<AdaptationMessage> adapt(long endMs, RowSample sample) {
        List<byte[]> parts = sample.encode(PART_BYTES);
        List<AdaptationMessage> messages = new ArrayList<>();
        for (int index = 0; index < parts.size(); index++) {
            messages.add(new AdaptationMessage.SamplePart(endMs, index, parts.get(index)));
        }
        messages.add(adapt(endMs, sample.size(), sample.capacity(), parts.size()));
        return messages;
    }

    /** Returns the request of a site with one target alone. */
    static AdaptationMessage adapt(long endMs, int rows, int capacity, int parts) {
        return new AdaptationMessage.Adapt(
                endMs, START, List.of(new AdaptationMessage.BlockRows(null, rows, capacity, parts)));
    }

    /** Returns the sample of a window with so many requests, which are called after its end. */
    static RowSample sample(long endMs, int records, LongFunction<Matrix> source) {
        RowSample sample = RowSample.ofCapacity(CAPACITY);
        for (int record = 0; record < records; record++) {
            Matrix rows = source.apply(record);
            for (int row = 0; row < rows.rows(); row++) {
                float[] values = new float[rows.columns()];
                for (int j = 0; j < values.length; j++) {
                    values[j] = (float) rows.get(row, j);
                }
                long request = RowSample.requestHash("record %d of %d".formatted(record, endMs));
                sample.offer(RowSample.hash(request, row), request, endMs + record, values, null);
            }
        }
        return sample;
    }
}
