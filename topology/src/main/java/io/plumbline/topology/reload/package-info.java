/**
 * Another configuration for a running process: read, checked, agreed on with the other instances, and taken over at the
 * edge of a window.
 *
 * <pre>
 * file changes ─► read, checked whole ─► [configuration] ─► every instance that has the same, from an edge on
 *                     └► refused: nothing changes, and the metric and the log say so
 * </pre>
 *
 * <p>The topic holds what is agreed on, not the configuration: a version is the hash of its sites and models and of the
 * files they name, and the event time from which it holds. An instance takes a version over when its own file comes to
 * the same hash.
 */
@NullMarked
package io.plumbline.topology.reload;

import org.jspecify.annotations.NullMarked;
