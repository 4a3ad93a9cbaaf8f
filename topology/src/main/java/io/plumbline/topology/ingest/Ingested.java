package io.plumbline.topology.ingest;

import io.plumbline.wire.ActivationBatch;

/**
 * A checked batch: known site, right widths, every value finite.
 *
 * @param request hash of the request the rows belong to; rows of one request are not independent
 * @param batch the rows; at least one
 */
public record Ingested(String site, long request, ActivationBatch batch, String topic, int partition, long offset) {}
