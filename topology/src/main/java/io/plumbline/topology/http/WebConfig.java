package io.plumbline.topology.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.plumbline.topology.config.ConfigException;
import io.plumbline.wire.Syntax;
import io.plumbline.wire.TextFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Holds TLS and passwords of the HTTP server, read from a file in the form of Prometheus' web configuration:
 *
 * <pre>
 * tls_server_config:
 *   cert_file: server.crt            # PEM, the server's own certificate first
 *   key_file: server.key             # PEM, PKCS#8, not encrypted
 *   client_auth_type: RequireAndVerifyClientCert   # or NoClientCert, the default
 *   client_ca_file: clients.crt
 *   min_version: TLS12               # or TLS13
 * basic_auth_users:
 *   prometheus: $2y$10$...           # bcrypt, as htpasswd -nBC 10 "" prints it
 * </pre>
 *
 * <p>Paths are relative to the file. Keys that are not listed are refused, those that Prometheus knows and we do not as
 * well: a protection somebody wrote down and does not get is worse than none. It is read once; a new certificate needs
 * a restart.
 *
 * @param tls null: plain HTTP
 * @param users bcrypt hashes by name; none: no password is asked for
 */
public record WebConfig(@Nullable ServerTls tls, Map<String, String> users) {

    /** The server on loopback without TLS and passwords. */
    public static final WebConfig NONE = new WebConfig(null, Map.of());

    private static final YAMLMapper YAML = new YAMLMapper(YAMLFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build());
    private static final int LARGEST_FILE = 1 << 20;
    private static final Set<String> KEYS = Set.of("tls_server_config", "basic_auth_users");
    private static final Set<String> TLS_KEYS =
            Set.of("cert_file", "key_file", "client_auth_type", "client_ca_file", "min_version");

    public WebConfig {
        users = Map.copyOf(users);
    }

    /** Leaves out the hashes. */
    @Override
    public String toString() {
        return "WebConfig[%s, %d users]".formatted(tls == null ? "no TLS" : "TLS", users.size());
    }

    /**
     * Reads a file and the certificates it names.
     *
     * @throws ConfigException with every mistake in it; hashes are not shown
     */
    public static WebConfig read(Path file) {
        List<String> problems = new ArrayList<>();
        JsonNode root = tree(file);
        refuseUnknown("", root, KEYS, problems);
        JsonNode tls = root.path("tls_server_config");
        refuseUnknown("tls_server_config.", tls, TLS_KEYS, problems);
        Map<String, String> users = users(root.path("basic_auth_users"), problems);
        ServerTls server = null;
        if (tls.isObject() && problems.isEmpty()) {
            Path folder = file.toAbsolutePath().getParent();
            try {
                server = ServerTls.read(folder == null ? Path.of("") : folder, texts(tls));
            } catch (IllegalArgumentException refused) {
                problems.add("tls_server_config." + refused.getMessage());
            }
        } else if (!tls.isMissingNode() && !tls.isObject()) {
            problems.add("tls_server_config: expected a mapping with cert_file and key_file");
        }
        if (server == null && users.isEmpty() && problems.isEmpty()) {
            problems.add("holds neither tls_server_config nor basic_auth_users and protects nothing");
        }
        if (!problems.isEmpty()) {
            throw new ConfigException(file.toString(), problems);
        }
        return new WebConfig(server, users);
    }

    private static JsonNode tree(Path file) {
        try {
            if (Files.size(file) > LARGEST_FILE) {
                throw new ConfigException(file.toString(), List.of("is larger than a web configuration can be"));
            }
            JsonNode root = YAML.readTree(TextFile.read(file));
            if (!root.isObject()) {
                throw new ConfigException(
                        file.toString(), List.of("expected a mapping with tls_server_config or basic_auth_users"));
            }
            return root;
        } catch (JsonProcessingException e) {
            throw new ConfigException(file.toString(), List.of(Syntax.YAML.fault(e)));
        } catch (ConfigException refused) {
            throw refused;
        } catch (IllegalArgumentException noText) {
            throw new ConfigException(file.toString(), List.of(String.valueOf(noText.getMessage())));
        } catch (IOException e) {
            throw new ConfigException(
                    file.toString(),
                    List.of("http.web_config cannot be read (%s)"
                            .formatted(e.getClass().getSimpleName())));
        }
    }

    private static void refuseUnknown(String path, JsonNode node, Set<String> known, List<String> problems) {
        node.fieldNames().forEachRemaining(key -> {
            if (!known.contains(key)) {
                problems.add("%s%s is not supported; known here: %s"
                        .formatted(path, key, String.join(", ", new TreeSet<>(known))));
            }
        });
    }

    private static Map<String, String> texts(JsonNode node) {
        Map<String, String> texts = new LinkedHashMap<>();
        node.fieldNames().forEachRemaining(key -> texts.put(key, node.path(key).asText()));
        return texts;
    }

    private static Map<String, String> users(JsonNode node, List<String> problems) {
        if (!node.isMissingNode() && !node.isObject()) {
            problems.add("basic_auth_users: expected a mapping of names to bcrypt hashes");
        }
        Map<String, String> users = texts(node);
        users.forEach((name, hash) -> {
            if (name.isBlank() || name.contains(":")) {
                problems.add("basic_auth_users.\"%s\": expected a name without a colon".formatted(name));
            }
            String refusal = Passwords.refusal(hash);
            if (!refusal.isEmpty()) {
                problems.add("basic_auth_users.\"%s\": %s".formatted(name, refusal));
            }
        });
        return users;
    }
}
