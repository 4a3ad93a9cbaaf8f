/**
 * The commands that people type: one picocli command a class, {@link io.plumbline.topology.operate.Plumbline} above
 * them all.
 *
 * <p><b>Enters:</b> arguments, files, a configuration. <b>Leaves:</b> a table or one JSON object on standard output,
 * sentences on standard error, and an exit code: 0 fine, 1 drift found or a policy failed where that was asked for, 2
 * something the caller can put right in what was typed (option, configuration, missing file), 3 everything else.
 *
 * <p><b>The decision.</b> Standard output carries the result and nothing else, so that it can be piped; progress,
 * warnings and log lines go to standard error. The file commands compute in float64 throughout: they are what a
 * notebook checks us against, so they take the slow exact way where the stream takes the fast one.
 */
@NullMarked
package io.plumbline.topology.cli;

import org.jspecify.annotations.NullMarked;
