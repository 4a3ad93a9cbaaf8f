package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import java.util.Arrays;

/**
 * Tells whether a feature is active by one affine map of a row and how much by another of the same directions: where
 * {@code pre = W_enc x + b_gate > 0}, {@code z = max(e^r pre + b, 0)}.
 *
 * <p>SAELens has {@code relu(e^r_mag (W_enc x) + b_mag)}: so {@code b = b_mag - e^r_mag b_gate}.
 */
public final class GatedEncoder implements Encoder {

    private final LinearLayer gate;
    private final double[] factor;
    private final double[] shift;
    private final double[] parameters;

    /**
     * @param gate gives {@code pre}
     * @param factor {@code e^r}, one a feature
     * @param shift {@code b}, one a feature
     */
    public GatedEncoder(LinearLayer gate, double[] factor, double[] shift) {
        if (factor.length != gate.features() || shift.length != gate.features()) {
            throw new IllegalArgumentException(
                    "%d factors and %d shifts for %d features".formatted(factor.length, shift.length, gate.features()));
        }
        this.gate = gate;
        this.factor = factor.clone();
        this.shift = shift.clone();
        this.parameters = Arrays.copyOf(factor, 2 * factor.length);
        System.arraycopy(shift, 0, parameters, factor.length, shift.length);
    }

    @Override
    public int inputWidth() {
        return gate.inputWidth();
    }

    @Override
    public int features() {
        return gate.features();
    }

    /** Returns {@code e^r}, one a feature. */
    public double[] factor() {
        return factor.clone();
    }

    /** Returns {@code b}, one a feature. */
    public double[] shift() {
        return shift.clone();
    }

    @Override
    public SparseCodes encode(Matrix rows) {
        return gate.encode(rows, Open::new);
    }

    private final class Open extends ListedCodes {

        Open(int rows) {
            super(rows);
        }

        @Override
        public double level(int row) {
            return 0.0;
        }

        @Override
        public void take(int row, int first, double[] preActivations, int at, int count) {
            for (int j = 0; j < count; j++) {
                double pre = preActivations[at + j];
                if (pre > 0.0) {
                    double code = factor[first + j] * pre + shift[first + j];
                    if (code > 0.0) {
                        add(row, first + j, code);
                    }
                }
            }
        }
    }
}
