package io.plumbline.topology.emission;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Arrays;
import java.util.HexFormat;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * The signature of a record of the decoders topic, a manifest or a state, by whoever published it. It stands in the
 * header {@value #HEADER}:
 *
 * <pre>
 * offset  size  field
 *      0     8  id of the key, the first bytes of the SHA-256 of the public key in DER
 *      8    64  Ed25519 signature of: "plumbline-decoders-1\n", the id, the length of the record's key (32 bit, big
 *               endian), the record's key, its value
 * </pre>
 *
 * <p>What is signed are the bytes as they stand, and no fields of them: two readers who understand JSON differently
 * cannot be told different things. The record's key is the site, or says that it is a candidate; the manifest names the
 * SHA-256 of the artefact, and so signs the chunks. Ed25519 draws nothing at random: a transaction that is repeated
 * writes the same bytes.
 */
public final class RecordSignature {

    static final String HEADER = "plumbline.signature";

    private static final String ALGORITHM = "Ed25519";
    private static final byte[] DECODERS = "plumbline-decoders-1\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] COMMANDS = "plumbline-commands-1\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] BASELINES = "plumbline-baselines-1\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] EVIDENCE = "plumbline-evidence-1\n".getBytes(StandardCharsets.US_ASCII);
    private static final int BYTES = TrustedKeys.ID_BYTES + 64;

    private final byte[] purpose;
    private final byte[] key;
    private final byte[] value;
    private final byte @Nullable [] signed;

    /** @param signed what the header holds; null: there is none */
    RecordSignature(byte[] key, byte[] value, byte @Nullable [] signed) {
        this(DECODERS, key, value, signed);
    }

    private RecordSignature(byte[] purpose, byte[] key, byte[] value, byte @Nullable [] signed) {
        this.purpose = purpose;
        this.key = key;
        this.value = value;
        this.signed = signed;
    }

    /**
     * Returns the signature of a person's command about a site, which begins with another line: no signature of the one
     * kind is one of the other.
     *
     * @param command as it was signed
     */
    public static RecordSignature ofCommand(String site, byte[] command, byte @Nullable [] signed) {
        return new RecordSignature(COMMANDS, site.getBytes(StandardCharsets.UTF_8), command, signed);
    }

    /**
     * Returns the signature of a file of evidence, which begins with a line of its own too.
     *
     * @param summary what its last line says before the signature, the hash of all other lines among it
     */
    public static RecordSignature ofEvidence(byte[] summary, byte @Nullable [] signed) {
        return new RecordSignature(EVIDENCE, new byte[0], summary, signed);
    }

    /**
     * Returns the signature of a baseline, which begins with a line of its own too.
     *
     * @param checksum of the baseline's content, in hexadecimal
     */
    static RecordSignature ofBaseline(String checksum, byte[] signed) {
        return new RecordSignature(BASELINES, new byte[0], checksum.getBytes(StandardCharsets.US_ASCII), signed);
    }

    /** Returns the signature that a record of the decoders topic carries, or the lack of one. */
    public static RecordSignature of(ConsumerRecord<byte[], byte[]> record) {
        Header header = record.headers().lastHeader(HEADER);
        return new RecordSignature(record.key(), record.value(), header == null ? null : header.value());
    }

    static byte[] baseline(byte[] id, String checksum) {
        return message(BASELINES, id, new byte[0], checksum.getBytes(StandardCharsets.US_ASCII));
    }

    static byte[] evidence(byte[] id, byte[] summary) {
        return message(EVIDENCE, id, new byte[0], summary);
    }

    static byte[] message(byte[] id, byte[] key, byte[] value) {
        return message(DECODERS, id, key, value);
    }

    static byte[] ofCommand(byte[] id, String site, byte[] command) {
        return message(COMMANDS, id, site.getBytes(StandardCharsets.UTF_8), command);
    }

    private static byte[] message(byte[] purpose, byte[] id, byte[] key, byte[] value) {
        return ByteBuffer.allocate(purpose.length + id.length + Integer.BYTES + key.length + value.length)
                .put(purpose)
                .put(id)
                .putInt(key.length)
                .put(key)
                .put(value)
                .array();
    }

    static Signature newEd25519() {
        try {
            return Signature.getInstance(ALGORITHM);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform from 15 on has Ed25519", e);
        }
    }

    /** Returns the id of the key that the header names, whoever wrote it; null: the record is not signed. */
    public @Nullable String keyId() {
        return signed == null || signed.length != BYTES
                ? null
                : HexFormat.of().formatHex(signed, 0, TrustedKeys.ID_BYTES);
    }

    /** Returns why none of these keys signed the record as it stands, or null when one did. */
    public @Nullable String refusal(TrustedKeys trusted) {
        if (signed == null) {
            return "it is not signed, expected the key " + trusted;
        }
        String id = keyId();
        if (id == null) {
            return "its signature has %d bytes, expected %d".formatted(signed.length, BYTES);
        }
        PublicKey by = trusted.withId(id);
        if (by == null) {
            return "it is signed by the key %s, expected %s".formatted(id, trusted);
        }
        try {
            Signature ed25519 = newEd25519();
            ed25519.initVerify(by);
            ed25519.update(message(purpose, Arrays.copyOf(signed, TrustedKeys.ID_BYTES), key, value));
            if (ed25519.verify(signed, TrustedKeys.ID_BYTES, BYTES - TrustedKeys.ID_BYTES)) {
                return null;
            }
        } catch (GeneralSecurityException notOnTheCurve) {
            // Bytes that are no signature of any message: as one of another message.
        }
        return "it is not what the key %s signed".formatted(id);
    }
}
