/**
 * The life of a site's baseline: proposed, compared with the one in service, taken into service, replaced.
 *
 * <pre>
 * baseline --propose ─► [baselines] ◄─ every monitor, once it takes a baseline over
 *                            └► page, metrics, plumbline baselines
 * </pre>
 *
 * <p>The topic holds descriptions: hash, origin, approval, the edge from which one is in service, and the comparison
 * with the one before. It does not hold the files. A baseline keeps thousands of rows of real requests, up to some 100
 * MB: more than a record takes, and nothing that everyone should read who may see the history. Whoever takes one over
 * has the file already, and the hash says whether it is the same.
 */
@NullMarked
package io.plumbline.topology.baselines;

import org.jspecify.annotations.NullMarked;
