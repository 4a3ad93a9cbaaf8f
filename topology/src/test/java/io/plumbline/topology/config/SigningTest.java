package io.plumbline.topology.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.topology.emission.SigningKeys;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SigningTest {

    @TempDir
    private Path folder;

    @BeforeEach
    void create() throws Exception {
        SigningKeys.create(folder, "own");
        SigningKeys.create(folder, "before");
    }

    @Test
    void filesAreRelativeToTheConfigurationAndReadWhenTheyAreNeeded() {
        DecoderSigner signer =
                Objects.requireNonNull(read("{key: own.pem, trusted: own.pub}").signer());
        assertTrue(
                Objects.requireNonNull(read("{trusted: [before.pub, own.pub]}").keys())
                        .has(signer.keyId()));
        assertNull(read("{trusted: own.pub}").signer());
        assertNull(read("{}").keys());
        String missing = refused(read("{key: missing.pem, trusted: own.pub}"));
        assertEquals(
                "signing.key = %s: the key cannot be read (NoSuchFileException)"
                        .formatted(folder.resolve("missing.pem")),
                missing);
    }

    @Test
    void aKeyWhoseDecodersThisProcessWouldRefuseIsRefused() {
        assertNotNull(read("{key: own.pem, trusted: [before.pub, own.pub]}").signer());
        String refused = refused(read("{key: own.pem, trusted: before.pub}"));
        assertTrue(
                refused.matches("signing\\.key = .*own\\.pem: its public key [0-9a-f]{16} is not among"
                        + " signing\\.trusted, which has [0-9a-f]{16}"),
                refused);
        assertTrue(refused(read("{key: own.pem, trusted: own.pem}")).startsWith("signing.trusted = "));
    }

    @Test
    void aKeyAloneIsRefusedSinceNothingThatIsReadWouldBeChecked() {
        ConfigException refused = assertThrows(ConfigException.class, () -> read("{key: own.pem}"));
        assertTrue(String.valueOf(refused.getMessage()).contains("expected trusted beside it"), refused.getMessage());
    }

    @Test
    void approversHaveTheNamesThatTheConfigurationGivesTheirKeys() {
        assertEquals(
                Set.of("ada", "grace"),
                read("{approvers: {ada: own.pub, grace: before.pub}}")
                        .approverKeys()
                        .keySet());
        Signing broken = read("{approvers: {ada: own.pem}}");
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, broken::approverKeys);
        assertTrue(String.valueOf(refused.getMessage()).startsWith("signing.approvers.ada = "), refused.getMessage());
    }

    private Signing read(String signing) {
        return MonitorConfig.parse("""
                        kafka: {bootstrap.servers: 'localhost:9092'}
                        signing: %s
                        sites: {a: {explainer: e, baseline: b, rank: 2}}
                        """.formatted(signing), "test.yaml", folder).signing();
    }

    private static String refused(Signing signing) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, signing::signer).getMessage());
    }
}
