package io.plumbline.topology.emission;

import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.emission.DecoderSubscription.Parent;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Puts decoders together from the records of the topic, in the order of one partition. Pure but for the files in which
 * unfinished versions wait: no Kafka.
 *
 * <p>A version is handed out only when its manifest stands after all its chunks, every chunk carries its version and
 * the index of its key, length and SHA-256 fit, the parent and the signature are expected ones, the numbers are finite,
 * and the version is higher than the last. Anything else is a named refusal, and what was handed out before stays
 * valid.
 *
 * <p><b>Memory:</b> a decoder while it is handed out, nothing before. <b>Disk:</b> the chunks of at most one version
 * per site and {@value #MOST_UNFINISHED} sites, within the {@link DecoderSubscription}'s caps.
 */
final class DecoderAssembler implements AutoCloseable {

    /** The most open files: a writer publishes one site after the other, so that more are junk. */
    static final int MOST_UNFINISHED = 64;

    /** The result of one record. */
    sealed interface Step {
        /** Says that a chunk or a tombstone was taken in. */
        record Taken() implements Step {}

        /** Says that a version is complete. */
        record Complete(PublishedDecoder decoder) implements Step {}

        /** Says where the adapter stands with a site. */
        record Told(String site, SwapState state) implements Step {}

        /** Says that a record or a version cannot be trusted. */
        record Refused(String site, long version, String reason) implements Step {}
    }

    private static final Step TAKEN = new Step.Taken();

    private final DecoderSubscription subscription;
    private final ArtefactReader reader;

    /** The versions under way, in the order in which they were begun. */
    private final Map<String, PendingVersion> pending = new LinkedHashMap<>();

    private final Map<String, DecoderManifest> served = new HashMap<>();
    private final Set<String> torn = new HashSet<>();

    /** @param held decoders that need not be read again */
    DecoderAssembler(DecoderSubscription subscription, HeldDecoders held) {
        this.subscription = subscription;
        this.reader = new ArtefactReader(held);
    }

    /** @param signed what the header {@value RecordSignature#HEADER} holds; null: there is none */
    Step accept(byte @Nullable [] keyBytes, byte @Nullable [] value, byte @Nullable [] signed) {
        if (keyBytes == null) {
            return new Step.Refused("", 0, "a record without a key");
        }
        DecoderKey key = DecoderKey.parse(keyBytes);
        String told = key.siteOfSwaps();
        if (value == null || !subscription.follows(told == null ? key.site() : told)) {
            return TAKEN;
        }
        RecordSignature signature = new RecordSignature(keyBytes, value, signed);
        try {
            if (told != null) {
                String reason = unsigned(signature);
                return reason == null
                        ? new Step.Told(told, SwapState.decode(value))
                        : new Step.Refused(told, 0, "the state beside its decoders is not believed: " + reason);
            }
            return key.isManifest()
                    ? manifest(key.site(), DecoderManifest.decode(value), signature)
                    : chunk(key, DecoderChunk.decode(value));
        } catch (IllegalArgumentException e) {
            return new Step.Refused(key.site(), 0, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Returns whether a site's newest manifest was refused for want of chunks. Compaction does that to a reader when a
     * newer version has taken their place, which then stands further on.
     */
    boolean awaitsNewer() {
        return !torn.isEmpty();
    }

    private Step chunk(DecoderKey key, DecoderChunk chunk) {
        String site = key.site();
        long version = chunk.decoderVersion();
        if (chunk.index() != key.chunk()) {
            return new Step.Refused(
                    site,
                    version,
                    "the record with the key of chunk %d holds chunk %d".formatted(key.chunk(), chunk.index()));
        }
        if (version <= servedVersion(site)) {
            return TAKEN;
        }
        PendingVersion open = pending.get(site);
        if (open == null || open.version() != version) {
            forget(site);
            open = new PendingVersion(version, subscription.largestArtefact(site), subscription.spoolFolder());
            pending.put(site, open);
        }
        open.take(chunk);
        makeRoom(open);
        return TAKEN;
    }

    /** Gives up what was begun first, until the rest is within the caps. */
    private void makeRoom(PendingVersion newest) {
        Iterator<PendingVersion> eldest = pending.values().iterator();
        while (exceedsCaps() && eldest.hasNext()) {
            PendingVersion one = eldest.next();
            if (one != newest) {
                one.close();
                eldest.remove();
            }
        }
        if (exceedsCaps()) {
            newest.giveUp("its chunks are more than the %d bytes that may wait for a manifest"
                    .formatted(subscription.mostSpooled()));
        }
    }

    private boolean exceedsCaps() {
        return pending.size() > MOST_UNFINISHED || spooled() > subscription.mostSpooled();
    }

    private long spooled() {
        return pending.values().stream().mapToLong(PendingVersion::spooled).sum();
    }

    /** Returns why no key that is asked for signed a record, or null. */
    private @Nullable String unsigned(RecordSignature signature) {
        TrustedKeys trusted = subscription.trusted();
        return trusted == null ? null : signature.refusal(trusted);
    }

    private Step manifest(String site, DecoderManifest manifest, RecordSignature signature) {
        long version = manifest.version();
        if (!manifest.site().equals(site)) {
            return new Step.Refused(site, version, "its manifest names site \"%s\"".formatted(manifest.site()));
        }
        if (version <= servedVersion(site)) {
            // The one in service once more: a reader that had to begin again.
            return manifest.equals(served.get(site))
                    ? TAKEN
                    : new Step.Refused(site, version, "version %d was already served".formatted(servedVersion(site)));
        }
        PendingVersion open = pending.get(site);
        if (open != null && open.version() == version) {
            pending.remove(site);
        } else {
            open = null;
        }
        try (PendingVersion closing = open) {
            String reason = unsigned(signature);
            if (reason == null) {
                reason = refusal(site, manifest, closing);
            }
            if (reason != null || closing == null) {
                return new Step.Refused(site, version, String.valueOf(reason));
            }
            Step complete = new Step.Complete(closing.decode(reader, manifest, signature, parent(site, manifest)));
            served.put(site, manifest);
            torn.remove(site);
            return complete;
        } catch (IllegalArgumentException e) {
            return new Step.Refused(site, version, String.valueOf(e.getMessage()));
        } catch (IOException e) {
            return new Step.Refused(
                    site,
                    version,
                    "its chunks in %s cannot be read: %s; start the subscriber again to read it"
                            .formatted(subscription.spoolFolder(), e));
        }
    }

    private @Nullable String refusal(String site, DecoderManifest manifest, @Nullable PendingVersion open)
            throws IOException {
        List<Parent> held = subscription.parents(site);
        if (held != null && parent(site, manifest) == null) {
            return "it was made from the trained decoder %s, the explainer held here has %s"
                    .formatted(
                            manifest.parentSha256(),
                            held.stream().map(Parent::sha256).collect(Collectors.joining(" or ")));
        }
        if (manifest.bytes() > subscription.largestArtefact(site)) {
            return "it has %d bytes, at most %d are taken for this site"
                    .formatted(manifest.bytes(), subscription.largestArtefact(site));
        }
        String incomplete = open == null ? PendingVersion.missing(0, manifest) : open.incomplete(manifest);
        if (incomplete != null || open == null) {
            torn.add(site);
            return incomplete;
        }
        String sha256 = open.sha256();
        return sha256.equals(manifest.sha256())
                ? null
                : "its bytes have sha256 %s, its manifest says %s".formatted(sha256, manifest.sha256());
    }

    /** Returns the trained decoder that a version was made from; null where it is not held, or none is checked. */
    private @Nullable Parent parent(String site, DecoderManifest manifest) {
        List<Parent> held = subscription.parents(site);
        return held == null
                ? null
                : held.stream()
                        .filter(parent -> parent.sha256().equals(manifest.parentSha256()))
                        .findFirst()
                        .orElse(null);
    }

    private long servedVersion(String site) {
        DecoderManifest manifest = served.get(site);
        return manifest == null ? 0 : manifest.version();
    }

    private void forget(String site) {
        PendingVersion open = pending.remove(site);
        if (open != null) {
            open.close();
        }
    }

    /** Deletes the files of unfinished versions. */
    @Override
    public void close() {
        pending.values().forEach(PendingVersion::close);
        pending.clear();
    }
}
