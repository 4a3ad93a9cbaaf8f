package io.plumbline.topology.operate;

import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.operate.DecoderReading.Found;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Holds what the decoders topic says of every site: what serves, what waits for approval, and the swap state. */
record DecoderListing(
        String topic,
        Map<String, DecoderManifest> serving,
        Map<String, DecoderManifest> candidates,
        Map<String, SwapState> states) {

    /** Reads the topic once, and says of refused versions why. */
    static DecoderListing read(DecoderSource source, PrintWriter err) throws IOException {
        try (DecoderReading reading = source.read(DecoderSubscription.everything())) {
            DecoderListing listing =
                    new DecoderListing(reading.topic(), new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
            for (Found found = reading.next(); !(found instanceof Found.CaughtUp); found = reading.next()) {
                if (found instanceof Found.Published published) {
                    listing.put(published.decoder().manifest());
                } else if (found instanceof Found.Told told) {
                    listing.states.put(told.site(), told.state());
                } else {
                    DecoderReading.printRefused(err, DecoderReading.orFail(found));
                }
            }
            return listing;
        }
    }

    private void put(DecoderManifest manifest) {
        (manifest.waits() ? candidates : serving).put(manifest.explainedSite(), manifest);
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
