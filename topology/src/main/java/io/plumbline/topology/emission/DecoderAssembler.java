package io.plumbline.topology.emission;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Puts decoders together from the records of the topic, in the order of one partition. Pure: no Kafka.
 *
 * <p>A version is handed out only when its manifest stands after all its chunks, every chunk carries its version, the
 * length and SHA-256 fit, the parent is the expected one and the version is higher than the last. Anything else is a
 * named refusal, and what was handed out before stays valid.
 *
 * <p><b>Memory:</b> the chunks of at most one version per site.
 */
final class DecoderAssembler {

    /** What one record came to. */
    sealed interface Step {
        /** A chunk or a tombstone was taken in. */
        record Taken() implements Step {}

        /** A version is complete. */
        record Complete(PublishedDecoder decoder) implements Step {}

        /** A record or a version cannot be trusted. */
        record Refused(String site, long version, String reason) implements Step {}
    }

    private static final Step TAKEN = new Step.Taken();

    /** Chunks of one version of one site. */
    private static final class Pending {
        private final long version;
        private final TreeMap<Integer, byte[]> chunks = new TreeMap<>();

        private Pending(long version) {
            this.version = version;
        }
    }

    private final @Nullable Map<String, String> parents;
    private final Map<String, Pending> pending = new HashMap<>();
    private final Map<String, Long> versions = new HashMap<>();

    /** @param parents SHA-256 of the trained decoder by site; sites not in it are ignored. Null: take any */
    DecoderAssembler(@Nullable Map<String, String> parents) {
        this.parents = parents == null ? null : Map.copyOf(parents);
    }

    Step accept(byte @Nullable [] keyBytes, byte @Nullable [] value) {
        if (keyBytes == null) {
            return new Step.Refused("", 0, "a record without a key");
        }
        String key = new String(keyBytes, StandardCharsets.UTF_8);
        int separator = key.lastIndexOf(DecoderChunk.SEPARATOR);
        String site = separator < 0 ? key : key.substring(0, separator);
        if (value == null || (parents != null && !parents.containsKey(site))) {
            return TAKEN;
        }
        try {
            return separator < 0
                    ? manifest(DecoderManifest.decode(value), site)
                    : chunk(site, DecoderChunk.decode(value));
        } catch (IllegalArgumentException e) {
            return new Step.Refused(site, 0, String.valueOf(e.getMessage()));
        }
    }

    private Step chunk(String site, DecoderChunk chunk) {
        if (chunk.decoderVersion() <= versions.getOrDefault(site, 0L)) {
            return TAKEN;
        }
        Pending open = pending.get(site);
        if (open == null || open.version != chunk.decoderVersion()) {
            open = new Pending(chunk.decoderVersion());
            pending.put(site, open);
        }
        open.chunks.put(chunk.index(), chunk.payload());
        return TAKEN;
    }

    private Step manifest(DecoderManifest manifest, String site) {
        long version = manifest.version();
        if (!manifest.site().equals(site)) {
            return new Step.Refused(site, version, "its manifest names site \"%s\"".formatted(manifest.site()));
        }
        long last = versions.getOrDefault(site, 0L);
        if (version <= last) {
            return new Step.Refused(site, version, "version %d was already served".formatted(last));
        }
        if (parents != null && !manifest.parentSha256().equals(parents.get(site))) {
            return new Step.Refused(
                    site,
                    version,
                    "it was made from the trained decoder %s, the explainer held here has %s"
                            .formatted(manifest.parentSha256(), parents.get(site)));
        }
        Pending open = pending.get(site);
        if (open == null || open.version != version || open.chunks.size() != manifest.chunks()) {
            int found = open == null || open.version != version ? 0 : open.chunks.size();
            return new Step.Refused(
                    site, version, "%d of its %d chunks are on the topic".formatted(found, manifest.chunks()));
        }
        pending.remove(site);
        byte[] artefact = join(open, manifest);
        String sha256 = DecoderArtefact.sha256(artefact);
        if (!sha256.equals(manifest.sha256())) {
            return new Step.Refused(
                    site,
                    version,
                    "its bytes have sha256 %s, its manifest says %s".formatted(sha256, manifest.sha256()));
        }
        PublishedDecoder decoder = DecoderArtefact.decode(manifest, artefact);
        versions.put(site, version);
        return new Step.Complete(decoder);
    }

    private static byte[] join(Pending open, DecoderManifest manifest) {
        long length =
                open.chunks.values().stream().mapToLong(chunk -> chunk.length).sum();
        if (length != manifest.bytes() || open.chunks.lastKey() != manifest.chunks() - 1) {
            throw new IllegalArgumentException(
                    "chunks of version %d hold %d bytes up to index %d, its manifest says %d bytes in %d chunks"
                            .formatted(
                                    open.version, length, open.chunks.lastKey(), manifest.bytes(), manifest.chunks()));
        }
        byte[] artefact = new byte[(int) length];
        int at = 0;
        for (byte[] chunk : open.chunks.values()) {
            System.arraycopy(chunk, 0, artefact, at, chunk.length);
            at += chunk.length;
        }
        return artefact;
    }
}
