package io.plumbline.topology.config;

import io.plumbline.wire.TextFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;

/**
 * Knows what of the Kafka properties must not be shown, and where it came from.
 *
 * <p>A value may hold <code>${env:NAME}</code>, the environment variable, and <code>${file:PATH}</code>, the whole file
 * without the newline at its end (a relative path is relative to the configuration). Both are read once, when the
 * configuration is. Kafka's own providers read single keys of property files, are asked again by every client, and
 * report an unknown variable as an empty value; a file that names some under {@code config.providers} keeps them, and
 * their <code>${name:...}</code> is passed on.
 *
 * <p>Inside {@code sasl.jaas.config} quotes and backslashes of what is put in are escaped, so that a password is one
 * whatever it is made of.
 */
public final class Secrets {

    static final String HIDDEN = "[hidden]";

    private static final Pattern REFERENCE = Pattern.compile("\\$\\{([A-Za-z0-9_-]*):?([^}]*)}");
    private static final Pattern SECRET_NAME = Pattern.compile(
            ".*(password|passwd|secret|jaas|credential|api[._-]?key|private[._-]?key|token$|token[._-]value).*");
    private static final Pattern QUOTED = Pattern.compile("(?:\"((?:[^\"\\\\]|\\\\.)*)\"|'((?:[^'\\\\]|\\\\.)*)')");
    /** Stands before the name of a header; the value of each is a secret. */
    private static final String HEADERS = "metrics.otlp.headers.";

    private static final int LARGEST_FILE = 1 << 20;

    /** The length of the shortest secret that is hidden: shorter ones would blot out ordinary words of a message. */
    private static final int SHORTEST_HIDDEN = 4;

    private final Map<String, String> written = new LinkedHashMap<>();
    private final Set<String> values = new LinkedHashSet<>();
    private boolean hasLiteral;

    private Secrets() {}

    /**
     * Puts in what the values of {@code properties} refer to.
     *
     * @param folder what relative paths start from
     * @param environment the environment; null where a name is not set
     * @param problems where a reference to nothing becomes a sentence
     */
    static Secrets resolve(
            Map<String, String> properties,
            Path folder,
            UnaryOperator<@Nullable String> environment,
            Collection<String> problems) {
        Secrets secrets = new Secrets();
        Set<String> kafkas =
                Set.of(properties.getOrDefault("config.providers", "").split("\\s*,\\s*", -1));
        properties.replaceAll((key, value) -> {
            String resolved = value;
            if (value.contains("${")) {
                resolved = secrets.resolve(key, value, folder, environment, kafkas, problems);
            } else if (isSecret(key)) {
                secrets.hasLiteral |= !value.isBlank();
            }
            if (isSecret(key)) {
                secrets.hide(key, resolved);
            }
            return resolved;
        });
        return secrets;
    }

    /** Puts in what the values of HTTP headers refer to, as {@link #resolve} does. */
    void resolveHeaders(
            Map<String, String> headers,
            Path folder,
            UnaryOperator<@Nullable String> environment,
            Collection<String> problems) {
        headers.replaceAll((name, value) -> {
            boolean refers = value.contains("${");
            String resolved = refers ? resolve(HEADERS + name, value, folder, environment, Set.of(), problems) : value;
            hasLiteral |= !refers;
            values.add(resolved);
            return resolved;
        });
    }

    private String resolve(
            String key,
            String value,
            Path folder,
            UnaryOperator<@Nullable String> environment,
            Set<String> kafkas,
            Collection<String> problems) {
        boolean isPart =
                key.endsWith("sasl.jaas.config") && !REFERENCE.matcher(value).matches();
        Matcher reference = REFERENCE.matcher(value);
        StringBuilder resolved = new StringBuilder();
        boolean isOurs = false;
        while (reference.find()) {
            String provider = reference.group(1);
            String found;
            if (kafkas.contains(provider)) {
                found = reference.group();
            } else {
                isOurs = true;
                String problem;
                try {
                    found = value(provider, reference.group(2), folder, environment);
                    problem = "";
                } catch (IllegalArgumentException refused) {
                    found = "";
                    problem = String.valueOf(refused.getMessage());
                }
                if (!problem.isEmpty()) {
                    String place = key.startsWith(HEADERS) ? key : "kafka.\"%s\"".formatted(key);
                    problems.add("%s refers to %s: %s".formatted(place, reference.group(), problem));
                }
                if (!found.isEmpty()) {
                    values.add(found);
                }
                if (isPart) {
                    found = escaped(found);
                    values.add(found);
                }
            }
            reference.appendReplacement(resolved, Matcher.quoteReplacement(found));
        }
        reference.appendTail(resolved);
        if (isOurs) {
            written.put(key, value);
            values.add(resolved.toString());
        }
        return resolved.toString();
    }

