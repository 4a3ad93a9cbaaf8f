package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;
import io.plumbline.wire.DType;
import org.jspecify.annotations.Nullable;

/**
 * A refit that is done, before its k x d weights are made. Immutable; it holds nothing of the levels that were solved.
 *
 * <p>The paper leaves open which bias goes with an interpolated decoder; here it is always {@code mean y - W mean z}
 * for the W that is returned, so that its errors have mean 0 on the rows fitted on.
 *
 * <p><b>Size</b> beside the trained decoder and the codes: {@code 8 N d} bytes and those of Step 1.
 */
public final class FittedDecoder {

    /** Columns of the bias that one thread takes at a time: a column's sum stays in its order. */
    private static final int COLUMNS = 384;

    private final Decoder trained;
    private final SparseCodes codes;
    private final double[] targetMean;
    private final SettingsFit fit;
    private final @Nullable Matrix products;

    FittedDecoder(FittedRows rows, SettingsFit fit, @Nullable Matrix products) {
        this.trained = rows.trained();
        this.codes = rows.codes();
        this.targetMean = rows.targetMean();
        this.fit = fit;
        this.products = products;
    }

    /** Returns {@code W W^T} of the decoder, d x d; null where it was not asked for. */
    public @Nullable Matrix products() {
        return products;
    }

    /**
     * Returns the decoder with the values it has once it was written in a type.
     *
     * @param name what a message calls it
     * @param type F64 leaves the values as they are
     * @throws ArithmeticException if the type cannot hold a value
     */
    public Decoder decoder(String name, DType type) {
        Rounding rounding = new Rounding(name, type);
        Decoder decoder = withBias(rounding.of(rounded(rounding)), codes, targetMean);
        rounding.round(decoder.bias(), "bias");
        return decoder;
    }

    /** Returns the decoder as it is computed, in float64. */
    Decoder exact() {
        return withBias(rounded(null), codes, targetMean);
    }

    private Weights rounded(@Nullable Rounding rounding) {
        return fit.keepsWeights() ? trained.weights() : fit.weights(trained.weights(), codes, rounding);
    }

    /** Returns the decoder with these weights whose errors have mean 0 on rows whose targets have this mean. */
    static Decoder withBias(Weights weights, SparseCodes codes, double[] targetMean) {
        double[] bias = targetMean.clone();
        double[] mean = codes.mean();
        Cores.each((bias.length + COLUMNS - 1) / COLUMNS, 2.0 * mean.length * bias.length, part -> {
            int from = part * COLUMNS;
            int count = Math.min(COLUMNS, bias.length - from);
            for (int j = 0; j < mean.length; j++) {
                if (mean[j] != 0.0) {
                    weights.addRow(-mean[j], j, from, count, bias, from);
                }
            }
        });
        return new Decoder(weights, bias);
    }
}
