package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.GaeSettings;
import io.plumbline.wire.DType;
import org.jspecify.annotations.Nullable;

/**
 * How a drifted site gets another decoder.
 *
 * @param fixed the hyper-parameters of the one fit; null: a small set of candidates, the current decoder among them, judged
 *     on the validation rows
 * @param minimumImprovement share of the held-out FVU a decoder must take away to be published, in [0, 1)
 * @param validationShare share of the sampled requests kept out of the fit, in (0, 1)
 * @param dtype element type of the published decoder, F32 or F64
 */
public record AdaptationSettings(
        @Nullable GaeSettings fixed, double minimumImprovement, double validationShare, DType dtype) {

    public AdaptationSettings {
        if (!(minimumImprovement >= 0.0 && minimumImprovement < 1.0)) {
            throw new IllegalArgumentException(
                    "minimum_improvement = %s: expected a share in [0, 1)".formatted(minimumImprovement));
        }
        if (!(validationShare > 0.0 && validationShare < 1.0)) {
            throw new IllegalArgumentException(
                    "validation_share = %s: expected a share in (0, 1)".formatted(validationShare));
        }
        if (dtype != DType.F32 && dtype != DType.F64) {
            throw new IllegalArgumentException("dtype = %s: expected f32 or f64".formatted(dtype));
        }
    }
}
