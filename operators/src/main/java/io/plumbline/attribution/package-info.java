/**
 * Finds which features of an explainer fail on the rows of a window, and what each of them costs there.
 *
 * <p><b>Enters:</b> codes, targets and requests of sampled rows, the trained decoder, and the rows that the baseline
 * keeps. <b>Leaves:</b> a short list of {@link FailingFeature}.
 *
 * <p><b>The decision.</b> A feature fails where the explainer's error goes with its code: then its column is wrong, and
 * the covariance of code and error says by how much and which column would be right. It is a mean over requests, so the
 * part of its square that chance alone gives is taken off, and a bootstrap over requests says whether anything is left.
 * How much of a column lies outside the window's active subspace was not taken: on recordings its rank correlation with
 * what refitting the column gains on later rows is 0.0 to 0.1. How active a feature is reaches 0.6 to 0.9 and says
 * nothing of what is wrong with it; it stands in the list beside the rest.
 */
@NullMarked
package io.plumbline.attribution;

import org.jspecify.annotations.NullMarked;
