package io.plumbline.topology.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import at.favre.lib.crypto.bcrypt.BCrypt;
import io.plumbline.topology.config.ConfigException;
import io.plumbline.topology.config.HttpSettings;
import io.plumbline.topology.http.MonitorServer;
import io.plumbline.topology.http.WebConfig;
import io.plumbline.topology.http.WebPages;
import io.plumbline.topology.metrics.Metrics;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecuredMetricsTest {

    private static final String PASSWORD = "correct horse";

    @TempDir
    private static Path folder;

    private static TestCertificate certificate;
    private static Metrics metrics;
    private static MonitorServer server;
    private static HttpClient client;

    @BeforeAll
    static void start() throws Exception {
        certificate = TestCertificate.make(folder.resolve("tls"));
        // What htpasswd makes by default is cheaper; tens of milliseconds a look.
        String hash = BCrypt.with(BCrypt.Version.VERSION_2Y).hashToString(10, PASSWORD.toCharArray());
        metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(15), 256));
        server = start(WebConfig.read(write(tls(""), "basic_auth_users: {prometheus: '%s'}".formatted(hash))));
        client = HttpClient.newBuilder().sslContext(trusting(certificate)).build();
    }

    @AfterAll
    static void stop() {
        server.close();
        metrics.close();
    }

    @Test
    void metricsAreServedOverTlsToWhoKnowsThePassword() throws Exception {
        HttpResponse<String> answer = get("/metrics", "prometheus:" + PASSWORD);
        assertEquals(200, answer.statusCode());
        assertTrue(answer.body().contains("plumbline_metrics_failures_total"), answer.body());
        assertTrue(answer.sslSession().isPresent());
    }

    @Test
    void withoutTheRightPasswordThereIsNothingToRead() throws Exception {
        for (String login : new String[] {
            null,
            "prometheus:wrong",
            "prometheus:",
            "nobody:" + PASSWORD,
            ":" + PASSWORD,
            "prometheus",
            "prometheus:" + "x".repeat(500)
        }) {
            HttpResponse<String> answer = get("/metrics", login);
            assertEquals(401, answer.statusCode(), login);
            assertTrue(
                    answer.headers().firstValue("WWW-Authenticate").orElse("").startsWith("Basic realm="), login);
            assertFalse(answer.body().contains("plumbline_"), answer.body());
            assertEquals(401, get("/other", login).statusCode(), "what there is is not told either");
        }
        for (String header : List.of("Bearer x", "Basic", "Basic !!!", "Basic " + "A".repeat(1000))) {
            HttpResponse<String> answer = client.send(
                    request("/metrics").header("Authorization", header).build(), HttpResponse.BodyHandlers.ofString());
            assertEquals(401, answer.statusCode(), header);
        }
    }

    @Test
    void probesNeedNoPasswordAndKeepTheirReasonToThemselves() throws Exception {
        assertEquals(200, get("/healthz", null).statusCode());
        HttpResponse<String> stranger = get("/readyz", null);
        assertEquals(503, stranger.statusCode());
        assertEquals("not ready\n", stranger.body());
        assertEquals(
                "site blocks.7 waits\n",
                get("/readyz", "prometheus:" + PASSWORD).body());
        assertEquals("not ready\n", get("/readyz", "prometheus:wrong").body());
    }

    @Test
    void aPasswordThatWasRightIsNotWorkedOutAgain() throws Exception {
        get("/metrics", "prometheus:" + PASSWORD);
        long slowest = 0;
        long begin = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            get("/metrics", "prometheus:wrong-" + i);
        }
        long wrong = (System.nanoTime() - begin) / 5;
        begin = System.nanoTime();
        for (int i = 0; i < 40; i++) {
            long one = System.nanoTime();
            assertEquals(200, get("/metrics", "prometheus:" + PASSWORD).statusCode());
            slowest = Math.max(slowest, System.nanoTime() - one);
        }
        long right = (System.nanoTime() - begin) / 40;
        assertTrue(right < wrong, "right %d ns, wrong %d ns, slowest right %d ns".formatted(right, wrong, slowest));
    }

    @Test
    void plainHttpIsRefused() {
        HttpRequest plain = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + server.address().getPort() + "/metrics"))
                .timeout(Duration.ofSeconds(30))
                .build();
        assertThrows(IOException.class, () -> client.send(plain, HttpResponse.BodyHandlers.ofString()));
    }

    @Test
    void aClientWithoutACertificateIsRefusedWhereOneIsAsked() throws Exception {
        String clients = "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: %s\n"
                .formatted(certificate.certificate());
        try (MonitorServer mutual = start(WebConfig.read(write(tls(clients + "  min_version: TLS13\n"), "")))) {
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create("https://127.0.0.1:" + mutual.address().getPort() + "/metrics"))
                    .timeout(Duration.ofSeconds(30))
                    .build();
            assertThrows(IOException.class, () -> client.send(request, HttpResponse.BodyHandlers.ofString()));
        }
    }

    @Test
    void clientsThatNeverFinishTheirHandshakeDoNotKeepTheProbesFromAnswering() throws Exception {
        List<Socket> stuck = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort());
                // The head of a TLS record that says there are 512 bytes more.
                socket.getOutputStream().write(new byte[] {22, 3, 1, 2, 0, 1});
                socket.getOutputStream().flush();
                stuck.add(socket);
            }
            HttpResponse<String> answer = client.send(
                    request("/healthz").timeout(Duration.ofSeconds(60)).build(), HttpResponse.BodyHandlers.ofString());
            assertEquals(200, answer.statusCode());
        } finally {
            for (Socket socket : stuck) {
                socket.close();
            }
        }
    }

    @Test
    void everyMistakeInTheFileIsASentence() throws Exception {
        String good = "$2y$10$" + "a".repeat(53);
        String[][] cases = {
            {"", "expected a mapping"},
            {"{}", "protects nothing"},
            {
                "http_server_config: {http2: true}",
                "http_server_config is not supported; known here: basic_auth_users, tls_server_config"
            },
            {"basic_auth_users: {a: secret-in-clear}", "basic_auth_users.\"a\": expected a bcrypt hash"},
            {"basic_auth_users: {a: '%s'}".formatted(good.replace("$10$", "$31$")), "cost 31: expected 4 to 14"},
            {"basic_auth_users: {'a:b': '%s'}".formatted(good), "a name without a colon"},
            {"tls_server_config: {cert_file: x}", "tls_server_config.cert_file = x: cannot be read"},
            {"tls_server_config: {key_file: x}", "tls_server_config.cert_file is missing"},
            {tls("  cipher_suites: x\n"), "tls_server_config.cipher_suites is not supported"},
            {tls("  min_version: TLS10\n"), "min_version = TLS10: expected TLS12 or TLS13"},
            {tls("  client_auth_type: RequestClientCert\n"), "expected NoClientCert or RequireAndVerifyClientCert"},
            {tls("  client_ca_file: x\n"), "client_ca_file goes with client_auth_type"},
            {
                "tls_server_config: {cert_file: '%s', key_file: '%s'}".formatted(certificate.key(), certificate.key()),
                "cert_file = "
            },
            {
                "tls_server_config: {cert_file: '%s', key_file: '%s'}"
                        .formatted(certificate.certificate(), certificate.certificate()),
                "PKCS#8 and not encrypted"
            }
        };
        for (String[] one : cases) {
            ConfigException refused =
                    assertThrows(ConfigException.class, () -> WebConfig.read(write(one[0], "")), one[0]);
            assertTrue(refused.getMessage().contains(one[1]), refused.getMessage());
            assertFalse(refused.getMessage().contains("secret-in-clear"), refused.getMessage());
            assertFalse(refused.getMessage().contains("aaaa"), refused.getMessage());
        }
        assertThrows(ConfigException.class, () -> WebConfig.read(folder.resolve("missing.yaml")));
        assertFalse(WebConfig.read(write("basic_auth_users: {a: '%s'}".formatted(good), ""))
                .toString()
                .contains("aaaa"));
    }

    @Test
    void aCertificateThatTheClientDoesNotTrustIsNotAccepted() {
        HttpClient stranger = HttpClient.newHttpClient();
        assertThrows(
                SSLHandshakeException.class,
                () -> stranger.send(request("/healthz").build(), HttpResponse.BodyHandlers.ofString()));
    }

    private static MonitorServer start(WebConfig web) throws IOException {
        return MonitorServer.start(
                new HttpSettings("127.0.0.1", 0, null, List.of(), null, true, "", null),
                web,
                metrics,
                Optional::empty,
                () -> Optional.of("site blocks.7 waits"),
                WebPages.NONE);
    }

    private static String tls(String more) {
        return "tls_server_config:\n  cert_file: %s\n  key_file: %s\n%s"
                .formatted(certificate.certificate(), certificate.key(), more);
    }

    private static Path write(String first, String second) throws IOException {
        Path file = Files.createTempFile(folder, "web", ".yaml");
        Files.writeString(file, first + "\n" + second + "\n");
        return file;
    }

    private static SSLContext trusting(TestCertificate certificate) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream in = Files.newInputStream(certificate.certificate())) {
            store.setCertificateEntry(
                    "server", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    private static HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(
                URI.create("https://127.0.0.1:" + server.address().getPort() + path));
    }

    private static HttpResponse<String> get(String path, String login) throws Exception {
        HttpRequest.Builder request = request(path);
        if (login != null) {
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8)));
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
