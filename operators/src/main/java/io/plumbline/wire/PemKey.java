package io.plumbline.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads an Ed25519 key of a PEM file, as OpenSSL writes it, with nothing but the JDK. */
public final class PemKey {

    /** The size of the largest file: a key takes some 120 bytes, beside which a person may write notes. */
    private static final long LARGEST_FILE = 1 << 16;

    private PemKey() {}

    /** Reads one kind of key of its bytes. */
    private interface Reading<K extends Key> {
        K of(KeyFactory factory, byte[] bytes) throws InvalidKeySpecException;
    }

    /**
     * Returns the key of a file that not every user of the machine can read.
     *
     * @throws IllegalArgumentException with the file, what it is and what was expected
     */
    public static PrivateKey ofOwner(Path file) {
        PrivateKey key = read(
                file,
                "PRIVATE KEY",
                "`openssl genpkey -algorithm ed25519`",
                (factory, bytes) -> factory.generatePrivate(new PKCS8EncodedKeySpec(bytes)));
        if (isReadableByAll(file)) {
            throw new IllegalArgumentException(
                    "%s: every user of this machine can read this private key; chmod 600 it".formatted(file));
        }
        return key;
    }

    /** Returns the public key of a file; throws as {@link #ofOwner}. */
    public static PublicKey ofEveryone(Path file) {
        return read(
                file,
                "PUBLIC KEY",
                "`openssl pkey -in KEY -pubout`",
                (factory, bytes) -> factory.generatePublic(new X509EncodedKeySpec(bytes)));
    }

    private static <K extends Key> K read(Path file, String what, String writer, Reading<K> reading) {
        Matcher pem = Pattern.compile("-----BEGIN %1$s-----([A-Za-z0-9+/=\\s]+)-----END %1$s-----".formatted(what))
                .matcher(content(file));
        if (pem.find()) {
            try {
                return reading.of(
                        KeyFactory.getInstance("Ed25519"),
                        Base64.getMimeDecoder().decode(pem.group(1)));
            } catch (InvalidKeySpecException | IllegalArgumentException another) {
                // A key of another algorithm, or no base64: the sentence below says what was expected.
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every Java platform from 15 on has Ed25519", e);
            }
        }
        throw new IllegalArgumentException(
                "%s: expected an Ed25519 %s in PEM, not encrypted, as %s writes it".formatted(file, what, writer));
    }

    private static String content(Path file) {
        try {
            long bytes = Files.size(file);
            if (bytes > LARGEST_FILE) {
                throw new IllegalArgumentException("%s: %d bytes are no key".formatted(file, bytes));
            }
            return TextFile.read(file);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "%s: the key cannot be read (%s)"
                            .formatted(file, e.getClass().getSimpleName()),
                    e);
        }
    }

    private static boolean isReadableByAll(Path file) {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        try {
            return view != null && view.readAttributes().permissions().contains(PosixFilePermission.OTHERS_READ);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "%s: who can read the key is not known (%s)"
                            .formatted(file, e.getClass().getSimpleName()),
                    e);
        }
    }
}
