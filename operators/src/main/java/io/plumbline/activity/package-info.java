/**
 * Finds which features of an explainer are active more or less often in a window than on the baseline's rows.
 *
 * <p><b>Enters:</b> sparse codes of rows and the request of each row. <b>Leaves:</b> totals that add up
 * ({@link io.plumbline.activity.FeatureActivity}), and from those of a window and of a baseline a short list of
 * {@link io.plumbline.activity.ActivityChange}.
 *
 * <p><b>The decision.</b> Rows of one request are alike, so counts of rows are worth fewer rows than there are. How
 * many is measured for each feature from the totals of requests, on both sides, and the larger answer counts. A
 * bootstrap over requests was not taken: at the small chances that thousands of features need it has no resolution. The
 * test speaks of how often a feature is active, not of how strongly; mean activations stand beside it.
 */
@NullMarked
package io.plumbline.activity;

import org.jspecify.annotations.NullMarked;
