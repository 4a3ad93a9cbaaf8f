package io.plumbline.topology.adaptation;

import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.requests.WholeRequests;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Distinct rows of consecutive drifted windows, which one refit is made of and judged on.
 *
 * @param rows the rows, ascending by their hashes
 * @param fitted requests that the decoder in service was fitted on; empty while the trained decoder serves
 * @param windows how many windows they come from
 * @param rate the share of these windows' rows that are here, in (0, 1]
 * @param whole requests of these windows that are held whole
 */
record PooledRows(List<SampledRow> rows, Set<Long> fitted, int windows, double rate, List<WholeRequests.Kept> whole) {

    PooledRows {
        rows = List.copyOf(rows);
        fitted = Set.copyOf(fitted);
        whole = List.copyOf(whole);
    }

    PooledRows with(List<WholeRequests.Kept> requests) {
        return new PooledRows(rows, fitted, windows, rate, requests);
    }

    int size() {
        return rows.size();
    }

    /**
     * Splits by whole requests ({@link SampleSplit}). Requests that the decoder in service was fitted on are fitted on
     * again and neither chosen nor judged by: on rows it knows that decoder looks better than it is, and nothing would
     * seem to improve on it. The split's number of requests is that of the others.
     *
     * @param distinct these rows without their repeats
     */
    SampleSplit split(List<SampledRow> distinct, double share) {
        if (fitted.isEmpty()) {
            return SampleSplit.of(distinct, share);
        }
        List<SampledRow> known = new ArrayList<>();
        List<SampledRow> unknown = new ArrayList<>();
        for (SampledRow row : distinct) {
            (fitted.contains(row.request()) ? known : unknown).add(row);
        }
        SampleSplit split = SampleSplit.of(unknown, share);
        return new SampleSplit(
                both(known, split.fit()),
                split.choose(),
                split.judge(),
                both(known, split.refit()),
                distinct,
                split.requests(),
                split.kinds());
    }

    private static List<SampledRow> both(List<SampledRow> one, List<SampledRow> other) {
        return Stream.concat(one.stream(), other.stream()).toList();
    }
}
