package io.plumbline.geometry;

import org.jspecify.annotations.Nullable;

/**
 * A feature whose direction a window supports less than the baseline did: what its explanation says is said of a direction in
 * which the model now has less energy.
 *
 * @param feature its index, row of {@code W_dec} as stored
 * @param weight {@code activity * (outside - outsideBaseline)}, what the list is ordered by
 * @param outside {@code |(I - U U^T) w|^2 / |w|^2}, share of its decoder column outside the window's active subspace, 0 to 1
 * @param outsideBaseline the same for the baseline's active subspace
 * @param activity what it writes as a share of what all features write on the rows looked at: {@code sum z^2 |w|^2}, see {@link
 *     FeatureActivity#shares}
 * @param frequency share of these rows in which it is active
 * @param directionChange {@code 1 - cos} between its column in the trained and in the active decoder, 0 to 2; 1 where the
 *     active decoder has no such column left; null while the trained decoder is in service
 */
public record LostFeature(
        int feature,
        double weight,
        double outside,
        double outsideBaseline,
        double activity,
        double frequency,
        @Nullable Double directionChange) {}
