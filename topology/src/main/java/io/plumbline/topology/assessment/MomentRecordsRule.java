package io.plumbline.topology.assessment;

import io.plumbline.baseline.WindowRequests;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import io.plumbline.judgement.Amounts;
import io.plumbline.topology.windows.ClosedWindow;

/**
 * Leaves request scores undefined when part of a window came as moments without the totals of their requests: scores of
 * the others alone would be those of another window.
 */
final class MomentRecordsRule {

    private MomentRecordsRule() {}

    /** Returns the assessment with that reason, or the same one where it does not apply. */
    static GapAssessment apply(ClosedWindow window, WindowRequests requests, GapAssessment assessment) {
        if (window.momentRecords() == 0 || window.requestTotals() != null || requests.missing() != null) {
            return assessment;
        }
        Value undefined = new Value.Undefined(
                ("requests are scored from their sums, and not every record with a moment, %s of this window, brings "
                                + "those; send total_request and the like with it, or decide by another statistic")
                        .formatted(Amounts.count(window.momentRecords(), "record")));
        return assessment
                .with(Statistic.REQUEST_SHIFT, undefined)
                .with(Statistic.WORST_REQUEST, undefined)
                .with(Statistic.REQUEST_EVIDENCE, undefined)
                .with(Statistic.REQUEST_EVIDENCE_BY_RANKS, undefined)
                .with(Statistic.REQUESTS_IN_EVIDENCE, undefined);
    }
}
