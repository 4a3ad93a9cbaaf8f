package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Says how a drifted site gets another decoder.
 *
 * @param profile which refits are tried
 * @param limits what a refit has to stay within to be published
 * @param validationShare share of the sampled requests kept to choose on, and as many again to judge on, in (0, 0.5)
 * @param selectBy what candidates are chosen by
 * @param dtype the type in which refitted decoders are published
 * @param pooledRows the most rows of consecutive drifted windows that a refit is made of and judged on
 * @param pooledAge rows of windows that end longer before the newest are left out, event time
 */
public record AdaptationSettings(
        AdaptationProfile profile,
        GateLimits limits,
        double validationShare,
        SelectBy selectBy,
        DType dtype,
        int pooledRows,
        Duration pooledAge) {

    /** The default of {@link #pooledRows}, for a window whose sample is not larger. */
    public static final int DEFAULT_POOLED_ROWS = 8_192;

    /** The default of {@link #pooledAge}. */
    public static final Duration DEFAULT_POOLED_AGE = Duration.ofDays(1);

    public AdaptationSettings {
        if (!(validationShare > 0.0 && validationShare < 0.5)) {
            throw new IllegalArgumentException(
                    "validation_share = %s: expected a share in (0, 0.5)".formatted(validationShare));
        }
        if (pooledRows < 2 || pooledAge.isNegative()) {
            throw new IllegalArgumentException("pooled_rows = %d, pooled_age = %s: expected at least 2 rows and a time"
                    .formatted(pooledRows, pooledAge));
        }
    }

    /**
     * Returns what is asked of a refit on twice the rows of the decoder in service: all the same but {@code
     * minimum_improvement}. The interval above 0 remains.
     */
    GateLimits improvementLimits() {
        return new GateLimits(
                0.0,
                limits.maximumGapGrowth(),
                limits.minimumCosine(),
                limits.maximumNormRatio(),
                limits.changedFeatures(),
                limits.maximumIdCost());
    }

    /**
     * The type in which the trained decoder returns: the configured one where it comes back as the same decoder, else
     * the narrowest wider one that can say so. A rounded one would be neither the trained decoder nor one that passed
     * the gate.
     */
    public DType revertType(Decoder trained) {
        return keeping(List.of(trained));
    }

    /** Returns the configured type where these decoders keep their identity in it, else a wider one. */
    DType keeping(List<Decoder> decoders) {
        return Stream.of(dtype, DType.F32)
                .filter(type -> decoders.stream().allMatch(decoder -> decoder.keepsIdentityAs(type)))
                .findFirst()
                .orElse(DType.F64);
    }

    /** Returns the types in which decoders of this site may travel. */
    public Set<DType> types(Decoder trained) {
        return EnumSet.of(dtype, revertType(trained));
    }
}
