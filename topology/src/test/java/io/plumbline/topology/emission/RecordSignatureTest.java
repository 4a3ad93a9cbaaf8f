package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordSignatureTest {

    private static final HexFormat HEX = HexFormat.of();

    /** The first pair of keys in RFC 8032, 7.1, behind what PKCS#8 and X.509 put before them. */
    static final byte[] PRIVATE = HEX.parseHex(
            "302e020100300506032b657004220420" + "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");

    static final byte[] PUBLIC = HEX.parseHex(
            "302a300506032b6570032100" + "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");

    private static final byte[] KEY = bytes("layer.2");
    private static final byte[] VALUE = bytes("{\"version\":7}");

    @TempDir
    private Path folder;

    private SigningKeys keys;
    private TrustedKeys trusted;
    private byte[] signed;

    @BeforeEach
    void sign() throws Exception {
        keys = SigningKeys.create(folder, "signing");
        trusted = keys.trusted();
        signed = DecoderSigner.read(keys.key()).sign(KEY, VALUE);
    }

    static PublicKey publicKey() throws Exception {
        return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(PUBLIC));
    }

    @Test
    void theMessageIsThatOfThePage() {
        assertArrayEquals(
                bytes("plumbline-decoders-1\n\1\2\3\4\5\6\7\10\0\0\0\7layer.2{\"version\":7}"),
                RecordSignature.message(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}, KEY, VALUE));
    }

    @Test
    void whatIsSignedIsTakenAndSignedTheSameAgain() {
        assertNull(new RecordSignature(KEY, VALUE, signed).refusal(trusted));
        assertArrayEquals(signed, DecoderSigner.read(keys.key()).sign(KEY, VALUE));
    }

    @Test
    void noBitOfItMayChange() {
        for (int bit = 0; bit < 8 * signed.length; bit++) {
            assertNotNull(new RecordSignature(KEY, VALUE, flipped(signed, bit)).refusal(trusted), "bit " + bit);
        }
        for (int bit = 0; bit < 8 * VALUE.length; bit++) {
            assertNotNull(new RecordSignature(KEY, flipped(VALUE, bit), signed).refusal(trusted), "bit " + bit);
        }
        String altered = "it is not what the key %s signed".formatted(trusted);
        assertEquals(altered, new RecordSignature(bytes("layer.3"), VALUE, signed).refusal(trusted));
        // The same bytes in another order of key and value.
        assertEquals(altered, new RecordSignature(bytes("layer.2{"), bytes("\"version\":7}"), signed).refusal(trusted));
    }

    @Test
    void whatIsMissingOrForeignIsNamed() throws Exception {
        assertEquals(
                "it is not signed, expected the key " + trusted,
                new RecordSignature(KEY, VALUE, null).refusal(trusted));
        assertNull(new RecordSignature(KEY, VALUE, null).keyId());
        assertEquals(
                "its signature has 71 bytes, expected 72",
                new RecordSignature(KEY, VALUE, Arrays.copyOf(signed, 71)).refusal(trusted));
        TrustedKeys others = SigningKeys.create(folder, "other").trusted();
        RecordSignature signature = new RecordSignature(KEY, VALUE, signed);
        assertEquals(
                "it is signed by the key %s, expected %s".formatted(signature.keyId(), others),
                signature.refusal(others));
    }

    @Test
    void oneOfSeveralKeysIsEnough() throws Exception {
        SigningKeys next = SigningKeys.create(folder, "next");
        TrustedKeys both = TrustedKeys.read(List.of(next.publicKey(), keys.publicKey()));
        assertNull(new RecordSignature(KEY, VALUE, signed).refusal(both));
        byte[] byNext = DecoderSigner.read(next.key()).sign(KEY, VALUE);
        assertNull(new RecordSignature(KEY, VALUE, byNext).refusal(both));
        assertNotNull(new RecordSignature(KEY, VALUE, byNext).refusal(trusted));
        assertThrows(IllegalArgumentException.class, () -> TrustedKeys.read(List.of()));
    }

    @Test
    void thePublicKeyAndItsIdAreThoseOfTheStandard() throws Exception {
        DecoderSigner signer = DecoderSigner.read(
                SigningKeys.write(folder, "rfc", PRIVATE, publicKey()).key());
        byte[] digest = DecoderArtefact.newSha256().digest(PUBLIC);
        assertEquals(HEX.formatHex(digest).substring(0, 16), signer.keyId());
        assertTrue(TrustedKeys.of(publicKey()).has(signer.keyId()));
        assertFalse(signer.toString().contains("9d61b19d"), signer::toString);
    }

    @Test
    void filesThatAreNoKeyAreRefused() throws Exception {
        Path missing = folder.resolve("missing.pem");
        assertEquals(missing + ": the key cannot be read (NoSuchFileException)", refused(missing));
        String expected = ": expected an Ed25519 PRIVATE KEY in PEM, not encrypted, as `openssl genpkey -algorithm"
                + " ed25519` writes it";
        Path rsa = SigningKeys.create(folder, "rsa", "RSA").key();
        Path x25519 = SigningKeys.create(folder, "x25519", "X25519").key();
        Path torn = folder.resolve("torn.pem");
        Files.writeString(torn, "-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n");
        for (Path file : List.of(rsa, x25519, torn, keys.publicKey())) {
            assertEquals(file + expected, refused(file));
        }
        Path large = Files.write(folder.resolve("large.pem"), new byte[1 << 17]);
        assertEquals(large + ": 131072 bytes are no key", refused(large));
        assertThrows(IllegalArgumentException.class, () -> TrustedKeys.read(List.of(keys.key())));
    }

    @Test
    void aPrivateKeyThatEveryoneCanReadIsRefused() throws IOException {
        Files.setPosixFilePermissions(keys.key(), PosixFilePermissions.fromString("rw-r--r--"));
        assertEquals(
                keys.key() + ": every user of this machine can read this private key; chmod 600 it",
                refused(keys.key()));
        Files.setPosixFilePermissions(keys.key(), PosixFilePermissions.fromString("r--r-----"));
        assertNotNull(DecoderSigner.read(keys.key()), "a group may, as where a secret is mounted");
    }

    private static String refused(Path file) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> DecoderSigner.read(file))
                .getMessage());
    }

    private static byte[] flipped(byte[] bytes, int bit) {
        byte[] other = bytes.clone();
        other[bit / 8] ^= (byte) (1 << bit % 8);
        return other;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
