package io.plumbline.topology.assessment;

import io.plumbline.baseline.WindowRequests;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import io.plumbline.judgement.Amounts;
import io.plumbline.topology.windows.ClosedWindow;

/**
 * Leaves request scores undefined when part of a window came as moments: of these requests nobody knows the sums, and
 * scores of the others alone would be those of another window.
 */
final class MomentRecordsRule {

    private MomentRecordsRule() {}

    /** Returns the assessment with that reason, or the same one where it does not apply. */
    static GapAssessment apply(ClosedWindow window, WindowRequests requests, GapAssessment assessment) {
        if (window.momentRecords() == 0 || requests.missing() != null) {
            return assessment;
        }
        Value undefined = new Value.Undefined(
                ("requests are scored from their rows, and %s of this window brought moments instead; send rows, "
                                + "or decide by another statistic")
                        .formatted(Amounts.count(window.momentRecords(), "record")));
        return assessment.with(Statistic.REQUEST_SHIFT, undefined).with(Statistic.WORST_REQUEST, undefined);
    }
}
