package io.plumbline.topology.emission;

import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.report.Json;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Tells what a reader must know of a published decoder before it trusts it. On the topic: JSON with snake-case keys.
 *
 * @param schema version of this record, {@value #SCHEMA}
 * @param version grows by one with every publication for the site; 1 to 2^53 - 1
 * @param kind {@code adapted}, {@code trained} for a revert, or {@code candidate}
 * @param parentSha256 {@link io.plumbline.explainer.Decoder#sha256()} of the trained decoder it was made from
 * @param sha256 SHA-256 of the artefact, hexadecimal
 * @param bytes length of the artefact
 * @param chunks number of chunk records
 * @param lineage window, rows, hyper-parameters, and gap and FVU before and after on held-out rows, as in the artefact
 */
public record DecoderManifest(
        int schema,
        String site,
        long version,
        DecoderKind kind,
        String parentSha256,
        String sha256,
        long bytes,
        int chunks,
        Map<String, String> lineage) {

    /** The version of this record. */
    static final int SCHEMA = 1;

    /** The largest version: JSON numbers are exact up to here in every language. */
    static final long LARGEST_VERSION = (1L << 53) - 1;

    /** The size of the largest artefact: larger ones are refused before anything is allocated for them. */
    static final long LARGEST_ARTEFACT = Integer.MAX_VALUE - 64L;

    public DecoderManifest {
        Objects.requireNonNull(site, "site");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(parentSha256, "parent_sha256");
        Objects.requireNonNull(sha256, "sha256");
        lineage = new TreeMap<>(Objects.requireNonNull(lineage, "lineage"));
        if (site.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("manifest with control characters in its site");
        }
        if (schema != SCHEMA) {
            throw new IllegalArgumentException(
                    "manifest of schema %d, expected %d; a newer Plumbline reads it".formatted(schema, SCHEMA));
        }
        if (version < 1 || version > LARGEST_VERSION) {
            throw new IllegalArgumentException(
                    "manifest of version %d: expected 1 to %d".formatted(version, LARGEST_VERSION));
        }
        if (bytes < 1 || bytes > LARGEST_ARTEFACT) {
            throw new IllegalArgumentException(
                    "manifest of %d bytes: expected 1 to %d".formatted(bytes, LARGEST_ARTEFACT));
        }
        if (chunks != DecoderChunk.chunksOf(bytes)) {
            throw new IllegalArgumentException("manifest of %d bytes in %d chunks: expected %d"
                    .formatted(bytes, chunks, DecoderChunk.chunksOf(bytes)));
        }
    }

    /** Returns the site that the decoder is for, of a candidate too. */
    public String explainedSite() {
        String explained = DecoderKey.siteOfCandidates(site);
        return explained == null ? site : explained;
    }

    /** Returns whether it only waits for approval. */
    public boolean waits() {
        return DecoderKey.siteOfCandidates(site) != null;
    }

    byte[] encode() {
        return Json.bytes(this);
    }

    /** Throws {@link IllegalArgumentException} when the bytes are not a manifest of this schema. */
    static DecoderManifest decode(byte[] bytes) {
        return Json.read(bytes, DecoderManifest.class);
    }
}
