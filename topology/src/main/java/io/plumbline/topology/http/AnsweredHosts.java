package io.plumbline.topology.http;

import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.HostPort;
import org.jspecify.annotations.Nullable;

/**
 * The names under which the server may be asked for.
 *
 * <p>A page of another site can have its name point to the loopback address (DNS rebinding), and a browser then lets it
 * read what is served there. The {@code Host} header tells: it holds the name that page was loaded under. On a loopback
 * address only its own names are answered and those somebody wrote down; on another address any name is, unless names
 * were written down. A number is no name: nobody points one elsewhere, and a scrape asks for a pod by its own.
 */
final class AnsweredHosts {

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*");

    private final boolean any;
    private final Set<String> names = new TreeSet<>();

    private AnsweredHosts(boolean any) {
        this.any = any;
    }

    /** @param hosts names to answer to besides those of the address; empty where nothing was said */
    static AnsweredHosts of(InetAddress address, String bind, List<String> hosts) {
        AnsweredHosts answered = new AnsweredHosts(hosts.isEmpty() && !address.isLoopbackAddress());
        answered.names.add("localhost");
        answered.names.add(normal(bind));
        hosts.forEach(host -> answered.names.add(normal(host)));
        return answered;
    }

    /** Returns a sentence where this request is not answered, or null. */
    @Nullable
    String refusal(Request request) {
        String authority = request.getHttpURI().getAuthority();
        if (any || authority == null || authority.isEmpty()) {
            return null;
        }
        String host;
        try {
            host = normal(new HostPort(authority).getHost());
        } catch (IllegalArgumentException notAHost) {
            return "the Host header names no host";
        }
        return names.contains(host) || NUMBER.matcher(host).matches()
                ? null
                : "this address is not asked for under the name in the Host header; if a proxy does, name it under"
                        + " http.hosts";
    }

    private static String normal(@Nullable String host) {
        String name = host == null ? "" : host.toLowerCase(Locale.ROOT);
        return name.startsWith("[") && name.endsWith("]") ? name.substring(1, name.length() - 1) : name;
    }
}
