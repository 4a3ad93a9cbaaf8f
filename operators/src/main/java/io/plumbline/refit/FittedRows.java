package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.List;

/**
 * The rows that refits are fitted on, with their means taken out, and other rows to score refits on: all that settings
 * share but the ridge levels, which {@link PlannedRefits} solve on it.
 *
 * <p><b>Size.</b> {@code 16 N d} bytes, for n other rows {@code 16 n d}, beside the codes. Not changed once it is made;
 * any number of threads.
 */
public final class FittedRows {

    private final Decoder trained;
    private final SparseCodes codes;
    private final CentredGram gram;
    private final double[] targetMean;
    private final double[] productMean;
    private final List<CentredRows> sets;

    /**
     * Takes the means out, in the place of what it is given.
     *
     * @param trained whose weights D every refit starts from
     * @param targets N x d
     * @param product {@code Z D}
     * @param answered how many rows, the first ones, have the trained decoder's own answers as targets
     * @param others rows to score on, each set with figures of its own
     */
    private FittedRows(
            Decoder trained, SparseCodes codes, Matrix targets, Matrix product, int answered, List<SampleRows> others) {
        this.trained = trained;
        this.codes = codes;
        this.gram = new CentredGram(codes);
        this.targetMean = SparseProducts.centre(targets);
        this.productMean = SparseProducts.centre(product);
        CentredRows centred = CentredRows.fittedOn(codes, targets, product, answered);
        this.sets = others.isEmpty() ? List.of(centred) : List.of(centred, others(others));
    }

    /** Returns the rows of some inputs, the anchors first: {@code 2 nonZeros d} flops. */
    public static FittedRows of(RefitInputs inputs, SampleRows... others) {
        SparseCodes codes = inputs.codes();
        Matrix product = SparseProducts.multiply(codes, inputs.trained().weights());
        return new FittedRows(
                inputs.trained(), codes, inputs.targets(product), product, inputs.answered(), List.of(others));
    }

    /** Returns rows without anchors; the targets are not changed. */
    static FittedRows of(Decoder trained, SparseCodes codes, Matrix targets) {
        Matrix product = SparseProducts.multiply(codes, trained.weights());
        return new FittedRows(trained, codes, targets.copy(), product, 0, List.of());
    }

    private CentredRows others(List<SampleRows> others) {
        return CentredRows.seenFrom(codes, trained, targetMean, productMean, others);
    }

    /** Returns the refit that keeps the trained weights and only gives them a new bias. Nothing is solved for it. */
    public Refit biasOnly() {
        return Refit.withoutStepTwo(this, StepOne.nothing());
    }

    /**
     * Returns how well the trained decoder gives back the rows fitted on, and then each set of other rows: its products
     * are already computed.
     */
    public List<Reconstruction> scoreTrained() {
        // What the trained bias lacks to the one of the rows fitted on.
        double[] offset = targetMean.clone();
        Kernels.addScaled(-1.0, productMean, 0, offset, 0, offset.length);
        Kernels.addScaled(-1.0, trained.bias(), 0, offset, 0, offset.length);
        return sets.stream()
                .flatMap(rows -> rows.scoredTrained(offset).stream())
                .toList();
    }

    /** Factors the system of a ridge level; see {@link RidgeSystem#of}. */
    RidgeSystem system(double lambda) {
        return RidgeSystem.of(codes, gram, lambda);
    }

    Decoder trained() {
        return trained;
    }

    SparseCodes codes() {
        return codes;
    }

    double[] targetMean() {
        return targetMean;
    }

    /** Returns the rows fitted on, seen from themselves. */
    CentredRows centred() {
        return sets.get(0);
    }

    /** Returns the rows fitted on and, where there are any, all others: what refits are scored on. */
    List<CentredRows> sets() {
        return sets;
    }
}
