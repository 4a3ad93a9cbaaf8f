package io.plumbline.topology.operate;

import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.emission.RecordSignature;
import io.plumbline.topology.emission.TrustedKeys;
import io.plumbline.topology.operate.DecoderReading.Found;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the decoders topic says of every site: what serves, what waits for approval, who signed it, and the swap
 * state.
 *
 * @param keys public ones: one of them is to have signed each decoder; null: signatures are not checked
 * @param signatures of the manifests, by the site that they name
 */
record DecoderListing(
        String topic,
        @Nullable TrustedKeys keys,
        Map<String, DecoderManifest> serving,
        Map<String, DecoderManifest> candidates,
        Map<String, SwapState> states,
        Map<String, RecordSignature> signatures) {

    /** Reads the topic once, and says of refused versions why. */
    static DecoderListing read(DecoderSource source, PrintWriter err) throws IOException {
        TrustedKeys keys = source.trusted();
        try (DecoderReading reading = source.read(DecoderSubscription.everything())) {
            DecoderListing listing = new DecoderListing(
                    reading.topic(), keys, new TreeMap<>(), new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
            for (Found found = reading.next(); !(found instanceof Found.CaughtUp); found = reading.next()) {
                if (found instanceof Found.Published published) {
                    listing.put(published.decoder());
                } else if (found instanceof Found.Told told) {
                    listing.states.put(told.site(), told.state());
                } else {
                    DecoderReading.printRefused(err, DecoderReading.orFail(found));
                }
            }
            return listing;
        }
    }

    private void put(PublishedDecoder published) {
        DecoderManifest manifest = published.manifest();
        signatures.put(manifest.site(), published.signature());
        (manifest.waits() ? candidates : serving).put(manifest.explainedSite(), manifest);
    }

    /** Returns why none of the keys signed this manifest of the listing; null: one did, or none is asked for. */
    @Nullable
    String refusal(DecoderManifest manifest) {
        return keys == null ? null : signatureOf(manifest).refusal(keys);
    }

    /** Says whose signature this manifest of the listing carries. */
    String signature(DecoderManifest manifest) {
        String id = signatureOf(manifest).keyId();
        if (refusal(manifest) != null) {
            return "not signed by a key given: " + refusal(manifest);
        }
        return id == null ? "unsigned" : "signed by " + id + (keys == null ? ", not checked" : "");
    }

    private RecordSignature signatureOf(DecoderManifest manifest) {
        return Objects.requireNonNull(signatures.get(manifest.site()), "every manifest came with one");
    }

    /** Returns the exit code: with keys, that every decoder of these was signed by one of them. */
    int exitCode(Collection<DecoderManifest> shown) {
        return shown.stream().allMatch(manifest -> refusal(manifest) == null) ? ExitCodes.FINE : ExitCodes.FAILURE;
    }

    Set<String> sites() {
        Set<String> sites = new TreeSet<>(serving.keySet());
        sites.addAll(states.keySet());
        return sites;
    }

    SwapState state(String site) {
        return states.getOrDefault(site, SwapState.INITIAL);
    }

    /** Returns the candidate that waits for approval, or waited until it expired; null where none does. */
    @Nullable
    DecoderManifest waiting(String site) {
        SwapState.Waiting waiting = state(site).waiting();
        DecoderManifest candidate = candidates.get(site);
        return waiting != null && candidate != null && candidate.version() == waiting.number() ? candidate : null;
    }
}
