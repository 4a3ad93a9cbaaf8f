/**
 * Gives every stage and every command what it needs of Kafka's clients.
 *
 * <p>{@link io.plumbline.topology.kafka.Task} does the work of a stage and has its context and stores in final fields;
 * {@link io.plumbline.topology.kafka.TaskProcessor} makes one when a task begins and drops it when the task ends. Kafka
 * Streams makes a processor first and tells it its context later, and calls {@code init} again when a task comes back:
 * a processor with state of its own would need fields that are null at first and must be cleared by hand.
 *
 * <p>{@link io.plumbline.topology.kafka.TopicReader} reads committed records outside of Kafka Streams: to the end that
 * a topic had, or on and on; {@link io.plumbline.topology.kafka.TopicFollower} does the latter on a thread of its own.
 *
 * <p>{@link io.plumbline.topology.kafka.OncePerMinute} keeps lines that repeat with every record, of Kafka's clients or
 * of a stage, from filling the log.
 */
@NullMarked
package io.plumbline.topology.kafka;

import org.jspecify.annotations.NullMarked;
