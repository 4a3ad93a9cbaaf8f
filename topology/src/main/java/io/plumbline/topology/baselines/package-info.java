/**
 * The life of a site's baseline: proposed, compared with the one in service, taken into service, replaced.
 *
 * <pre>
 * baseline --propose ─► [baselines] ◄─ every monitor, once it takes a baseline over
 *                            └► page, metrics, plumbline baselines
 * </pre>
 *
 * <p><b>Order</b> is that of the topic of configurations: by the time its first record came, then by version. A
 * publisher's clock may be wrong. The time of the first record, by the broker, tells a topic that was made anew from
 * the one before, whose versions it begins again. We did not take the topic's id: it says which, not which
 * came later.
 *
 * <p><b>Trust.</b> A record says what its writer reported, the approver too. What no monitor writes is left out: the
 * page shows times and hashes as they are. A record without a value takes the one of its key out of the history.
 *
 * <p>The topic holds descriptions: hash, origin, approval, the edge from which one is in service, and the comparison
 * with the one before. It does not hold the files. A baseline keeps thousands of rows of real requests, up to some 100
 * MB: more than a record takes, and nothing that everyone should read who may see the history. Whoever takes one over
 * has the file already, and the hash says whether it is the same.
 */
@NullMarked
package io.plumbline.topology.baselines;

import org.jspecify.annotations.NullMarked;
