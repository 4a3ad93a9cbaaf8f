/**
 * Watches whether the applications get anywhere: records that wait at an unmoved offset, work that begins again and
 * again, Kafka Streams' own state.
 */
@NullMarked
package io.plumbline.topology.progress;

import org.jspecify.annotations.NullMarked;
