/**
 * Shows the whole job on one machine: an embedded broker, recorded activations, both applications and a subscriber.
 *
 * <p>The broker is Kafka's own server started in this process, with a data folder and ports of its own; nothing of it
 * is simulated. The broker tests use it too.
 */
@NullMarked
package io.plumbline.demo;

import org.jspecify.annotations.NullMarked;
