package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.Reconstruction;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Every candidate of a search with its figures, and the best on the rows to choose by of those that stay within the
 * limits; of a single candidate that one, wherever it could be fitted.
 *
 * @param decoder what {@code best} amounts to, fitted anew on all rows but those to judge on; the decoder in service
 *     when that is to keep it
 * @param gram {@code W W^T} of that decoder, d x d; null where it is not known without a pass over the weights
 */
public record SearchReport(
        List<Figures> candidates,
        Figures best,
        Decoder decoder,
        @Nullable Matrix gram) {

    public SearchReport {
        candidates = List.copyOf(candidates);
    }

    /**
     * The figures of one candidate.
     *
     * @param fit on the rows fitted on; null when the candidate could not be fitted
     * @param validation on the rows to choose by; null when the candidate could not be fitted, or was the only one
     * @param inDistribution on rows of the baseline; null without such rows, and where {@code validation} is
     * @param divergence KL in nats on the requests to choose by; null where candidates are chosen by FVU, and where the
     *     candidate was refused before the model was run
     * @param refusal why it could not be fitted or was passed over, else null
     */
    public record Figures(
            Candidate candidate,
            @Nullable Reconstruction fit,
            @Nullable Reconstruction validation,
            @Nullable Reconstruction inDistribution,
            @Nullable Double divergence,
            @Nullable String refusal) {

        static Figures refused(Candidate candidate, ArithmeticException reason) {
            return new Figures(candidate, null, null, null, null, String.valueOf(reason.getMessage()));
        }

        /** Returns the figures of a candidate that has no rival, or of the decoder in service beside it. */
        static Figures onRowsFittedOn(Candidate candidate, Reconstruction fit) {
            return new Figures(candidate, fit, null, null, null, null);
        }

        Figures passedOver(String reason) {
            return new Figures(candidate, fit, validation, inDistribution, divergence, reason);
        }

        /** Returns these figures with what the model does, or why it says nothing. */
        Figures withDivergence(BehaviourChoice choice, Decoder decoder) {
            try {
                return new Figures(candidate, fit, validation, inDistribution, choice.divergence(decoder), refusal);
            } catch (BehaviourChoice.NoAnswerException silent) {
                return passedOver(String.valueOf(silent.getMessage()));
            }
        }
    }

    /** Returns whether the search ends with no change. */
    public boolean keepsCurrent() {
        return best.candidate() instanceof Candidate.KeepCurrent;
    }
}
