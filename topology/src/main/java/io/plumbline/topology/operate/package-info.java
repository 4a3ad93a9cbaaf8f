/**
 * The program {@link Plumbline}, and the commands that need a cluster: run, check, topics, offsets, replay, decoders,
 * export and report.
 *
 * <p><b>Enters:</b> arguments, a configuration, topics. <b>Leaves:</b> what {@link io.plumbline.topology.cli} says of
 * every command. Commands that read files alone stand there and need no Kafka.
 */
@NullMarked
package io.plumbline.topology.operate;

import org.jspecify.annotations.NullMarked;
