package io.plumbline.topology.emission;

import io.plumbline.wire.PemKey;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The public keys whose signatures a reader of decoders takes: several while one takes the place of another. A key's id
 * is the first 16 hexadecimal digits of the SHA-256 of its DER form. Immutable.
 */
public final class TrustedKeys {

    static final int ID_BYTES = 8;

    private final Map<String, PublicKey> byId = new TreeMap<>();

    private TrustedKeys(List<PublicKey> keys) {
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("no key is given: expected at least one, or no signatures asked for");
        }
        keys.forEach(key -> byId.put(HexFormat.of().formatHex(idOf(key)), key));
    }

    /**
     * Reads Ed25519 keys, a PEM file each, as {@code openssl pkey -in KEY -pubout} writes them.
     *
     * @throws IllegalArgumentException when there is none, or a file is none
     */
    public static TrustedKeys read(List<Path> files) {
        return new TrustedKeys(files.stream().map(PemKey::ofEveryone).toList());
    }

    static TrustedKeys of(PublicKey... keys) {
        return new TrustedKeys(Arrays.asList(keys));
    }

    static byte[] idOf(PublicKey key) {
        return Arrays.copyOf(DecoderArtefact.newSha256().digest(key.getEncoded()), ID_BYTES);
    }

    @Nullable
    PublicKey withId(String id) {
        return byId.get(id);
    }

    /** Returns whether signatures of a key with this id are taken. */
    public boolean has(String id) {
        return byId.containsKey(id);
    }

    /** Lists the keys by their ids. */
    @Override
    public String toString() {
        return String.join(" or ", byId.keySet());
    }
}
