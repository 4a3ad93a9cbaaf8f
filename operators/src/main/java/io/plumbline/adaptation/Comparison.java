package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.refit.FittedRows;
import io.plumbline.refit.PlannedRefits;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.Refit;
import io.plumbline.refit.RefitInputs;
import io.plumbline.refit.Rotations;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Figures of candidates on the rows fitted on, the rows to choose by and rows of the baseline. Unless candidates are
 * chosen by what the model does, none needs a k x d product before it is the one to publish. It lives as long as
 * candidates are compared.
 */
final class Comparison {

    private final RefitInputs inputs;
    private final FittedRows fitted;
    private final SampleRows validation;
    private final @Nullable SampleRows check;
    private final SwapGate gate;
    private final @Nullable BehaviourChoice choice;
    private final List<Reconstruction> ofTrained;

    /**
     * @param validation rows to choose by
     * @param check rows of the baseline, null where there are none
     * @param gate whose limit on the cost in distribution holds, and whose judge may choose by what the model does
     */
    Comparison(RefitInputs inputs, SampleRows validation, @Nullable SampleRows check, SwapGate gate) {
        this.inputs = inputs;
        this.fitted = check == null ? FittedRows.of(inputs, validation) : FittedRows.of(inputs, validation, check);
        this.validation = validation;
        this.check = check;
        this.gate = gate;
        this.choice = gate.choice();
        this.ofTrained = fitted.scoreTrained();
    }

    /** Returns the figures of each candidate in their order, or why it has none. */
    List<SearchReport.Figures> figures(List<Candidate> candidates, Rotations rotations) {
        PlannedRefits<SearchReport.Figures> refits = PlannedRefits.of(
                Candidate.settings(candidates),
                fitted,
                rotations,
                (settings, refit) -> figures(new Candidate.Gae(settings), refit));
        return candidates.stream().map(candidate -> figures(candidate, refits)).toList();
    }

    private SearchReport.Figures figures(Candidate candidate, PlannedRefits<SearchReport.Figures> refits) {
        try {
            return candidate instanceof Candidate.Gae gae
                    ? refits.of(gae.settings())
                    : figures(candidate, fitted.biasOnly());
        } catch (ArithmeticException e) {
            return SearchReport.Figures.refused(candidate, e);
        }
    }

    private SearchReport.Figures figures(Candidate candidate, Refit refit) {
        SearchReport.Figures figures =
                CostInDistribution.within(gate.limits(), figures(candidate, refit.score()), inDistribution(ofTrained));
        if (choice == null || figures.refusal() != null) {
            return figures;
        }
        try {
            return figures.withDivergence(choice, refit.fitted().decoder(candidate.describe(), DType.F32));
        } catch (ArithmeticException e) {
            return SearchReport.Figures.refused(candidate, e);
        }
    }

    /** Returns the figures of the decoder in service. */
    SearchReport.Figures keeping(Decoder current) {
        SearchReport.Figures figures =
                figures(new Candidate.KeepCurrent(), current.equals(inputs.trained()) ? ofTrained : score(current));
        return choice == null ? figures : figures.withDivergence(choice, current);
    }

    private List<Reconstruction> score(Decoder decoder) {
        Reconstruction onFit = inputs.score(decoder, fitted);
        Reconstruction onValidation = score(decoder, validation);
        return check == null ? List.of(onFit, onValidation) : List.of(onFit, onValidation, score(decoder, check));
    }

    private static Reconstruction score(Decoder decoder, SampleRows rows) {
        return Reconstruction.of(decoder, rows.codes(), rows.targets());
    }

    private SearchReport.Figures figures(Candidate candidate, List<Reconstruction> onSets) {
        return new SearchReport.Figures(candidate, onSets.get(0), onSets.get(1), inDistribution(onSets), null, null);
    }

    private @Nullable Reconstruction inDistribution(List<Reconstruction> onSets) {
        return check == null ? null : onSets.get(2);
    }
}
