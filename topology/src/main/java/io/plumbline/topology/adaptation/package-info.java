/**
 * Fourth stage: the rows of drifted windows become a decoder, or the reason why not.
 *
 * <p><b>Enters:</b> the sampled rows of every drifted window, or a person's command. <b>Leaves:</b> a report, and a
 * decoder that passed the gate: to go into service, or to wait for approval.
 *
 * <p>{@link io.plumbline.topology.adaptation.SiteRefit} makes decoders, {@link
 * io.plumbline.topology.adaptation.SwapDesk} decides what becomes of them. The adapter alone gives versions: commands
 * come to it over the topic of its requests, so that they and its own swaps have one order and one transaction.
 * Commands straight to the decoders topic would have made two writers.
 *
 * <p><b>Commands overtake requests.</b> After each refit the task looks ahead in its partition for commands ({@link
 * io.plumbline.topology.adaptation.WaitingCommands}), carries them out, and skips their records when it comes to them.
 * A topic of their own would not have helped: Kafka Streams takes the records of a task's partitions in the order of
 * their times. A refit on a thread of its own would answer a command at once; the price would be requests that wait in
 * the state, and answers that come in another order than the requests.
 *
 * <p><b>Rows are pooled here and not in the monitor</b> ({@link io.plumbline.topology.adaptation.RowPools}). Only the
 * adapter knows what became of a refit, and so when the next is due and which rows the decoder in service was fitted
 * on. A window's sample travels once and is stored once, as the parts it came in; a monitor that pooled would store
 * each sample and send the whole pool with every request. A monitor that asks once in a cooldown lets drifted windows
 * of few rows go by unrepaired. The price: while a site is drifted every window sends its sample, also those that come
 * within a cooldown.
 *
 * <p><b>Several targets</b> ({@link io.plumbline.topology.adaptation.JointAnswer}). A site is a list of blocks, and a
 * site with one target is a list of one. Blocks of one explainer are pooled, refitted and judged each by itself, and
 * are one version: a decoder whose columns are all their targets ({@link io.plumbline.explainer.JointDecoder}). A
 * version for each block, and a reader that waits for all of them, would have made every reader look. Here no reader
 * can see two blocks of different versions, and candidates, pins, returns and the reading of the topic are those of any
 * other site. The price is the zeros: at most as many as weights.
 */
@NullMarked
package io.plumbline.topology.adaptation;

import org.jspecify.annotations.NullMarked;
