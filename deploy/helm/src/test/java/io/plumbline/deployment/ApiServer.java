package io.plumbline.deployment;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A real API server of Kubernetes on loopback, with a store of its own. It keeps and checks objects; no controller
 * makes pods of them.
 *
 * <p>{@code kube-apiserver} and {@code etcd} are looked for in the folder that {@code KUBEBUILDER_ASSETS} names, as
 * {@code setup-envtest} installs them, and on the PATH. Operators' types are those of the definitions in the folder
 * {@code PLUMBLINE_CRDS}; without it every field of them is taken.
 */
final class ApiServer implements AutoCloseable {

    private static final YAMLMapper YAML = new YAMLMapper();
    private static final String TOKEN = "of-this-test";
    private static final int LONGEST_MS = 120_000;

    /** An answer: its status, its object, and what it warns of. */
    record Answer(int status, JsonNode body, List<String> warnings) {
        boolean isSuccess() {
            return status / 100 == 2;
        }
    }

    private final Deque<Process> processes = new ArrayDeque<>();
    private final Path folder;
    private final int port;
    private final HttpClient http;

    private ApiServer(Path folder) throws IOException, InterruptedException, GeneralSecurityException {
        this.folder = folder;
        this.port = freePort();
        try {
            http = started(program("etcd"), program("kube-apiserver"));
            await("/readyz");
        } catch (IOException | InterruptedException | GeneralSecurityException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Starts one in the folder, or leaves the test out where a program of it is missing. */
    static ApiServer start(Path folder) throws IOException, InterruptedException, GeneralSecurityException {
        return new ApiServer(folder);
    }

    private static Path program(String name) {
        String folders = System.getenv().getOrDefault("KUBEBUILDER_ASSETS", "")
                + File.pathSeparator
                + System.getenv().getOrDefault("PATH", "");
        List<Path> found = Stream.of(folders.split(File.pathSeparator, -1))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .toList();
        assumeTrue(
                !found.isEmpty(),
                () -> name + " is neither on the PATH nor in KUBEBUILDER_ASSETS: `setup-envtest use` installs it");
        return found.get(0);
    }

    private HttpClient started(Path etcd, Path server)
            throws IOException, InterruptedException, GeneralSecurityException {
        String store = "http://127.0.0.1:" + freePort();
        String peer = "http://127.0.0.1:" + freePort();
        run(
                "etcd",
                etcd.toString(),
                "--data-dir=etcd",
                "--unsafe-no-fsync",
                "--listen-client-urls=" + store,
                "--advertise-client-urls=" + store,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=default=" + peer);
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        KeyPair key = generator.generateKeyPair();
        write("accounts.key", "PRIVATE KEY", key.getPrivate().getEncoded());
        write("accounts.pub", "PUBLIC KEY", key.getPublic().getEncoded());
        Files.writeString(folder.resolve("tokens.csv"), TOKEN + ",test,test,system:masters\n");
        run(
                "kube-apiserver",
                server.toString(),
                "--etcd-servers=" + store,
                "--bind-address=127.0.0.1",
                "--secure-port=" + port,
                "--cert-dir=certificates",
                "--token-auth-file=tokens.csv",
                "--authorization-mode=RBAC",
                "--endpoint-reconciler-type=none",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--service-account-issuer=https://127.0.0.1",
                "--service-account-key-file=accounts.pub",
                "--service-account-signing-key-file=accounts.key");
        Path certificate = folder.resolve("certificates").resolve("apiserver.crt");
        awaitThat(() -> Files.isRegularFile(certificate) && Files.size(certificate) > 0, certificate.toString());
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (InputStream its = Files.newInputStream(certificate)) {
            int number = 0;
            for (var each : CertificateFactory.getInstance("X.509").generateCertificates(its)) {
                trusted.setCertificateEntry("server-" + number++, each);
            }
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, managers.getTrustManagers(), null);
        return HttpClient.newBuilder().sslContext(tls).build();
    }

    private void run(String name, String... command) throws IOException {
        processes.push(new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(name + ".log").toFile())
                .start());
    }

    private void write(String file, String kind, byte[] bytes) throws IOException {
        Files.writeString(
                folder.resolve(file),
                "-----BEGIN %s-----\n%s\n-----END %s-----\n"
                        .formatted(kind, Base64.getMimeEncoder().encodeToString(bytes), kind));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Makes a namespace that warns of pods which the strictest of Kubernetes' own policies for pods refuses. */
    void makeNamespace(String name) throws IOException, InterruptedException {
        Answer made = apply(
                YAML.readTree("{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {%s: restricted}}}"
                        .formatted(name, "pod-security.kubernetes.io/warn")),
                "");
        if (!made.isSuccess()) {
            throw new IllegalStateException(made.toString());
        }
    }

    /** Makes the types of operators that the manifests are of. */
    void define(List<JsonNode> manifests) throws IOException, InterruptedException {
        String given = System.getenv("PLUMBLINE_CRDS");
        List<JsonNode> definitions = new ArrayList<>();
        if (given != null) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(given), "*.yaml")) {
                for (Path file : files) {
                    definitions.add(YAML.readTree(file.toFile()));
                }
            }
        } else {
            for (JsonNode manifest : manifests) {
                if (!isKnown(manifest)) {
                    definitions.add(anything(manifest));
                }
            }
        }
        for (JsonNode definition : definitions) {
            Answer made = apply(definition, "");
            if (!made.isSuccess()) {
                throw new IllegalStateException(made.toString());
            }
        }
        for (JsonNode manifest : manifests) {
            awaitThat(() -> isKnown(manifest), manifest.path("kind").asText());
        }
    }

