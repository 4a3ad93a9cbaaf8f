package io.plumbline.topology.report;

import io.plumbline.baseline.RequestScore;
import io.plumbline.baseline.WindowRequests;
import io.plumbline.wire.Printable;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Names one of the requests of a window that are farthest from those of the baseline.
 *
 * @param request its name, or where it has none the hash of its record in hexadecimal
 * @param rows rows it was scored by
 * @param score how far it is, see {@link io.plumbline.baseline.RequestModel}
 * @param pValue the chance that a clean request is as far; beyond the 20 farthest of the baseline's an estimate, see
 *     {@link RequestScore}
 * @param share the request's share of the evidence of all requests of the window, in [0, 1]
 */
public record WorstRequest(String request, long rows, double score, double pValue, double share) {

    /** The most requests that a report names. */
    public static final int REPORTED = 5;

    /** The most requests that a sentence or an alert names. */
    public static final int NAMED = 3;

    /**
     * Returns the requests with most evidence, largest first.
     *
     * @param deciding name of the deciding statistic, see {@link WindowRequests#of(String)}
     */
    public static List<WorstRequest> of(WindowRequests requests, String deciding) {
        return requests.of(deciding).worst(REPORTED).stream()
                .map(worst -> new WorstRequest(
                        worst.score().label(),
                        worst.score().rows(),
                        worst.score().score(),
                        worst.score().pValue(),
                        worst.share()))
                .toList();
    }

    /** Returns the names of the first few in a sentence. */
    public static String sentence(List<WorstRequest> worst) {
        return "the requests with most of the evidence: " + names(worst);
    }

    /** Returns the names of the first few with their shares of the evidence. */
    public static String names(List<WorstRequest> worst) {
        return worst.stream()
                .limit(NAMED)
                .map(one -> String.format(Locale.ROOT, "%s (%.0f %%)", one.printable(), 100.0 * one.share()))
                .collect(Collectors.joining(", "));
    }

    /**
     * Returns the name for sentences, logs and alerts. A client chose it: control characters, which would reach
     * terminals, become {@code ?}.
     */
    public String printable() {
        return Printable.of(request);
    }
}
