package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.Refit;
import io.plumbline.refit.RefitInputs;
import io.plumbline.refit.RefitRows;
import io.plumbline.refit.SampleRows;
import io.plumbline.refit.SharedSolutions;
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
    private final SharedSolutions shared;
    private final SampleRows validation;
    private final @Nullable SampleRows check;
    private final RefitRows others;
    private final SwapGate gate;
    private final @Nullable BehaviourChoice choice;
    private final @Nullable Reconstruction trainedInDistribution;

    /**
     * @param validation rows to choose by
     * @param check rows of the baseline, null where there are none
     * @param gate whose limit on the cost in distribution holds, and whose judge may choose by what the model does
     */
    Comparison(
            RefitInputs inputs,
            SharedSolutions shared,
            SampleRows validation,
            @Nullable SampleRows check,
            SwapGate gate) {
        this.inputs = inputs;
        this.shared = shared;
        this.validation = validation;
        this.check = check;
        this.others = shared.others(check == null ? List.of(validation) : List.of(validation, check));
        this.gate = gate;
        this.choice = gate.choice();
        // Of the trained decoder the products are there.
        this.trainedInDistribution =
                check == null ? null : shared.scoreTrained(others).get(1);
    }

    /** Returns the figures of a candidate, or why it has none. */
    SearchReport.Figures evaluate(Candidate candidate) {
        try {
            Refit refit = candidate.on(shared);
            Reconstruction onFit = refit.score();
            List<Reconstruction> onOthers = refit.score(others);
            SearchReport.Figures figures = CostInDistribution.within(
                    gate.limits(),
                    new SearchReport.Figures(
                            candidate, onFit, onOthers.get(0), check == null ? null : onOthers.get(1), null, null),
                    trainedInDistribution);
            return choice == null || figures.refusal() != null
                    ? figures
                    : figures.withDivergence(choice, refit.fitted(false).decoder(candidate.describe(), DType.F32));
        } catch (ArithmeticException e) {
            return SearchReport.Figures.refused(candidate, e);
        }
    }

    /** Returns the figures of the decoder in service. */
    SearchReport.Figures keeping(Decoder current) {
        boolean isTrained = inputs.isTrained(current);
        // Of the trained decoder the products are there.
        List<Reconstruction> known = isTrained ? shared.scoreTrained(others) : List.of();
        SearchReport.Figures figures = new SearchReport.Figures(
                new Candidate.KeepCurrent(),
                shared.score(current),
                isTrained ? known.get(0) : score(current, validation),
                check == null ? null : isTrained ? known.get(1) : score(current, check),
                null,
                null);
        return choice == null ? figures : figures.withDivergence(choice, current);
    }

    private static Reconstruction score(Decoder decoder, SampleRows rows) {
        return Reconstruction.of(decoder, rows.codes(), rows.targets());
    }

    /** Returns whether Step 1 rotates anything for this candidate. */
    boolean rotates(Candidate candidate) {
        return candidate instanceof Candidate.Gae gae && inputs.rotates(gae.settings());
    }

    /** Makes Step 1 of these candidates. Beside those that rotate nothing, which may be evaluated meanwhile. */
    void prepareRotations(List<Candidate> candidates) {
        settings(candidates).forEach(inputs::prepareStepOne);
    }

    /** Makes room for what these candidates, the only ones to be evaluated yet, do not share with those before. */
    void keepFor(List<Candidate> candidates) {
        shared.keepFor(settings(candidates));
    }

    private static List<GaeSettings> settings(List<Candidate> candidates) {
        return candidates.stream()
                .filter(Candidate.Gae.class::isInstance)
                .map(candidate -> ((Candidate.Gae) candidate).settings())
                .toList();
    }
}
