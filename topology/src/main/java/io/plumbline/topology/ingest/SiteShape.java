package io.plumbline.topology.ingest;

import io.plumbline.moments.RowMask;

/**
 * What a site's records must look like.
 *
 * @param inputWidth columns of {@code activations}
 * @param targetWidth columns of {@code targets}; equal to {@code inputWidth} for a sparse autoencoder
 * @param transcoder whether {@code targets} must be present
 * @param mask takes out the rows that enter no sum
 */
public record SiteShape(String site, int inputWidth, int targetWidth, boolean transcoder, RowMask mask) {}
