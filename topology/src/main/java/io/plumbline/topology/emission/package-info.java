/**
 * Last stage: a decoder becomes records of the {@code decoders} topic, and records become a decoder again.
 *
 * <p>Enters: {@link io.plumbline.topology.adaptation.AdapterAnswer}. Leaves: chunks and one manifest per version, in
 * one transaction. On the other side {@link io.plumbline.topology.emission.DecoderSubscriber} hands complete, verified
 * decoders to a callback.
 *
 * <p><b>Layout.</b> Chunks carry the key {@code site#index}, the manifest, written last, the key {@code site}. Keys
 * carry no version, so that compaction removes old versions by itself; a smaller decoder writes tombstones over surplus
 * chunks. While compaction runs, chunks of two versions can stand side by side: a reader trusts only a manifest whose
 * chunks all carry its version and whose SHA-256 fits. One record of the whole decoder was not chosen: it is 2.4 times
 * slower at 75 MB and needs three raised limits on broker and clients.
 *
 * <p>Candidates have such a run of records under a name of their own ({@link
 * io.plumbline.topology.emission.DecoderKey}), so that nobody who follows the site takes one for its decoder; a flag in
 * the manifest would have trusted every reader to look.
 *
 * <p>The artefact is a safetensors blob of {@code W_dec} [features, dimension] and {@code b_dec} with the lineage in
 * {@code __metadata__}. The encoder does not travel: it never changes, and the reader holds it.
 *
 * <p>Nobody needs to read back what this process published: a reader of the same process hashes the artefact, and takes
 * the decoder that the adapter holds ({@code HeldDecoders}) in place of holding it once more.
 *
 * <p><b>Size.</b> Neither side holds an artefact. It is written through a channel twice, to be hashed and to be cut; a
 * reader's chunks wait in a private file until their manifest. {@code docs/concepts/decoders.md} has the measured
 * heaps, what a reader may rely on, and one in another language.
 */
@NullMarked
package io.plumbline.topology.emission;

import org.jspecify.annotations.NullMarked;