    /** Returns the definition of a type whose objects may have any fields. */
    private static JsonNode anything(JsonNode manifest) throws IOException {
        String kind = manifest.path("kind").asText();
        String[] type = manifest.path("apiVersion").asText().split("/", 2);
        String plural = kind.toLowerCase(Locale.ROOT) + "s";
        return YAML.readTree("""
                apiVersion: apiextensions.k8s.io/v1
                kind: CustomResourceDefinition
                metadata: {name: %s.%s}
                spec:
                  group: %s
                  scope: Namespaced
                  names: {kind: %s, plural: %s}
                  versions:
                    - name: %s
                      served: true
                      storage: true
                      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
                """.formatted(plural, type[0], type[0], kind, plural, type[1]));
    }

    /** Applies a manifest on the server's side; an unknown field is refused. */
    Answer apply(JsonNode manifest, String namespace) throws IOException, InterruptedException {
        return send(
                "PATCH", path(manifest, namespace) + "?fieldManager=test&fieldValidation=Strict", manifest.toString());
    }

    /** Returns the object that a manifest is of, as the server has it. */
    Answer read(JsonNode manifest, String namespace) throws IOException, InterruptedException {
        return send("GET", path(manifest, namespace), "");
    }

    Answer delete(JsonNode manifest, String namespace) throws IOException, InterruptedException {
        return send("DELETE", path(manifest, namespace) + "?propagationPolicy=Background", "");
    }

    private String path(JsonNode manifest, String namespace) throws IOException, InterruptedException {
        JsonNode resource = resource(manifest);
        if (resource.isMissingNode()) {
            throw new IllegalStateException("no type of the server: " + manifest);
        }
        return group(manifest)
                + (resource.path("namespaced").asBoolean() ? "/namespaces/" + namespace : "")
                + "/" + resource.path("name").asText()
                + "/" + manifest.at("/metadata/name").asText();
    }

    private boolean isKnown(JsonNode manifest) throws IOException, InterruptedException {
        return !resource(manifest).isMissingNode();
    }

    /** Returns what the server says of a manifest's type, a missing node where it has none such. */
    private JsonNode resource(JsonNode manifest) throws IOException, InterruptedException {
        Answer answer = send("GET", group(manifest), "");
        if (!answer.isSuccess() && answer.status() != 404) {
            throw new IllegalStateException(answer.toString());
        }
        for (JsonNode resource : answer.body().path("resources")) {
            // Those with a slash are parts of an object, such as its status.
            if (resource.path("kind").equals(manifest.path("kind"))
                    && !resource.path("name").asText().contains("/")) {
                return resource;
            }
        }
        return YAML.missingNode();
    }

    private static String group(JsonNode manifest) {
        String version = manifest.path("apiVersion").asText();
        return (version.contains("/") ? "/apis/" : "/api/") + version;
    }

    private Answer send(String method, String path, String body) throws IOException, InterruptedException {
        boolean isApplied = method.equals("PATCH");
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path))
                        .header("Authorization", "Bearer " + TOKEN)
                        // JSON is YAML, and this is the name of the form.
                        .header("Content-Type", isApplied ? "application/apply-patch+yaml" : "application/json")
                        .method(method, HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        JsonNode read = answer.body().startsWith("{") ? YAML.readTree(answer.body()) : YAML.createObjectNode();
        return new Answer(answer.statusCode(), read, answer.headers().allValues("Warning"));
    }

    private void await(String path) throws IOException, InterruptedException {
        awaitThat(
                () -> {
                    try {
                        return send("GET", path, "").isSuccess();
                    } catch (IOException notYet) {
                        return false;
                    }
                },
                path);
    }

    private interface Condition {
        boolean holds() throws IOException, InterruptedException;
    }

    private void awaitThat(Condition condition, String what) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONGEST_MS);
        while (!condition.holds()) {
            if (System.nanoTime() > end || !processes.stream().allMatch(Process::isAlive)) {
                throw new IllegalStateException("waited for %s in vain: %s".formatted(what, logs()));
            }
            Thread.sleep(100);
        }
    }

    private String logs() throws IOException {
        StringBuilder logs = new StringBuilder();
        for (String name : List.of("etcd.log", "kube-apiserver.log")) {
            Path file = folder.resolve(name);
            String text = Files.exists(file) ? Files.readString(file) : "";
            logs.append(name).append(":\n").append(text, Math.max(0, text.length() - 2000), text.length());
        }
        return logs.toString();
    }

    /** Returns whether all that {@code wanted} says is in {@code found}, which may have more keys. */
    static boolean holds(JsonNode found, JsonNode wanted) {
        if (wanted instanceof ObjectNode object) {
            return object.properties().stream()
                    .allMatch(entry -> found.has(entry.getKey())
                            && holds(Objects.requireNonNull(found.get(entry.getKey())), entry.getValue()));
        }
        if (wanted.isArray()) {
            if (found.size() != wanted.size()) {
                return false;
            }
            for (int element = 0; element < wanted.size(); element++) {
                if (!holds(found.path(element), wanted.path(element))) {
                    return false;
                }
            }
            return true;
        }
        return found.equals(wanted);
    }

    /** Ends the server before its store. */
    @Override
    public void close() {
        for (Process process : processes) {
            process.destroy();
            try {
                if (!process.waitFor(20, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }
}
