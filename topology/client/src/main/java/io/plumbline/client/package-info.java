/**
 * Holds the one jar for programs that follow decoders: the subscriber, the explainers it needs to know a decoder's
 * parent by, and nothing of the service. Libraries stand in it under names of this package, so that a program's own
 * versions of them do not meet these. Kafka's clients stay outside, since a program has its own version.
 */
@NullMarked
package io.plumbline.client;

import org.jspecify.annotations.NullMarked;
