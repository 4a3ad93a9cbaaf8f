/**
 * Fourth stage: how the sites of a model stand in a window becomes one verdict about the model.
 *
 * <p>Enters: {@link io.plumbline.topology.report.SiteStanding}, one for each report of a site that belongs to a model,
 * in the transaction of the report, over a topic keyed by model. Leaves: {@link
 * io.plumbline.topology.report.ModelReport}.
 *
 * <p>The promise lies in the thresholds of the sites, which are taken from clean windows that all of them have in
 * common, see {@link io.plumbline.baseline.Baseline#judgedWith}: a clean window is above at any site as seldom as
 * promised. So this stage needs no baseline; it counts windows. A window is reported when every site has one; sites
 * that have none are waited for, see {@link io.plumbline.topology.models.ModelMemory}.
 */
@NullMarked
package io.plumbline.topology.models;

import org.jspecify.annotations.NullMarked;
