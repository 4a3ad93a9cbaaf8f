package io.plumbline.topology.security;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A self-signed certificate for 127.0.0.1, made by the JDK's keytool when the test runs and gone with its folder.
 *
 * @param keyStore PKCS#12 with the key
 * @param certificate PEM
 * @param key PEM, PKCS#8, not encrypted
 */
public record TestCertificate(Path keyStore, Path certificate, Path key) {

    public static final String PASSWORD = "store-password";

    private static final String ALIAS = "server";

    /** Takes about a second: keytool is a Java program. */
    public static TestCertificate make(Path folder) throws IOException, GeneralSecurityException, InterruptedException {
        Files.createDirectories(folder);
        Path keyStore = folder.resolve("server.p12");
        keytool(List.of(
                "-genkeypair",
                "-alias",
                ALIAS,
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-validity",
                "2",
                "-dname",
                "CN=127.0.0.1",
                "-ext",
                "SAN=ip:127.0.0.1,dns:localhost",
                "-storetype",
                "PKCS12",
                "-keystore",
                keyStore.toString(),
                "-storepass",
                PASSWORD));
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keyStore)) {
            store.load(in, PASSWORD.toCharArray());
        }
        Path certificate = folder.resolve("server.crt");
        Files.writeString(
                certificate, pem("CERTIFICATE", store.getCertificate(ALIAS).getEncoded()));
        Path key = folder.resolve("server.key");
        Files.writeString(
                key,
                pem("PRIVATE KEY", store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded()));
        return new TestCertificate(keyStore, certificate, key);
    }

    private static String pem(String what, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(bytes);
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(what, text, what);
    }

    private static void keytool(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("keytool: " + output);
        }
    }
}
