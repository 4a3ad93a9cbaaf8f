package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.Travelling;
import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How a drifted site gets another decoder.
 *
 * @param profile which refits are tried
 * @param limits what a refit has to stay within to be published
 * @param validationShare share of the sampled requests kept to choose on, and as many again to judge on, in (0, 0.5)
 * @param travelling how the decoder is published
 * @param encodesOnArrival whether sampled rows are encoded while their windows are open, and not when the adaptation begins
 */
public record AdaptationSettings(
        AdaptationProfile profile,
        GateLimits limits,
        double validationShare,
        Travelling travelling,
        boolean encodesOnArrival) {

    public AdaptationSettings {
        if (!(validationShare > 0.0 && validationShare < 0.5)) {
            throw new IllegalArgumentException(
                    "validation_share = %s: expected a share in (0, 0.5)".formatted(validationShare));
        }
    }

    /**
     * The type in which the trained decoder returns: the configured one where it comes back as the same decoder, else the
     * narrowest wider one that can say so. A rounded one would be neither the trained decoder nor one that passed the gate.
     */
    public DType revertType(Decoder trained) {
        return Stream.of(travelling.dtype(), DType.F32)
                .filter(trained::keepsIdentityAs)
                .findFirst()
                .orElse(DType.F64);
    }

    /** Whether the trained decoder returns without any number: it is what factors with nothing learnt make. */
    boolean returnsAsFactors(Decoder trained) {
        return travelling.factored() && revertType(trained) == DType.F32;
    }

    /** The types in which decoders of this site may travel as k x d weights; none where each has factors. */
    public Set<DType> weightTypes(Decoder trained) {
        Set<DType> types = EnumSet.noneOf(DType.class);
        if (!travelling.factored() || profile instanceof AdaptationProfile.AuthorsCode) {
            types.add(travelling.dtype());
        }
        if (!returnsAsFactors(trained)) {
            types.add(revertType(trained));
        }
        return types;
    }
}
