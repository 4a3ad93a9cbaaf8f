/**
 * Compares an explainer on the rows of one engine, revision or quantisation of its model with the same on another.
 *
 * <p><b>Enters:</b> recorded requests of both. <b>Leaves:</b> {@link ExplainerComparison}: figures with intervals, the
 * features that survive, the mistakes that explain a change, and what a {@link Policy} says of them.
 *
 * <p><b>The decision.</b> A feature survives where its codes on the same rows correlate with those before, whatever
 * their scale: labels and thresholds made with the codes before then keep their order. That a feature is below is
 * tested over groups of requests, since rows of one request are alike. Where prompts differ, rows have no partner, and
 * only what needs none is measured.
 */
@NullMarked
package io.plumbline.comparison;

import org.jspecify.annotations.NullMarked;
