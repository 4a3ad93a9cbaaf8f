package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Every candidate of a search with its figures, and the one that reconstructs the validation rows best.
 *
 * @param decoder what {@code best} amounts to; the decoder in service when that is to keep it
 */
public record SearchReport(List<Figures> candidates, Figures best, Decoder decoder) {

    public SearchReport {
        candidates = List.copyOf(candidates);
    }

    /**
     * One candidate.
     *
     * @param fit on the rows fitted on; null when the candidate could not be fitted
     * @param validation on rows of other requests; null when the candidate could not be fitted
     * @param refusal why it could not be fitted, else null
     */
    public record Figures(
            Candidate candidate,
            @Nullable Reconstruction fit,
            @Nullable Reconstruction validation,
            @Nullable String refusal) {}

    /** Whether the search ends with no change. */
    public boolean keepsCurrent() {
        return best.candidate() instanceof Candidate.KeepCurrent;
    }
}
