package io.plumbline.topology.assessment;

import io.plumbline.calibration.RequestScore;
import io.plumbline.calibration.WindowRequests;
import io.plumbline.geometry.Statistic;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * One of the requests of a window that are farthest from those of the baseline.
 *
 * @param request its name, or where it has none the hash of its record in hexadecimal
 * @param rows rows it was scored by
 * @param score how far it is, see {@link io.plumbline.calibration.RequestModel}
 * @param pValue the share of the baseline's requests with such a score
 * @param share of the evidence of the window's requests that is its own, in [0, 1]
 */
public record WorstRequest(String request, long rows, double score, double pValue, double share) {

    /** Most requests that a report names. */
    public static final int REPORTED = 5;

    /** Most requests that a sentence or an alert names. */
    public static final int NAMED = 3;

    /** Those with most evidence, largest first: by their reconstructions where that statistic is the deciding one, else by their means. */
    public static List<WorstRequest> of(WindowRequests requests, String deciding) {
        List<RequestScore> scores = deciding.equals(Statistic.REQUEST_FVU.label())
                        || requests.means().isEmpty()
                ? requests.reconstructions()
                : requests.means();
        return WindowRequests.worst(scores, REPORTED).stream()
                .map(worst -> new WorstRequest(
                        worst.score().label(),
                        worst.score().rows(),
                        worst.score().score(),
                        worst.score().pValue(),
                        worst.share()))
                .toList();
    }

    /** The first few by name, with their shares of the evidence. */
    public static String names(List<WorstRequest> worst) {
        return worst.stream()
                .limit(NAMED)
                .map(one -> String.format(Locale.ROOT, "%s (%.0f %%)", one.request(), 100.0 * one.share()))
                .collect(Collectors.joining(", "));
    }
}
