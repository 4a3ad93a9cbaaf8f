package io.plumbline.topology.http;

import io.plumbline.wire.TextFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Makes the server's side of TLS of PEM files with nothing but the JDK. */
public final class ServerTls {

    private static final Pattern PKCS8 =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

    /** The password that a key store in memory wants. */
    private static final char[] NO_PASSWORD = {};

    private final SSLContext context;
    private final String[] protocols;
    private final boolean needsClient;

    private ServerTls(SSLContext context, String[] protocols, boolean needsClient) {
        this.context = context;
        this.protocols = protocols;
        this.needsClient = needsClient;
    }

    /**
     * Reads what {@code keys} name.
     *
     * @param keys the mapping {@code tls_server_config}
     * @throws IllegalArgumentException with the key, its value and what was expected
     */
    static ServerTls read(Path folder, Map<String, String> keys) {
        String[] protocols =
                switch (keys.getOrDefault("min_version", "TLS12")) {
                    case "TLS12" -> new String[] {"TLSv1.3", "TLSv1.2"};
                    case "TLS13" -> new String[] {"TLSv1.3"};
                    default ->
                        throw new IllegalArgumentException(
                                "min_version = %s: expected TLS12 or TLS13".formatted(keys.get("min_version")));
                };
        boolean needsClient =
                switch (keys.getOrDefault("client_auth_type", "NoClientCert")) {
                    case "NoClientCert" -> false;
                    case "RequireAndVerifyClientCert" -> true;
                    default ->
                        throw new IllegalArgumentException(
                                "client_auth_type = %s: expected NoClientCert or RequireAndVerifyClientCert"
                                        .formatted(keys.get("client_auth_type")));
                };
        if (needsClient != keys.containsKey("client_ca_file")) {
            throw new IllegalArgumentException(
                    "client_ca_file goes with client_auth_type: RequireAndVerifyClientCert, and that with it");
        }
        Collection<? extends Certificate> chain = certificates(folder, keys, "cert_file");
        PrivateKey key = key(folder, keys);
        try {
            KeyStore own = KeyStore.getInstance("PKCS12");
            own.load(null, NO_PASSWORD);
            own.setKeyEntry("server", key, NO_PASSWORD, chain.toArray(Certificate[]::new));
            KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keyManagers.init(own, NO_PASSWORD);
            TrustManager[] trust = needsClient ? trust(certificates(folder, keys, "client_ca_file")) : null;
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keyManagers.getKeyManagers(), trust, null);
            return new ServerTls(context, protocols, needsClient);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException(
                    "key_file = %s: does not go with cert_file: %s".formatted(keys.get("key_file"), e.getMessage()), e);
        }
    }

    /** Returns the settings as the server takes them. */
    SslContextFactory.Server contextFactory() {
        SslContextFactory.Server factory = new SslContextFactory.Server();
        factory.setSslContext(context);
        factory.setIncludeProtocols(protocols);
        factory.setNeedClientAuth(needsClient);
        return factory;
    }

    private static TrustManager[] trust(Collection<? extends Certificate> authorities)
            throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        int number = 0;
        for (Certificate authority : authorities) {
            store.setCertificateEntry("authority-" + number++, authority);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static Collection<? extends Certificate> certificates(Path folder, Map<String, String> keys, String name) {
        try {
            Collection<? extends Certificate> found = CertificateFactory.getInstance("X.509")
                    .generateCertificates(
                            new ByteArrayInputStream(content(folder, keys, name).getBytes(StandardCharsets.UTF_8)));
            if (found.isEmpty()) {
                throw new IllegalArgumentException(
                        "%s = %s: expected a certificate in PEM".formatted(name, keys.get(name)));
            }
            return found;
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "%s = %s: expected a certificate in PEM: %s".formatted(name, keys.get(name), e.getMessage()), e);
        }
    }

    private static PrivateKey key(Path folder, Map<String, String> keys) {
        Matcher pem = PKCS8.matcher(content(folder, keys, "key_file"));
        if (!pem.find()) {
            throw new IllegalArgumentException(
                    ("key_file = %s: expected a PRIVATE KEY in PEM, PKCS#8 and not encrypted; "
                                    + "`openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW` makes one")
                            .formatted(keys.get("key_file")));
        }
        PKCS8EncodedKeySpec bytes;
        try {
            bytes = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("key_file = %s: not base64".formatted(keys.get("key_file")), e);
        }
        for (String algorithm : new String[] {"RSA", "EC", "EdDSA"}) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(bytes);
            } catch (InvalidKeySpecException other) {
                // The bytes are a key of another algorithm; the next one may read them.
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalArgumentException(
                "key_file = %s: expected a key of RSA, EC or EdDSA".formatted(keys.get("key_file")));
    }

    private static String content(Path folder, Map<String, String> keys, String name) {
        String file = keys.get(name);
        if (file == null || file.isBlank()) {
            throw new IllegalArgumentException(name + " is missing: expected a file in PEM");
        }
        try {
            return TextFile.read(folder.resolve(file));
        } catch (IllegalArgumentException noText) {
            throw new IllegalArgumentException("%s = %s: %s".formatted(name, file, noText.getMessage()), noText);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "%s = %s: cannot be read (%s)"
                            .formatted(name, file, e.getClass().getSimpleName()),
                    e);
        }
    }
}
