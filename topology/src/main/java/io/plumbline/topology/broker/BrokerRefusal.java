package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.resource.ResourceType;
import org.jspecify.annotations.Nullable;

/**
 * Explains what a broker refuses, in sentences that say who asked, what for, and what to grant. Never holds a password.
 */
public final class BrokerRefusal {

    private static final Pattern USER = Pattern.compile("\\busername\\s*=\\s*(?:\"([^\"]*)\"|'([^']*)'|([^\\s;]+))");

    private BrokerRefusal() {}

    /**
     * The sentence for the first refusal among the causes of {@code failure}; null where none of them is one.
     *
     * @param application which application it happened to
     */
    public static @Nullable String sentence(MonitorConfig config, Application application, Throwable failure) {
        Throwable cause = find(failure);
        if (cause == null) {
            return null;
        }
        String connection = connection(config, cause);
        if (connection != null) {
            return connection;
        }
        List<Grant> needed = new ArrayList<>();
        for (Grant grant : AccessRole.of(config, application)) {
            if (isAbout(grant, cause)) {
                needed.add(grant);
            }
        }
        return needed.isEmpty()
                ? "the broker refuses %s: %s; %s".formatted(principal(config), cause.getMessage(), all(application))
                : missing(config, application, needed);
    }

    /** Says that these rights are missing. */
    static String missing(MonitorConfig config, Application application, List<Grant> needed) {
        return "%s lacks a right on the broker at %s that the %s needs: %s; %s"
                .formatted(
                        principal(config),
                        config.bootstrapServers(),
                        application,
                        String.join("; ", needed.stream().map(Grant::toString).toList()),
                        all(application));
    }

    private static String all(Application application) {
        return "`plumbline topics --acl --role %s` prints the commands that grant what it needs".formatted(application);
    }

    /** Returns what is wrong with the connection itself, as any client sees it; null where it is something else. */
    public static @Nullable String connection(MonitorConfig config, Throwable failure) {
        Throwable cause = find(failure);
        Map<String, String> properties = config.adminProperties();
        if (cause instanceof AuthenticationException && !(cause instanceof SslAuthenticationException)) {
            return ("the broker at %s refuses the login of %s (kafka.\"sasl.mechanism\" = %s): %s; "
                            + "check the user and the password in kafka.\"sasl.jaas.config\"")
                    .formatted(
                            config.bootstrapServers(),
                            principal(config),
                            properties.getOrDefault("sasl.mechanism", "GSSAPI"),
                            config.withoutSecrets(String.valueOf(cause.getMessage())));
        }
        if (cause instanceof SslAuthenticationException) {
            return ("no trusted TLS connection to the broker at %s: %s; "
                            + "expected kafka.\"ssl.truststore.location\" (%s) to hold the authority that signed the "
                            + "broker's "
                            + "certificate, and the certificate to name the host")
                    .formatted(
                            config.bootstrapServers(),
                            config.withoutSecrets(root(cause)),
                            properties.getOrDefault("ssl.truststore.location", "not set: Java's own authorities"));
        }
        return null;
    }

    /** Returns a failure and what caused it, the outermost first. */
    public static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause);
    }

    public static Throwable innermost(Throwable failure) {
        return causes(failure).reduce(failure, (outer, inner) -> inner);
    }

    /** Returns the message of the innermost cause, which is the reason; the outer ones say what was not done. */
    public static String root(Throwable failure) {
        Throwable root = innermost(failure);
        return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    }

    /**
     * Returns the principal as the broker's access lists name it where the configuration tells; a certificate's name
     * only the broker knows.
     */
    static String principal(MonitorConfig config) {
        String jaas = config.adminProperties().getOrDefault("sasl.jaas.config", "");
        Matcher user = USER.matcher(jaas);
        if (!user.find()) {
            return "this client's principal";
        }
        for (int group = 1; group <= user.groupCount(); group++) {
            if (user.group(group) != null) {
                return "User:" + user.group(group);
            }
        }
        return "this client's principal";
    }

    private static @Nullable Throwable find(Throwable failure) {
        return causes(failure)
                .filter(cause -> cause instanceof AuthenticationException
                        || cause instanceof TopicAuthorizationException
                        || cause instanceof GroupAuthorizationException
                        || cause instanceof TransactionalIdAuthorizationException
                        || cause instanceof ClusterAuthorizationException)
                .findFirst()
                .orElse(null);
    }

    private static boolean isAbout(Grant grant, Throwable cause) {
        if (cause instanceof TopicAuthorizationException topics) {
            return grant.type() == ResourceType.TOPIC
                    && topics.unauthorizedTopics().contains(grant.name());
        }
        if (cause instanceof GroupAuthorizationException) {
            return grant.type() == ResourceType.GROUP;
        }
        return cause instanceof TransactionalIdAuthorizationException && grant.type() == ResourceType.TRANSACTIONAL_ID;
    }
}
