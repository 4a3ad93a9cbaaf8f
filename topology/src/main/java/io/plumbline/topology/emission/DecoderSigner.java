package io.plumbline.topology.emission;

import io.plumbline.wire.PemKey;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.util.HexFormat;

/** Signs what the adapter publishes, or what a person tells it to do, by a private key that nobody else holds. */
public final class DecoderSigner {

    private final PrivateKey key;
    private final byte[] id;

    private DecoderSigner(PrivateKey key) throws GeneralSecurityException {
        this.key = key;
        PublicKey derived = publicOf(key);
        id = TrustedKeys.idOf(derived);
        byte[] nothing = {};
        if (new RecordSignature(nothing, nothing, sign(nothing, nothing)).refusal(TrustedKeys.of(derived)) != null) {
            throw new IllegalStateException("this Java platform does not derive public keys of Ed25519 as expected");
        }
    }

    /**
     * Reads an Ed25519 key of a PEM file, as {@code openssl genpkey -algorithm ed25519} writes it.
     *
     * @throws IllegalArgumentException when it is none, or every user of the machine can read it
     */
    public static DecoderSigner read(Path file) {
        try {
            return new DecoderSigner(PemKey.ofOwner(file));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("%s: nothing can be signed by it: %s".formatted(file, e), e);
        }
    }

    /**
     * Returns the public key of a private one, which the file holds alone. The platform computes one only while it
     * makes a pair, so it is handed the bytes of the private key as the random ones that a pair begins with.
     */
    private static PublicKey publicOf(PrivateKey key) throws GeneralSecurityException {
        byte[] secret = ((EdECPrivateKey) key).getBytes().orElseThrow();
        KeyPairGenerator pair = KeyPairGenerator.getInstance("Ed25519");
        pair.initialize(NamedParameterSpec.ED25519, new SecureRandom() {
            private static final long serialVersionUID = 1L;

            @Override
            public void nextBytes(byte[] bytes) {
                System.arraycopy(secret, 0, bytes, 0, bytes.length);
            }
        });
        return pair.generateKeyPair().getPublic();
    }

    /** Returns the id of the key, which readers know it by. */
    public String keyId() {
        return HexFormat.of().formatHex(id);
    }

    /** Returns what the header {@value RecordSignature#HEADER} of a record holds. */
    byte[] sign(byte[] recordKey, byte[] value) {
        return signed(RecordSignature.message(id, recordKey, value));
    }

    /** Returns the signature of a command about a site. */
    public byte[] signCommand(String site, byte[] command) {
        return signed(RecordSignature.ofCommand(id, site, command));
    }

    /** Returns the signature of a file of evidence, see {@link RecordSignature#ofEvidence(byte[], byte[])}. */
    public byte[] signEvidence(byte[] summary) {
        return signed(RecordSignature.evidence(id, summary));
    }

    /** Returns the signature of a baseline of this checksum. */
    byte[] signBaseline(String checksum) {
        return signed(RecordSignature.baseline(id, checksum));
    }

    private byte[] signed(byte[] message) {
        try {
            Signature ed25519 = RecordSignature.newEd25519();
            ed25519.initSign(key);
            ed25519.update(message);
            byte[] signature = ed25519.sign();
            return ByteBuffer.allocate(id.length + signature.length)
                    .put(id)
                    .put(signature)
                    .array();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the key that was read does not sign", e);
        }
    }

    /** Leaves out the key. */
    @Override
    public String toString() {
        return "DecoderSigner[%s]".formatted(keyId());
    }
}
