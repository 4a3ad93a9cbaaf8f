package io.plumbline.topology.emission;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.streams.test.TestRecord;

/**
 * The files of a pair of keys, as OpenSSL writes them.
 *
 * @param key the private one, its owner's only
 */
public record SigningKeys(Path key, Path publicKey) {

    /** Makes a new pair of an algorithm. */
    public static SigningKeys create(Path folder, String name, String algorithm)
            throws IOException, GeneralSecurityException {
        KeyPair pair = KeyPairGenerator.getInstance(algorithm).generateKeyPair();
        return write(folder, name, pair.getPrivate().getEncoded(), pair.getPublic());
    }

    /** Makes a new pair. */
    public static SigningKeys create(Path folder, String name) throws IOException, GeneralSecurityException {
        return create(folder, name, "Ed25519");
    }

    static SigningKeys write(Path folder, String name, byte[] pkcs8, Key publicKey) throws IOException {
        Path key = Files.writeString(folder.resolve(name + ".pem"), pem("PRIVATE KEY", pkcs8));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        return new SigningKeys(
                key, Files.writeString(folder.resolve(name + ".pub"), pem("PUBLIC KEY", publicKey.getEncoded())));
    }

    private static String pem(String what, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(bytes);
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(what, text, what);
    }

    /** Returns whether the private key of this pair signed a record. */
    public boolean signed(TestRecord<byte[], byte[]> record) {
        Header signature = record.headers().lastHeader(RecordSignature.HEADER);
        return signature != null
                && new RecordSignature(record.key(), record.value(), signature.value()).refusal(trusted()) == null;
    }

    TrustedKeys trusted() {
        return TrustedKeys.read(List.of(publicKey));
    }

    /** Returns the records of a version with the signature of its manifest, which stands last. */
    public List<ProducerRecord<byte[], byte[]>> sign(List<ProducerRecord<byte[], byte[]>> records) {
        List<ProducerRecord<byte[], byte[]>> signed = new ArrayList<>(records);
        ProducerRecord<byte[], byte[]> manifest = signed.get(signed.size() - 1);
        manifest.headers().add(RecordSignature.HEADER, DecoderSigner.read(key).sign(manifest.key(), manifest.value()));
        return signed;
    }
}
