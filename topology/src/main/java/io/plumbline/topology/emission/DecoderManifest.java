package io.plumbline.topology.emission;

import io.plumbline.topology.assessment.Json;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * What a reader must know of a published decoder before it trusts it. On the topic: JSON with snake-case keys.
 *
 * @param schema version of this record, 1
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
        String kind,
        String parentSha256,
        String sha256,
        long bytes,
        int chunks,
        Map<String, String> lineage) {

    static final int SCHEMA = 1;

    /** JSON numbers are exact up to here in every language. */
    static final long LARGEST_VERSION = (1L << 53) - 1;

    /** Artefacts above this are refused before anything is allocated for them. */
    static final long LARGEST_ARTEFACT = Integer.MAX_VALUE - 64L;

    public DecoderManifest {
        Objects.requireNonNull(site, "site");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(parentSha256, "parent_sha256");
        Objects.requireNonNull(sha256, "sha256");
        lineage = new TreeMap<>(Objects.requireNonNull(lineage, "lineage"));
        if (schema != SCHEMA) {
            throw new IllegalArgumentException("manifest of schema %d, expected %d".formatted(schema, SCHEMA));
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

    byte[] encode() {
        return Json.bytes(this);
    }

    /** Throws {@link IllegalArgumentException} when the bytes are not a manifest of this schema. */
    static DecoderManifest decode(byte[] bytes) {
        return Json.read(bytes, DecoderManifest.class);
    }
}
