/**
 * First stage: raw Kafka bytes become checked activation batches, or dead letters.
 *
 * <p>Enters: records of the activations topic as bytes. Leaves: {@link io.plumbline.topology.ingest.Ingested} to the
 * pane accumulators, {@link io.plumbline.topology.ingest.DeadLetter} to the dead-letter topic.
 *
 * <p>A record brings rows or the second moment of rows; its tensors say which. One without a value is word of tokens
 * whose rows come later. What a producer claims of a moment is compared with its site and with itself, as far as that
 * can be done without the rows.
 *
 * <p>The topology reads plain bytes and parses inside the processor, not in a deserializer: a bad record then has its
 * topic, partition and offset at hand, is forwarded in the same transaction that skips it, and no state has been
 * touched when it is refused (Kafka Streams does not roll back on resume).
 */
@NullMarked
package io.plumbline.topology.ingest;

import org.jspecify.annotations.NullMarked;
