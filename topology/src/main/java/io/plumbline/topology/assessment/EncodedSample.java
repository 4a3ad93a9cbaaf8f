package io.plumbline.topology.assessment;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.KnownCodes;
import io.plumbline.features.FailingFeatures;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.SampleRows;
import java.util.List;

/**
 * The sampled rows of a window that are encoded: those that reconstruction is measured on, and once somebody asks, as
 * many as the list of failing features needs. Used by one thread at a time.
 */
final class EncodedSample {

    private final Explainer explainer;
    private final List<SampledRow> rows;
    private final SampleRows head;
    private final Matrix ofTrained;
    private SampleRows most;

    /**
     * @param rows the whole sample
     * @param head its first rows, encoded
     * @param ofTrained what the trained decoder gives for them
     */
    EncodedSample(Explainer explainer, List<SampledRow> rows, SampleRows head, Matrix ofTrained) {
        this.explainer = explainer;
        this.rows = rows;
        this.head = head;
        this.ofTrained = ofTrained;
        this.most = head;
    }

    SampleRows head() {
        return head;
    }

    Matrix ofTrained() {
        return ofTrained;
    }

    /** Returns as many rows as the list of failing features needs, where the sample has so many; encodes the rest. */
    SampleRows extended() {
        if (!explainer.isGiven() && Math.min(FailingFeatures.ROWS, rows.size()) > most.rows()) {
            most = FailingFeatures.encoded(explainer, codes(), rows);
        }
        return most;
    }

    /** Returns the codes of the rows that are encoded so far. */
    KnownCodes codes() {
        return KnownCodes.of(rows.subList(0, most.rows()), most.codes());
    }
}