    private static String value(
            String provider, String name, Path folder, UnaryOperator<@Nullable String> environment) {
        return switch (provider) {
            case "env" -> {
                String found = environment.apply(name);
                if (found == null || found.isEmpty()) {
                    throw new IllegalArgumentException(
                            "the environment variable %s is %s".formatted(name, found == null ? "not set" : "empty"));
                }
                yield found;
            }
            case "file" -> content(name, folder);
            default ->
                throw new IllegalArgumentException(
                        "expected ${env:NAME} or ${file:PATH}, or that \"%s\" stands in kafka.\"config.providers\""
                                .formatted(provider));
        };
    }

    private static String content(String name, Path folder) {
        // A device has no size and no end: what is read is bounded, not what the file says it has.
        try (InputStream in = Files.newInputStream(folder.resolve(name))) {
            byte[] bytes = in.readNBytes(LARGEST_FILE + 1);
            if (bytes.length > LARGEST_FILE) {
                throw new IllegalArgumentException(
                        "the file has more than %d bytes, which is no secret".formatted(LARGEST_FILE));
            }
            String text = TextFile.text(bytes);
            String trimmed = text.endsWith("\r\n")
                    ? text.substring(0, text.length() - 2)
                    : text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
            if (trimmed.isEmpty()) {
                throw new IllegalArgumentException("the file is empty");
            }
            return trimmed;
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("not a path: " + e.getReason(), e);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "the file cannot be read (%s)".formatted(e.getClass().getSimpleName()), e);
        }
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\")
                .replace("\"", "\\\"")
                .replace("'", "\\'")
                .replace("\n", "\\n");
    }

    /**
     * Hides a value. The quoted parts of a login's configuration are secrets of their own: messages may hold one of
     * them alone.
     */
    private void hide(String key, String value) {
        values.add(value);
        if (key.endsWith("sasl.jaas.config")) {
            Matcher quoted = QUOTED.matcher(value);
            while (quoted.find()) {
                String name = value.substring(0, quoted.start());
                if (!name.stripTrailing().endsWith("=") || !isUserName(name)) {
                    values.add(quoted.group(1) == null ? quoted.group(2) : quoted.group(1));
                }
            }
        }
    }

    /** Returns whether a name is a user's, which is no secret, and messages need it. */
    private static boolean isUserName(String before) {
        return before.stripTrailing().replaceAll("\\s*=$", "").endsWith("username");
    }

    /**
     * Returns whether a property's value is a secret by its name: what Kafka itself hides, and what is called like one.
     */
    static boolean isSecret(String key) {
        String name = key.toLowerCase(Locale.ROOT);
        for (ConfigDef definition : List.of(
                ConsumerConfig.configDef(),
                ProducerConfig.configDef(),
                AdminClientConfig.configDef(),
                StreamsConfig.configDef())) {
            for (ConfigDef.ConfigKey known : definition.configKeys().values()) {
                if (known.type == ConfigDef.Type.PASSWORD
                        && (name.equals(known.name) || name.endsWith("." + known.name))) {
                    return true;
                }
            }
        }
        // ssl.truststore.password.file and the like name where a secret is, which is none.
        return SECRET_NAME.matcher(name).matches() && !name.endsWith(".file") && !name.endsWith(".location");
    }

    /** Returns whether a secret stands in the configuration file itself. */
    boolean hasLiteral() {
        return hasLiteral;
    }

    /**
     * Returns what may be printed for a property: a secret that was repeated under a harmless name is hidden there too.
     */
    String shown(String key, String value) {
        String reference = written.get(key);
        if (reference == null) {
            return isSecret(key) ? HIDDEN : hideIn(value);
        }
        Matcher matcher = REFERENCE.matcher(reference);
        StringBuilder from = new StringBuilder();
        while (matcher.find()) {
            from.append(from.isEmpty() ? "" : ", ").append(matcher.group());
        }
        return "[hidden, from %s]".formatted(from);
    }

    /** Returns what the file has for a property: its value, or that with the references in it. Not to be printed. */
    @Nullable
    String written(String key, @Nullable String value) {
        return written.getOrDefault(key, value);
    }

    /** Returns the same of an HTTP header. */
    @Nullable
    String writtenHeader(String name, @Nullable String value) {
        return written(HEADERS + name, value);
    }

    /** Returns what may be printed for an HTTP header. */
    String shownHeader(String name) {
        return written.containsKey(HEADERS + name) ? shown(HEADERS + name, "") : HIDDEN;
    }

    /** Returns {@code text} with every secret in it blotted out, the longest first. */
    String hideIn(String text) {
        String shown = text;
        for (String value : values.stream()
                .filter(value -> value.length() >= SHORTEST_HIDDEN)
                .sorted((a, b) -> Integer.compare(b.length(), a.length()))
                .toList()) {
            shown = shown.replace(value, HIDDEN);
        }
        return shown;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Secrets that && written.equals(that.written) && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return written.hashCode();
    }

    @Override
    public String toString() {
        return HIDDEN;
    }
}
