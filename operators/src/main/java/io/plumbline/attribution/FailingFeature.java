package io.plumbline.attribution;

import org.jspecify.annotations.Nullable;

/**
 * A feature whose decoder column is wrong on the rows of a window. Squared activations are given as shares of the
 * variance of these rows' targets about their mean, so that they add to FVU.
 *
 * @param feature its index, row of {@code W_dec} as stored
 * @param systematicResidual {@code |w| |cov(z, e)|}, the part of the error that goes with its code, without what chance
 *     gives
 * @param systematicResidualLow lower end of its one-sided 95 % interval, by a bootstrap over requests
 * @param systematicResidualBaseline what it would be here if a refit had to change the column by as much as on the rows
 *     that the baseline keeps; null without such rows
 * @param shareOfError {@code |cov(z, e)|^2 / (var(z) var(e))}, share of the error that a least-squares refit of its
 *     column alone would remove
 * @param usefulness FVU that taking the feature out would add, {@code sum_i (|e_i + z_i w|^2 - |e_i|^2)}; negative
 *     where it does harm
 * @param usefulnessBaseline the same on the rows that the baseline keeps; null without such rows
 * @param activity what it writes as a share of what all features write, {@code sum_i z_i^2 |w|^2}
 * @param frequency share of the rows in which it is active
 * @param directionChange {@code 1 - cos} between its column in the trained decoder and in the one in service, 0 to 2; 1
 *     where the decoder in service has no such column left; null while the trained decoder is in service
 */
public record FailingFeature(
        int feature,
        double systematicResidual,
        double systematicResidualLow,
        @Nullable Double systematicResidualBaseline,
        double shareOfError,
        double usefulness,
        @Nullable Double usefulnessBaseline,
        double activity,
        double frequency,
        @Nullable Double directionChange) {}
