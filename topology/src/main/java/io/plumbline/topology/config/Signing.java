package io.plumbline.topology.config;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.Provenance;
import io.plumbline.topology.emission.ApprovedBaseline;
import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.topology.emission.TrustedKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Says whose signatures decoders carry. The files are read when they are needed: a monitor need not hold the private
 * key.
 *
 * @param key file of the private key that the adapter signs by; null: it signs nothing
 * @param trusted files of the public keys whose decoders this process takes from the topic; empty: all decoders
 * @param approvers files of the public keys of who may decide about decoders, by their names; empty: everybody may
 * @param baselines whether a baseline that none of them signed is refused
 */
public record Signing(@Nullable Path key, List<Path> trusted, Map<String, Path> approvers, boolean baselines) {

    public Signing {
        trusted = List.copyOf(trusted);
        approvers = Map.copyOf(approvers);
    }

    /**
     * Returns the keys of who may decide about decoders, by their names; empty: everybody may.
     *
     * @throws IllegalArgumentException when a file is no key
     */
    public Map<String, TrustedKeys> approverKeys() {
        Map<String, TrustedKeys> keys = new TreeMap<>();
        approvers.forEach((name, file) ->
                keys.put(name, named("signing.approvers." + name, () -> TrustedKeys.read(List.of(file)))));
        return keys;
    }

    /**
     * Returns why nobody who may has approved a baseline; null: somebody has, or nobody need.
     *
     * @param read what was read of the file
     * @throws IllegalArgumentException when a file is no key
     */
    public @Nullable String refusal(Path baseline, Baseline read) throws IOException {
        Provenance provenance = read.provenance();
        return baselines
                ? ApprovedBaseline.refusal(baseline, provenance == null ? null : provenance.content(), approverKeys())
                : null;
    }

    /**
     * Returns what the adapter signs by; null: nothing.
     *
     * @throws IllegalArgumentException when the file is no key, is open to everyone, or is one whose decoders this
     *     process would not take
     */
    public @Nullable DecoderSigner signer() {
        if (key == null) {
            return null;
        }
        DecoderSigner signer = named("signing.key", () -> DecoderSigner.read(key));
        TrustedKeys keys = keys();
        if (keys != null && !keys.has(signer.keyId())) {
            throw new IllegalArgumentException(
                    "signing.key = %s: its public key %s is not among signing.trusted, which has %s"
                            .formatted(key, signer.keyId(), keys));
        }
        return signer;
    }

    /**
     * Returns the keys whose decoders are taken; null: signatures are not checked.
     *
     * @throws IllegalArgumentException when a file is no key
     */
    public @Nullable TrustedKeys keys() {
        return trusted.isEmpty() ? null : named("signing.trusted", () -> TrustedKeys.read(trusted));
    }

    /** Reads keys. */
    private interface Reading<K> {
        K read();
    }

    private static <K> K named(String setting, Reading<K> reading) {
        try {
            return reading.read();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("%s = %s".formatted(setting, e.getMessage()), e);
        }
    }
}
