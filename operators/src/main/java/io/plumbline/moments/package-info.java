/**
 * Keeps what a window remembers of its rows: their second moment, and a small sample of the rows themselves.
 *
 * <p><b>Enters:</b> activation rows of the target space. <b>Leaves:</b> {@link SecondMoment}, an immutable value from
 * which the mean, the uncentred moment and the covariance are read, and the rows of a {@link RowSample}.
 *
 * <p><b>The decision.</b> Both are mergeable: parts that were filled anywhere, in any order, add up to what one pass
 * over all rows would have given (the moment up to rounding, the sample exactly). A window can therefore be cut over
 * partitions and instances without any of them seeing the whole. The count, the sum and the sum of products are kept
 * together, uncentred: merging centred moments is possible too, but the method is stated for the uncentred one, and
 * on integer-valued rows sums are exact, which lets a test compare the hash of a recovered window with the truth.
 *
 * <p>A filling thing is mutable and has one owner ({@link SecondMomentAccumulator}, {@link RowSample}); what is
 * passed on is a value.
 */
@NullMarked
package io.plumbline.moments;

import org.jspecify.annotations.NullMarked;
