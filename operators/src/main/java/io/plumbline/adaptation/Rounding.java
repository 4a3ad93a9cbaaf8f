package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Cores;
import io.plumbline.wire.DType;

/** A decoder with the values it has once it was written in another type. */
final class Rounding {

    private static final int PART = 1 << 18;

    private Rounding() {}

    /**
     * In place: the decoder was made a line ago and nobody else has it.
     *
     * @throws ArithmeticException if the type cannot hold a value
     */
    static Decoder of(Decoder decoder, Candidate candidate, DType dtype) {
        round(decoder.weights().values(), "weights", candidate, dtype);
        round(decoder.bias(), "bias", candidate, dtype);
        return decoder;
    }

    private static void round(double[] values, String what, Candidate candidate, DType dtype) {
        Cores.each((values.length + PART - 1) / PART, part -> {
            for (int i = part * PART; i < Math.min(values.length, (part + 1) * PART); i++) {
                double rounded = dtype.rounded(values[i]);
                if (!Double.isFinite(rounded)) {
                    throw new ArithmeticException(
                            "the %s of \"%s\" hold %s, %s holds at most %s; nothing was published, the decoder in service stays: write a wider adaptation.dtype, such as f32"
                                    .formatted(what, candidate.describe(), values[i], dtype, dtype.largest()));
                }
                values[i] = rounded;
            }
        });
    }
}
