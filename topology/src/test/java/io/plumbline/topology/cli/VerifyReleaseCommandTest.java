package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifyReleaseCommandTest {

    @TempDir
    private Path folder;

    private Path release;
    private Path key;

    @BeforeEach
    void make() throws IOException, GeneralSecurityException {
        release = Files.createDirectories(folder.resolve("release"));
        Files.createDirectories(release.resolve("maven"));
        Files.writeString(release.resolve("a.tar.gz"), "one");
        Files.writeString(release.resolve("maven/b.jar"), "two");
        Files.writeString(release.resolve("provenance.json"), """
                {"subject": [{"name": "a.tar.gz", "digest": {"sha256": "%s"}},
                             {"name": "maven/b.jar", "digest": {"sha256": "%s"}}],
                 "predicate": {"buildDefinition": {"resolvedDependencies":
                     [{"uri": "git+https://example.org/p", "digest": {"gitCommit": "abc1"}}]}}}
                """.formatted(sha256("a.tar.gz"), sha256("maven/b.jar")));
        StringBuilder sums = new StringBuilder();
        for (String name : new String[] {"a.tar.gz", "maven/b.jar", "provenance.json"}) {
            sums.append(sha256(name)).append("  ").append(name).append('\n');
        }
        Files.writeString(release.resolve("SHA256SUMS"), sums);
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        Signature signature = Signature.getInstance("Ed25519");
        signature.initSign(pair.getPrivate());
        signature.update(sums.toString().getBytes(StandardCharsets.UTF_8));
        Files.write(release.resolve("SHA256SUMS.sig"), Base64.getEncoder().encode(signature.sign()));
        key = folder.resolve("key.pem");
        Files.writeString(key, pem(pair));
    }

    private static String pem(KeyPair pair) {
        return "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getEncoder().encodeToString(pair.getPublic().getEncoded())
                + "\n-----END PUBLIC KEY-----\n";
    }

    private String sha256(String name) throws IOException, GeneralSecurityException {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(release.resolve(name))));
    }

    private Shell verify(Object... more) {
        Object[] all = new Object[more.length + 2];
        all[0] = "verify-release";
        all[1] = release;
        System.arraycopy(more, 0, all, 2, more.length);
        return Shell.run(all);
    }

    @Test
    void aWholeReleaseIsTrustedByItsKey() {
        Shell shell = verify("--key", key);
        assertEquals(0, shell.exitCode(), shell.out() + shell.err());
        assertTrue(
                shell.out().contains("3 files as they were made, from git+https://example.org/p, commit abc1"),
                shell.out());
    }

    @Test
    void aReleaseMayBeNamedByALink() throws IOException {
        release = Files.createSymbolicLink(folder.resolve("latest"), release);
        Shell shell = verify("--key", key);
        assertEquals(0, shell.exitCode(), shell.out() + shell.err());
    }

    @Test
    void everyFileThatDiffersIsNamed() throws IOException {
        Files.writeString(release.resolve("a.tar.gz"), "another");
        Files.delete(release.resolve("maven/b.jar"));
        Files.writeString(release.resolve("more.sh"), "");
        Shell shell = verify("--key", key);
        assertEquals(1, shell.exitCode(), shell.out());
        assertTrue(shell.out().contains("a.tar.gz has another SHA-256"), shell.out());
        assertTrue(shell.out().contains("maven/b.jar is missing"), shell.out());
        assertTrue(shell.out().contains("more.sh is not in SHA256SUMS"), shell.out());
        assertTrue(shell.out().contains("3 differences"), shell.out());
    }

    @Test
    void aLinkABrokenStatementAndABrokenSignatureAreDifferencesAndNoFailure() throws IOException {
        Files.createSymbolicLink(release.resolve("lib"), folder);
        Files.writeString(release.resolve("provenance.json"), "{");
        Files.writeString(release.resolve("SHA256SUMS.sig"), "A");
        Shell shell = verify("--key", key);
        assertEquals(1, shell.exitCode(), shell.out() + shell.err());
        assertTrue(shell.out().contains("lib is not in SHA256SUMS"), shell.out());
        assertTrue(shell.out().contains("SHA256SUMS.sig is missing, or of another key"), shell.out());
    }

    /** Whoever can change a file can change the sums too. */
    @Test
    void sumsThatWereMadeAnewAreRefusedByStatementAndKey() throws Exception {
        String before = sha256("a.tar.gz");
        Files.writeString(release.resolve("a.tar.gz"), "another");
        Path sums = release.resolve("SHA256SUMS");
        Files.writeString(sums, Files.readString(sums).replace(before, sha256("a.tar.gz")));
        Shell shell = verify("--key", key);
        assertEquals(1, shell.exitCode(), shell.out());
        assertTrue(shell.out().contains("SHA256SUMS.sig is missing, or of another key or list"), shell.out());
        assertEquals(1, verify().exitCode());
    }

    @Test
    void theKeyOfSomebodyElseIsNoProof() throws Exception {
        Files.writeString(key, pem(KeyPairGenerator.getInstance("Ed25519").generateKeyPair()));
        assertEquals(1, verify("--key", key).exitCode());
        Files.writeString(key, "no key");
        Shell shell = verify("--key", key);
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("expected an Ed25519 PUBLIC KEY in PEM"), shell.err());
    }
}
