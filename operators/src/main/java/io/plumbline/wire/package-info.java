/**
 * Reads and writes files and blobs of tensors: safetensors, npz and torch.
 *
 * <p><b>Enters:</b> untrusted bytes of records and files. <b>Leaves:</b> typed tensors, and files that are either
 * whole or not there.
 *
 * <p>One container for everything (records, baselines, decoders, explainers), because the field already uses it, it
 * runs no code, and it takes a few lines in any language. The reader is our own: it must hold for records from a
 * topic, where every length is hostile until it has been compared with the bytes that are there. The alternative not
 * taken is Avro or Protobuf with a schema registry; model servers and notebooks would have to learn it.
 */
@NullMarked
package io.plumbline.wire;

import org.jspecify.annotations.NullMarked;
