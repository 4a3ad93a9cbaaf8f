/**
 * The running program: configuration in, two Kafka Streams applications, metrics and health checks out. What {@code
 * plumbline run} and the demonstration start is the same.
 */
@NullMarked
package io.plumbline.topology.runtime;

import org.jspecify.annotations.NullMarked;
