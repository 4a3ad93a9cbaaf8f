package io.plumbline.topology.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http.UriCompliance.Violation;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;

/**
 * Listens on one port with threads and connections of its own.
 *
 * <p>A request that is not whole yet holds a connection and no thread. A connection on which nothing moves for ten
 * seconds is closed, so is one whose headers are larger than 16 KiB, and {@value #CONNECTIONS} are open at most. What a
 * client sends as a body is not read. Threads are daemons.
 */
final class HttpListener implements AutoCloseable {

    private static final int CONNECTIONS = 256;
    private static final int LARGEST_HEADERS = 16 * 1024;
    private static final long IDLE_MS = TimeUnit.SECONDS.toMillis(10);

    /** The characters that names of sites may bring into a path; none is looked up as a file. */
    private static final UriCompliance PATHS = UriCompliance.from(Set.of(
            Violation.AMBIGUOUS_PATH_SEGMENT,
            Violation.AMBIGUOUS_PATH_SEPARATOR,
            Violation.AMBIGUOUS_PATH_PARAMETER,
            Violation.AMBIGUOUS_PATH_ENCODING,
            Violation.AMBIGUOUS_EMPTY_SEGMENT,
            Violation.SUSPICIOUS_PATH_CHARACTERS));

    private final Server server;
    private final ServerConnector connector;

    private HttpListener(Server server, ServerConnector connector) {
        this.server = server;
        this.connector = connector;
    }

    /**
     * Starts to listen.
     *
     * @param name of the threads
     * @param threads at most; two of them wait for connections and requests
     * @throws IOException when the address cannot be bound
     */
    static HttpListener start(
            String name, int threads, InetSocketAddress address, @Nullable ServerTls tls, Handler handler)
            throws IOException {
        QueuedThreadPool pool = new QueuedThreadPool(threads, Math.min(threads, 4));
        pool.setName(name);
        pool.setDaemon(true);
        pool.setReservedThreads(0);
        Server server = new Server(pool);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(LARGEST_HEADERS);
        http.setUriCompliance(PATHS);
        HttpConnectionFactory plain = new HttpConnectionFactory(http);
        ServerConnector connector;
        if (tls == null) {
            connector = new ServerConnector(server, 1, 1, plain);
        } else {
            // The certificate may be for a name under which a proxy or an address is not asked for.
            http.addCustomizer(new SecureRequestCustomizer(false));
            connector = new ServerConnector(
                    server, 1, 1, new SslConnectionFactory(tls.contextFactory(), plain.getProtocol()), plain);
        }
        connector.setHost(address.getAddress().getHostAddress());
        connector.setPort(address.getPort());
        connector.setIdleTimeout(IDLE_MS);
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(CONNECTIONS, connector));
        server.setErrorHandler(HttpListener::refuse);
        server.setHandler(handler);
        try {
            server.start();
        } catch (IOException e) {
            stop(server);
            throw e;
        } catch (Exception e) {
            stop(server);
            throw new IOException(e.getMessage(), e);
        }
        return new HttpListener(server, connector);
    }

    /** Answers a request that the server itself refuses with a line, and nothing of what was sent. */
    private static boolean refuse(Request request, Response response, Callback callback) {
        int status = response.getStatus();
        WebAnswer.text(status, HttpStatus.getMessage(status)).send(response, callback);
        return true;
    }

    InetSocketAddress address() {
        return new InetSocketAddress(connector.getHost(), connector.getLocalPort());
    }

    @Override
    public void close() {
        stop(server);
    }

    private static void stop(Server server) {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("an HTTP port could not be closed", e);
        }
    }
}
