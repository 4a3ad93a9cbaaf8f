/**
 * Finds which features of an explainer behave otherwise in a window than on the baseline's rows: those that are
 * active more or less often, and those whose columns fail.
 *
 * <p><b>Enters:</b> sparse codes and targets of sampled rows with the request of each, the trained decoder, and what
 * the baseline keeps. <b>Leaves:</b> short lists of {@link ActivityChange} and {@link FailingFeature}.
 *
 * <p><b>Activity.</b> Rows of one request are alike, so counts of rows are worth fewer rows than there are. How many
 * is measured for each feature from the totals of requests, on both sides, and the larger answer counts. A bootstrap
 * over requests was not taken: at the small chances that thousands of features need it has no resolution. The test
 * speaks of how often a feature is active, not of how strongly; mean activations stand beside it.
 *
 * <p><b>Failure.</b> A feature fails where the explainer's error goes with its code: then its column is wrong, and
 * the covariance of code and error says by how much and which column would be right. It is a mean over requests, so
 * the part of its square that chance alone gives is taken off, and a bootstrap over requests says whether anything is
 * left. How much of a column lies outside the window's active subspace was not taken: on recordings its rank
 * correlation with what refitting the column gains on later rows is 0.0 to 0.1.
 */
@NullMarked
package io.plumbline.features;

import org.jspecify.annotations.NullMarked;
