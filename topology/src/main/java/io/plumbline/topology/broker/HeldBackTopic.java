package io.plumbline.topology.broker;

/** A topic, and how far its partitions may be read ahead of each other. */
public record HeldBackTopic(String topic, ReadAhead ahead) {}
