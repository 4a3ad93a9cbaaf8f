/**
 * Reads and writes what producers send: rows of activations, targets, codes, moments, and the dumps that hold the
 * same.
 *
 * <p><b>Enters:</b> untrusted bytes of records and files. <b>Leaves:</b> the rows of a record where they lie in its
 * bytes, batches of {@code double} rows, moments and encoded rows, all of checked sizes. Every layout is a
 * safetensors blob.
 */
@NullMarked
package io.plumbline.records;

import org.jspecify.annotations.NullMarked;
