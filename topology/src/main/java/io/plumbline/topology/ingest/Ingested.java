package io.plumbline.topology.ingest;

import io.plumbline.wire.ActivationBatch;

/**
 * A checked batch: known site, right widths, every value finite.
 *
 * @param request hash of the request the rows belong to; rows of one request are not independent
 * @param batch the rows; at least one
 * @param record identity of the record by what was sent, see {@link io.plumbline.moments.RowSample#recordHash}
 */
public record Ingested(String site, long request, ActivationBatch batch, long record) {}
