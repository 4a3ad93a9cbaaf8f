package io.plumbline.refit;

import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;

/**
 * Gives a decoder the values it has once it was written in another type, F64 being as it is.
 *
 * @param name what a message calls the decoder
 */
record Rounding(String name, DType dtype) {

    private static final int BLOCK = 128;

    Rounding {
        if (!dtype.isFloatingPoint()) {
            throw new IllegalArgumentException("dtype = %s: expected f64, f32, bf16 or f16".formatted(dtype));
        }
    }

    /**
     * Returns the weights with the type's values, the same object where they have them already.
     *
     * @throws ArithmeticException if the type cannot hold a value
     */
    Weights of(Weights weights) {
        if (dtype == DType.F64 || (dtype == DType.F32 && weights.areFloats())) {
            return weights;
        }
        WeightsBuilder rounded = new WeightsBuilder(weights.rows(), weights.columns(), this);
        for (int from = 0; from < weights.rows(); from += BLOCK) {
            rounded.put(from, weights.rowRange(from, Math.min(from + BLOCK, weights.rows())));
        }
        return rounded.build();
    }

    /**
     * Returns whether none is beyond the largest float: then there is nothing to say, and writing floats down is all
     * the rounding.
     */
    static boolean areFinite(double[] values) {
        boolean finite = true;
        for (double value : values) {
            // Written so that NaN is caught.
            finite &= Math.abs(value) <= Float.MAX_VALUE;
        }
        return finite;
    }

    /** Rounds in place. */
    void round(double[] values, String what) {
        for (int i = 0; i < values.length; i++) {
            double rounded = dtype.rounded(values[i]);
            if (!Double.isFinite(rounded)) {
                throw new ArithmeticException(("the %s of \"%s\" hold %s, %s holds at most %s; nothing was published, "
                                + "the decoder in service stays: write a wider adaptation.dtype, such as f32")
                        .formatted(what, name, values[i], dtype, dtype.largest()));
            }
            values[i] = rounded;
        }
    }
}
