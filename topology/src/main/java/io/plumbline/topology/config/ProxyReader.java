package io.plumbline.topology.config;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the configuration says of a proxy before the page.
 *
 * @param basePath without a slash at its end; empty: none
 * @param forwardedUser name of a header; null: none is believed
 */
record ProxyReader(String basePath, @Nullable String forwardedUser) {

    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+");
    private static final Pattern HEADER = Pattern.compile("[A-Za-z][A-Za-z0-9-]*");

    /** Paths of the server itself, which a base path of the same name would hide. */
    private static final Set<String> TAKEN = Set.of("/api", "/metrics", "/healthz", "/readyz");

    /** Headers whose values are secrets, which a page and a log must not show. */
    private static final Set<String> SECRET = Set.of("authorization", "proxy-authorization", "cookie");

    static ProxyReader read(ConfigNode node) {
        String basePath = node.textOrNull("base_path");
        if (basePath != null && (!PATH.matcher(basePath).matches() || TAKEN.contains(basePath))) {
            node.problem(
                    "base_path",
                    "is %s: expected a path such as /plumbline, without a slash at its end, and none of %s"
                            .formatted(
                                    basePath,
                                    String.join(", ", TAKEN.stream().sorted().toList())));
        }
        String header = node.textOrNull("forwarded_user");
        if (header != null && (!HEADER.matcher(header).matches() || SECRET.contains(header.toLowerCase(Locale.ROOT)))) {
            node.problem(
                    "forwarded_user",
                    "is %s: expected the name of a header that holds a user's name, such as X-Forwarded-User"
                            .formatted(header));
        }
        return new ProxyReader(basePath == null ? "" : basePath, header);
    }
}
