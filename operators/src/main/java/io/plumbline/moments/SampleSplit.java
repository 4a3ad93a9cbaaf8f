package io.plumbline.moments;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Sampled rows in two parts that share no request: rows of one request resemble each other, so a decoder checked on
 * sisters of its fitting rows would look better than it is.
 */
public record SampleSplit(List<SampledRow> fit, List<SampledRow> validation) {

    public SampleSplit {
        fit = List.copyOf(fit);
        validation = List.copyOf(validation);
    }

    /**
     * Sends whole requests to the validation part until it holds at least {@code validationShare} of the rows, and
     * always leaves one request to fit on. Which ones is decided by their hashes alone: the same split after a replay.
     * With a single request the validation part is empty.
     *
     * @param validationShare in (0, 1)
     */
    public static SampleSplit of(List<SampledRow> rows, double validationShare) {
        if (!(validationShare > 0.0 && validationShare < 1.0)) {
            throw new IllegalArgumentException(
                    "validation share = %s: expected a share in (0, 1)".formatted(validationShare));
        }
        // Mixed once more: requests may be numbered by the same hash that chose the rows.
        TreeMap<Long, Integer> rowsByRequest = new TreeMap<>();
        for (SampledRow row : rows) {
            rowsByRequest.merge(SplitMix.mix(row.request()), 1, Integer::sum);
        }
        Set<Long> held = new HashSet<>();
        long heldRows = 0;
        for (Map.Entry<Long, Integer> request : rowsByRequest.entrySet()) {
            if (heldRows >= validationShare * rows.size() || held.size() == rowsByRequest.size() - 1) {
                break;
            }
            held.add(request.getKey());
            heldRows += request.getValue();
        }
        List<SampledRow> fit = new ArrayList<>();
        List<SampledRow> validation = new ArrayList<>();
        for (SampledRow row : rows) {
            (held.contains(SplitMix.mix(row.request())) ? validation : fit).add(row);
        }
        return new SampleSplit(fit, validation);
    }
}
