package io.plumbline.features;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/**
 * A feature whose decoder column is wrong on the rows of a window. Squared activations are given as shares of the
 * variance of these rows' targets about their mean, so that they add to FVU.
 */
public record FailingFeature(
        @JsonPropertyDescription("its index: the row of `W_dec` as stored")
        int feature,

        @JsonPropertyDescription("the part of the error that goes with its code, without what chance gives")
        double systematicResidual,

        @JsonPropertyDescription("lower end of its one-sided 95 % interval")
        double systematicResidualLow,

        @JsonPropertyDescription("the same on the rows that the baseline keeps") @Nullable
        Double systematicResidualBaseline,

        @JsonPropertyDescription("share of the error that a refit of its column alone would remove")
        double shareOfError,

        @JsonPropertyDescription("FVU that taking the feature out would add; negative where the feature does harm")
        double usefulness,

        @JsonPropertyDescription("the same on the rows that the baseline keeps") @Nullable
        Double usefulnessBaseline,

        @JsonPropertyDescription("what it writes, as a share of what all features write")
        double activity,

        @JsonPropertyDescription("share of the rows in which it is active")
        double frequency,

        @JsonPropertyDescription("1 - cosine between its columns in the trained decoder and in the one in service")
        @Nullable
        Double directionChange) {}
