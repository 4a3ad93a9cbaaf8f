package io.plumbline.topology.ingest;

import io.plumbline.judgement.Amounts;
import io.plumbline.moments.TotalsClaim;
import io.plumbline.records.EncodedRows;
import io.plumbline.records.MomentClaim;
import io.plumbline.records.MomentRecord;
import io.plumbline.topology.ingest.DeadLetter.Reason;
import io.plumbline.topology.ingest.RecordReader.Refused;

/** Compares a moment that came instead of rows with its site, and its numbers with each other. */
record MomentChecks(Limits limits) {

    /** Throws what the record is refused for; the widths are compared before anything is made of its numbers. */
    void check(SiteShape shape, MomentRecord moment, long timestampMs) throws Refused {
        if (shape.given()) {
            throw refused(
                    Reason.UNEXPECTED_MOMENT,
                    shape,
                    "the site has no explainer and is measured by reconstructions beside their rows; send both");
        }
        if (!shape.space().isPlain()) {
            throw refused(
                    Reason.UNEXPECTED_MOMENT,
                    shape,
                    ("the explainer's decoder writes other rows than those that come (%s), "
                                    + "and a moment was summed of these; send rows")
                            .formatted(shape.space().describe()));
        }
        checkWidth(shape, "sum", moment.dimension(), shape.targetWidth());
        MomentRecord.Sample sample = moment.sample();
        if (sample != null) {
            checkSample(shape, sample);
        }
        if (!moment.pane().holds(timestampMs)) {
            throw refused(
                    Reason.MALFORMED,
                    shape,
                    ("the timestamp %d ms is not in the record's pane of %d ms from %d ms on; "
                                    + "it is the event time of the newest row, and all are milliseconds since 1970")
                            .formatted(
                                    timestampMs,
                                    moment.pane().sizeMs(),
                                    moment.pane().startMs()));
        }
        if (!shape.mask().isApplied(moment.mask())) {
            throw refused(
                    Reason.WRONG_MASK,
                    shape,
                    ("the moment is of rows masked by %s, the site masks by %s; "
                                    + "mask the rows before they are summed and say so in mask_token_ids and mask_norm")
                            .formatted(moment.mask(), shape.mask().applied()));
        }
        MomentClaim.Fault fault = MomentClaim.fault(moment);
        fault = fault == null ? TotalsClaim.fault(moment) : fault;
        if (fault != null) {
            throw refused(fault.nonFinite() ? Reason.NON_FINITE : Reason.IMPOSSIBLE_MOMENT, shape, fault.message());
        }
    }

    private void checkSample(SiteShape shape, MomentRecord.Sample sample) throws Refused {
        if (sample.rows() > limits.rowsPerRecord()) {
            throw refused(
                    Reason.TOO_MANY_ROWS,
                    shape,
                    "%d sampled rows, limits.rows_per_record allows %d; the moment was not added"
                            .formatted(sample.rows(), limits.rowsPerRecord()));
        }
        checkWidth(shape, "sample_activations", sample.activations().columns(), shape.inputWidth());
        EncodedRows targets = sample.targets();
        if (targets != null && !shape.transcoder()) {
            throw refused(
                    Reason.UNEXPECTED_TARGETS,
                    shape,
                    "the sample has targets, but the explainer is a sparse autoencoder and reconstructs its own input");
        }
        if (targets == null && shape.transcoder()) {
            throw refused(
                    Reason.MISSING_TARGETS,
                    shape,
                    "a transcoder needs a tensor \"sample_targets\" of %d columns beside \"sample_activations\""
                            .formatted(shape.targetWidth()));
        }
        if (targets != null) {
            checkWidth(shape, "sample_targets", targets.columns(), shape.targetWidth());
        }
    }

    private static void checkWidth(SiteShape shape, String tensor, int found, int expected) throws Refused {
        if (found != expected) {
            throw refused(
                    Reason.WRONG_WIDTH,
                    shape,
                    "%s has %s, the site has %s"
                            .formatted(tensor, Amounts.count(found, "column"), Amounts.number(expected)));
        }
    }

    private static Refused refused(Reason reason, SiteShape shape, String message) {
        return new Refused(reason, "site %s: %s".formatted(shape.site(), message));
    }
}
